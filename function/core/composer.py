"""A composer is one XR kind: what it reads, how it decides, what it says. Here it is held to the laws.

A composer that cannot decide holds: it desires all that is observed again, and says again what it last said. Three
rules keep a hold, and a refused edit above all, from changing what runs:

1. A refusal is said on one condition of the kind, the one that `Composer.invalid` belongs to. The XR is not Ready while
   its spec is refused, so that whoever waits for a change on Ready waits.
2. The other conditions are restated as they were last said, or are Unknown where they never were said. A kind may say
   more only where it knows from what it observes.
3. What other composers decide by is published as a field of the status, such as `status.serving`, never as Ready or as
   a condition. A hold restates these fields. Crossplane keeps them too when it fails to compose an XR, where it sets
   every condition but its own to Unknown. Ready is read only to learn that a change is carried out, as by a rollout.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from function.core import doubt, ttl
from function.core.condition import Condition, ConditionType, Reason, restated
from function.core.hold import restate
from function.core.manifest import Manifest, is_ready, plain
from function.core.request import Request, Requirement
from function.core.result import ComposedResource, Result, legible

Decided = Mapping[str, ComposedResource | None]
"""Composed resources that can be decided on though the rest cannot, by key. None lets one go."""


class _Undecided(Exception):
    """Nothing may change on this pass; the condition says why."""

    def __init__(self, condition: Condition, *, decided: Decided | None = None) -> None:
        super().__init__(condition.message)
        self.condition = condition
        self.decided = decided or {}


class NotYet(_Undecided):
    """An input of the decision is not there: not answered, not found, or not ready."""


class InvalidSpec(_Undecided):
    """The user asked for what can't be. The condition names field, value and what would be accepted."""


@dataclass(frozen=True, slots=True)
class HoldDecision:
    """What a kind knows though nothing could be decided. All that it leaves out is restated as it was last said."""

    conditions: tuple[Condition, ...] = ()
    """Computed from what is observed."""
    ready: bool = True
    """False where what is observed shows that the XR is not ready, whatever was last said."""
    status: Manifest = field(default_factory=dict)
    """Top-level fields of the status that are computed from what is observed."""
    decided: Decided = field(default_factory=dict)
    """Resources that need no sound spec: what protects others must be there in time, and let go in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """How one kind is composed. Call it to answer a request: it holds where nothing can be decided."""

    api_version: str
    kind: str
    conditions: tuple[ConditionType, ...]
    invalid: Reason
    """InvalidSpec of this kind, with the facts `field` and `problem`."""
    requirements: Callable[[Manifest], tuple[Requirement, ...]]
    """What it reads. It sees the XR alone, so that no answer can change the question."""
    compose: Callable[[Request], Result]
    """The decision, carried out. Raises NotYet or InvalidSpec where none can be made."""
    held: Callable[[Request], HoldDecision] = lambda _: HoldDecision()
    """What is known from observation alone when nothing could be decided."""

    def __call__(self, request: Request) -> Result:
        try:
            return self._lawful(request, self.compose(request))
        except NotYet as why:
            return self._hold(request, why.condition, why.decided, is_refused=False)
        except InvalidSpec as why:
            return self._hold(request, why.condition, why.decided, is_refused=True)

    def hold(self, request: Request, why: Condition, decided: Decided | None = None) -> Result:
        """The answer where what the spec asks for is refused, and the given condition says why."""
        return self._hold(request, why, decided or {}, is_refused=True)

    def _hold(self, request: Request, why: Condition, decided: Decided, *, is_refused: bool) -> Result:
        """All that was observed, desired again, and the status as it was: silence would delete both."""
        held = self.held(request)
        decided = {**held.decided, **decided}
        known = {c.type: c for c in (*held.conditions, why)}
        is_sound = held.ready and all(c.status == "True" for c in held.conditions)
        return self._lawful(
            request,
            Result(
                ready=not is_refused and is_sound and is_ready(request.xr),
                conditions=tuple(known.get(t.type) or restated(request.xr, t, why) for t in self.conditions),
                resources=_again(request, decided) | {key: r for key, r in decided.items() if r is not None},
                status={**_last_status(request.xr), **held.status},
                waiting=True,
            ),
        )

    def _lawful(self, request: Request, result: Result) -> Result:
        said = sorted(c.type for c in result.conditions)
        declared = sorted(c.type for c in self.conditions)
        if said != declared:
            raise AssertionError(f"{self.kind} declares {declared} but said {said}: silence goes stale")
        unseen = sorted(key for key, r in result.resources.items() if r.ready and key not in request.observed)
        if unseen:
            raise AssertionError(f"{self.kind} calls {unseen} ready before they were observed")
        return replace(
            legible(result), requirements=self.requirements(request.xr), ttl=ttl.ttl(request, waiting=result.waiting)
        )


def _again(request: Request, without: Collection[str]) -> dict[str, ComposedResource]:
    """What is observed, desired again. A doubt of an earlier pass is over."""
    return {
        key: ComposedResource(doubt.without_note(restate(manifest)), is_ready(manifest))
        for key, manifest in request.observed.items()
        if key not in without
    }


def _last_status(xr: Manifest) -> dict[str, Any]:
    return {key: plain(value) for key, value in (xr.get("status") or {}).items() if key != "conditions"}
