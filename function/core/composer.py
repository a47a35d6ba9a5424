"""A Composer answers for one kind of XR: what it reads, how it decides, and which conditions it reports.

This module enforces the rules that all composers share. A composer that cannot decide holds: it desires every observed
resource again and repeats its last conditions and status. Three rules keep a hold, and a refused edit above all, from
changing what runs:

1. A refusal appears on exactly one condition of the kind, the one that `Composer.invalid` belongs to. The XR is not
   Ready while its spec is refused, so a client that waits for Ready keeps waiting. Nor is it while an input is known to
   be missing (`errors.Missing`). While an answer is awaited or doubted, Ready is repeated.
2. The other conditions repeat their last values, or are Unknown if they never had one. A kind may report more only from
   what it observes. An optional condition is repeated only if the XR has it.
3. What other composers decide by is published as a field of the status, such as `status.serving`, never as Ready or as
   a condition. A hold repeats these fields. Crossplane keeps them too when it fails to compose an XR, although it then
   sets every condition but its own to Unknown. Ready is read only to learn that a change has been carried out, for
   example by a rollout.

Every pass also reports why the XR is not as its spec asks (summary.py), and what has changed since the last pass
(transitions.py).

Stages. What a composer requires may depend on what was answered, so that a reconcile reads only what its decision
stands on. Crossplane calls again with the answers until two calls in a row require the same, six times at most. Four
rules make that end, and make it end alike whatever was answered before:

1. Each stage is derived from the XR, what is observed and the answers of the stages before it, and from nothing else:
   answers that an earlier reconcile left are ignored until the stage that requires them.
2. A stage requires all that the stages before it require, and something more. If it leaves something out that it was
   derived from, its requirements must be named after the state for which they were chosen.
3. While a stage is not answered, the composer raises NotYet and says what it waits for: it holds.
4. There are five stages at most, so that a sixth call can find that nothing more is required.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from function.core import doubt, known_secrets, transitions, ttl
from function.core.condition import Condition, ConditionType, Reason, restated
from function.core.errors import InvalidSpec, Missing, NotYet, Undecided
from function.core.hold import restate
from function.core.manifest import Manifest, condition, dig_fields, is_ready, plain
from function.core.request import Request, Requirement
from function.core.result import ComposedResource, Decided, Result, legible
from function.core.summary import with_summary


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
    optional: tuple[ConditionType, ...] = ()
    """Conditions that inform, and decide nothing. One is reported for the first time when it is needed, and on every
    pass from then on: Crossplane would keep its last value otherwise."""
    invalid: Reason
    """The kind's reason for an InvalidSpec. Its template takes the facts `field` and `problem`."""
    requirements: Callable[[Request], tuple[Requirement, ...]]
    """Return what the composer reads whatever it decides. It may depend on what was answered (see Stages)."""
    compose: Callable[[Request], Result]
    """Decide, and return the whole desired state. Raises NotYet or InvalidSpec if no decision is possible.

    `Result.requirements` and `Undecided.asks` have what this decision reads besides `requirements`.
    """
    held: Callable[[Request], HoldDecision] = lambda _: HoldDecision()
    """Return what observation alone shows, for a pass that decides nothing."""
    addresses: tuple[transitions.Path, ...] = ()
    """Fields of the status with an address that clients use. Another one is told in an event."""

    def __call__(self, request: Request) -> Result:
        """Return the answer to a request. What an API server would not look for is answered here: there is none."""
        with known_secrets.of(request):
            result = self._answer(request)
            while not (impossible := _impossible(result)) <= request.required.keys():
                found = dict.fromkeys(sorted(impossible - request.required.keys()), ())
                request = replace(request, required={**request.required, **found})
                result = self._answer(request)
        possible = tuple(r for r in result.requirements if r.name not in impossible)
        return replace(result, requirements=possible) if impossible else result

    def _answer(self, request: Request) -> Result:
        try:
            return self._lawful(request, self.compose(request))
        except NotYet as why:
            return self._hold(request, why, is_refused=False)
        except InvalidSpec as why:
            return self._hold(request, why, is_refused=True)

    def hold(self, request: Request, why: InvalidSpec) -> Result:
        """Return the answer to a refused spec: hold, and give the reason on its condition."""
        return self._hold(request, why, is_refused=True)

    def _hold(self, request: Request, undecided: Undecided, *, is_refused: bool) -> Result:
        """Desire everything observed again and repeat the status: Crossplane deletes what a response leaves out."""
        why, decided = undecided.condition, undecided.decided
        held = self.held(request)
        decided = {**held.decided, **decided}
        known = {c.type: c for c in (*held.conditions, why)}
        informing = {t.type for t in self.optional}
        is_true = all(c.status == "True" for c in held.conditions if c.type not in informing)
        is_sound = held.ready and is_true and not isinstance(undecided, Missing)
        return self._lawful(
            request,
            Result(
                ready=not is_refused and is_sound and is_ready(request.xr),
                conditions=tuple(
                    known.get(t.type) or restated(request.xr, t, why) for t in self._reported(request, known)
                ),
                resources=_again(request, decided) | {key: r for key, r in decided.items() if r is not None},
                status={**_last_status(request.xr), **held.status},
                waiting=True,
                held=why,
                is_refused=is_refused,
                requirements=undecided.asks,
            ),
        )

    def _lawful(self, request: Request, result: Result) -> Result:
        reported = sorted(c.type for c in result.conditions)
        declared = sorted(t.type for t in self._reported(request, reported))
        if reported != declared:
            raise AssertionError(f"{self.kind} declares {declared} but reported {reported}: the rest would go stale")
        unseen = sorted(key for key, r in result.resources.items() if r.ready and key not in request.observed)
        if unseen:
            raise AssertionError(f"{self.kind} reports {unseen} ready before they were observed")
        asked = _together((*self.requirements(request), *result.requirements))
        told = self._told(request, legible(result))
        return replace(told, requirements=asked, ttl=ttl.ttl(request, waiting=result.waiting))

    def _told(self, request: Request, result: Result) -> Result:
        """Add what `kubectl get` shows beside Ready, and the events of what has changed."""
        status = with_summary(result, self.conditions, self.optional)
        changed = transitions.events(request, result, (*self.conditions, *self.optional), self.invalid)
        moved = transitions.moved_addresses(request.xr, status, self.addresses)
        told = transitions.gathered((*result.events, *changed, *moved))
        return replace(result, status=status, events=told, quiet=True)

    def _reported(self, request: Request, known: Container[str]) -> tuple[ConditionType, ...]:
        """Return the conditions that a result reports: of the optional ones, those that are known or on the XR."""
        optional = (t for t in self.optional if t.type in known or condition(request.xr, t.type) is not None)
        return (*self.conditions, *optional)


def _together(asked: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """Return requirements without repetitions. Each needs a name of its own: Crossplane gives one answer for a name."""
    by_name: dict[str, Requirement] = {}
    for requirement in asked:
        if by_name.setdefault(requirement.name, requirement) != requirement:
            raise AssertionError(f"requirement {requirement.name} is asked in two ways")
    return tuple(by_name.values())


def _again(request: Request, without: Collection[str]) -> dict[str, ComposedResource]:
    """Desire what is observed again, without the note of an earlier doubt."""
    return {
        key: ComposedResource(doubt.without_note(restate(manifest)), is_ready(manifest))
        for key, manifest in request.observed.items()
        if key not in without
    }


def _last_status(xr: Manifest) -> dict[str, Any]:
    return {key: plain(value) for key, value in dig_fields(xr, "status").items() if key != "conditions"}


def _impossible(result: Result) -> set[str]:
    """Return the names of the requirements that no API server looks for."""
    return {r.name for r in result.requirements if not r.is_possible}
