"""A composer is one XR kind: what it reads, how it decides, what it says. Here it is held to the laws."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from function.core import pace
from function.core.condition import Condition, ConditionType, Reason
from function.core.hold import restate
from function.core.manifest import Manifest, is_ready, plain, stands
from function.core.request import Request, Requirement
from function.core.result import ComposedResource, Result, legible


class _Undecided(Exception):
    """Nothing may change on this pass; the condition says why."""

    def __init__(self, condition: Condition) -> None:
        super().__init__(condition.message)
        self.condition = condition


class NotYet(_Undecided):
    """An input of the decision is not there: not answered, not found, or not ready."""


class InvalidSpec(_Undecided):
    """The user asked for what can't be. The condition names field, value and what would be accepted."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a composer says when nothing could be decided: every declared condition, and whether the XR is ready."""

    conditions: tuple[Condition, ...]
    ready: bool | None = None
    """None restates what the XR's Ready condition last said."""
    decided: Mapping[str, ComposedResource | None] = field(default_factory=dict)
    """Resources that need no sound spec to be decided on, by key: who protects others must do so now, and let go in
    time. None lets one go."""


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
    held: Callable[[Request, Condition], Held]
    """What to say when nothing could be decided and the given condition says why."""

    def __call__(self, request: Request) -> Result:
        try:
            return self._lawful(request, self.compose(request))
        except _Undecided as why:
            return self.hold(request, why.condition)

    def hold(self, request: Request, why: Condition) -> Result:
        """All that was observed, desired again, and the status as it stands: silence would delete both."""
        return self._lawful(request, hold(request, self.held(request, why)))

    def _lawful(self, request: Request, result: Result) -> Result:
        said = sorted(c.type for c in result.conditions)
        declared = sorted(c.type for c in self.conditions)
        if said != declared:
            raise AssertionError(f"{self.kind} declares {declared} but said {said}: silence goes stale")
        unseen = sorted(key for key, r in result.resources.items() if r.ready and key not in request.observed)
        if unseen:
            raise AssertionError(f"{self.kind} calls {unseen} ready before they were observed")
        return replace(
            legible(result), requirements=self.requirements(request.xr), ttl=pace.ttl(request, waiting=result.waiting)
        )


def hold(request: Request, held: Held, without: Collection[str] = ()) -> Result:
    """All that was observed, desired again, and the status as it stands; only the keys in `without` are let go."""
    free = {*without, *held.decided}
    restated = {k: ComposedResource(restate(m), is_ready(m)) for k, m in request.observed.items() if k not in free}
    return Result(
        ready=stands(request.xr, "Ready") if held.ready is None else held.ready,
        conditions=held.conditions,
        resources=restated | {key: resource for key, resource in held.decided.items() if resource is not None},
        status={k: plain(v) for k, v in (request.xr.get("status") or {}).items() if k != "conditions"},
        waiting=True,
    )
