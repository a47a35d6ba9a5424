"""A Composer answers for one kind of XR: what it reads, how it decides, and which conditions it reports.

This module enforces the rules that all composers share. A composer that cannot decide holds: it desires every observed
resource again and repeats its last conditions and status. Three rules keep a hold, and a refused edit above all, from
changing what runs:

1. A refusal appears on exactly one condition of the kind, the one that `Composer.invalid` belongs to. The XR is not
   Ready while its spec is refused, so a client that waits for Ready keeps waiting.
2. The other conditions repeat their last values, or are Unknown if they never had one. A kind may report more only from
   what it observes.
3. What other composers decide by is published as a field of the status, such as `status.serving`, never as Ready or as
   a condition. A hold repeats these fields. Crossplane keeps them too when it fails to compose an XR, although it then
   sets every condition but its own to Unknown. Ready is read only to learn that a change has been carried out, for
   example by a rollout.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from function.core import doubt, ttl
from function.core.condition import Condition, ConditionType, Reason, restated
from function.core.errors import InvalidSpec, NotYet
from function.core.hold import restate
from function.core.manifest import Manifest, is_ready, plain
from function.core.request import Request, Requirement
from function.core.result import ComposedResource, Decided, Result, legible


@dataclass(frozen=True, slots=True)
class HoldDecision:
    """What a kind knows while nothing can be decided. Anything left out is repeated from the last pass."""

    conditions: tuple[Condition, ...] = ()
    """Conditions computed from what is observed."""
    ready: bool = True
    """False if what is observed shows that the XR is not ready, whatever its last Ready condition was."""
    status: Manifest = field(default_factory=dict)
    """Top-level status fields computed from what is observed."""
    decided: Decided = field(default_factory=dict)
    """Resources that do not depend on a valid spec: guards must be created, and released, in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """How one kind is composed. Call it with a Request to get a Result; it holds if nothing can be decided."""

    api_version: str
    kind: str
    conditions: tuple[ConditionType, ...]
    invalid: Reason
    """The kind's reason for an InvalidSpec. Its template takes the facts `field` and `problem`."""
    requirements: Callable[[Manifest], tuple[Requirement, ...]]
    """Return what the composer must read. Only the XR is passed, so that no answer can change the question."""
    compose: Callable[[Request], Result]
    """Decide, and return the whole desired state. Raises NotYet or InvalidSpec if no decision is possible."""
    held: Callable[[Request], HoldDecision] = lambda _: HoldDecision()
    """Return what observation alone shows, for a pass that decides nothing."""

    def __call__(self, request: Request) -> Result:
        try:
            return self._lawful(request, self.compose(request))
        except NotYet as why:
            return self._hold(request, why.condition, why.decided, is_refused=False)
        except InvalidSpec as why:
            return self._hold(request, why.condition, why.decided, is_refused=True)

    def hold(self, request: Request, why: Condition, decided: Decided | None = None) -> Result:
        """Return the answer to a refused spec: hold, and give the reason on the condition `why`."""
        return self._hold(request, why, decided or {}, is_refused=True)

    def _hold(self, request: Request, why: Condition, decided: Decided, *, is_refused: bool) -> Result:
        """Desire everything observed again and repeat the status: Crossplane deletes what a response leaves out."""
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
        reported = sorted(c.type for c in result.conditions)
        declared = sorted(c.type for c in self.conditions)
        if reported != declared:
            raise AssertionError(f"{self.kind} declares {declared} but reported {reported}: the rest would go stale")
        unseen = sorted(key for key, r in result.resources.items() if r.ready and key not in request.observed)
        if unseen:
            raise AssertionError(f"{self.kind} reports {unseen} ready before they were observed")
        return replace(
            legible(result), requirements=self.requirements(request.xr), ttl=ttl.ttl(request, waiting=result.waiting)
        )


def _again(request: Request, without: Collection[str]) -> dict[str, ComposedResource]:
    """Desire what is observed again, without the note of an earlier doubt."""
    return {
        key: ComposedResource(doubt.without_note(restate(manifest)), is_ready(manifest))
        for key, manifest in request.observed.items()
        if key not in without
    }


def _last_status(xr: Manifest) -> dict[str, Any]:
    return {key: plain(value) for key, value in (xr.get("status") or {}).items() if key != "conditions"}
