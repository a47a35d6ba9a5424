"""Tries steps on a copy of a fleet that has converged, and judges what came of them.

A trial *helps* if the deployment has more replicas that serve than before, and no replica of another deployment that
served is gone. There is a limit on all trials of a deployment. It counts what they reconcile and not the time, so that
the same fleet always gets the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from function.planning.explanation.states import State
from function.planning.explanation.steps import Step
from function.sandbox.errors import DidNotConverge, Refused

MOST_TRIALS = 16
"""Trials for one deployment."""
MOST_CALLS = 800
"""Calls of the function in all of them. No trial starts after that."""
_Key: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A fleet after steps."""

    steps: tuple[Step, ...]
    state: State
    where: tuple[str, ...]
    """The clusters that got a replica which serves. Empty if it does not help."""
    why: str
    """Why it does not help."""


class BeyondLimit(Exception):
    """No more trials are made."""


@dataclass(slots=True)
class Trials:
    """The trials for one deployment."""

    base: State
    count: int = 0
    calls: int = 0
    _known: dict[_Key, Trial | None] = field(default_factory=dict)

    def tried(self, steps: tuple[Step, ...], state: State | None = None) -> Trial | None:
        """Return what came of steps; None if the fleet refuses them.

        `state` is the one after all steps but the last, if it is known. Raises BeyondLimit.
        """
        key = tuple((one.words, one.on) for one in steps)
        if key not in self._known:
            if self.count >= MOST_TRIALS or self.calls >= MOST_CALLS:
                raise BeyondLimit
            self._known[key] = self._made(steps, state)
        return self._known[key]

    def _made(self, steps: tuple[Step, ...], state: State | None) -> Trial | None:
        self.count += 1
        control = (state or self.base).control.copied()
        before = control.loop.counts.calls.total()
        try:
            for step in steps[-1:] if state else steps:
                for ref, edit in step.edits:
                    control.store.update(ref, edit)
            control.loop.settle()
        except (Refused, DidNotConverge):
            return None
        finally:
            self.calls += control.loop.counts.calls.total() - before
        after = State(control, self.base.deployment)
        why = _against(self.base, after)
        return Trial(steps, after, () if why is not None else _gained(self.base, after), why or "")


def _gained(before: State, after: State) -> tuple[str, ...]:
    """The clusters with new replicas that serve."""
    new = {name: found for name, found in after.replicas.items() if name not in before.replicas}
    return tuple(sorted({cluster for cluster, serves in new.values() if serves}))


def _against(before: State, after: State) -> str | None:
    """Why a change does not help, empty if nothing tells; None if it helps."""
    lost = sorted({owner for name, owner in before.others.items() if name not in after.others})
    if lost:
        return f"{lost[0]} would lose a replica"
    if _serving(after) > _serving(before):
        return None
    took = sorted({owner for name, owner in after.others.items() if name not in before.others})
    silent = sorted(name for name, (_, serves) in after.replicas.items() if not serves and name not in before.replicas)
    reasons: Sequence[str] = [f"{one} gets the room first" for one in took]
    return next(iter((*reasons, *(f"replica {one} would not serve" for one in silent))), "")


def _serving(state: State) -> int:
    return sum(serves for _, serves in state.replicas.values())
