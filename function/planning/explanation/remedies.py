"""Finds the changes that place one more replica of a deployment, by trying each on a copy of the fleet.

Terms:

- A *step* is one action of a user (`steps.py`). A *trial* applies steps to a copy of a fleet that has converged, and
  lets the copy converge.
- A trial *helps* if the deployment has one more replica than before that serves, and no replica of another deployment
  that served is gone.
- The *focus* is the cluster whose rejection the steps remove.

Phases of `remedies`, for clusters that reject for the same reason:

1. Take the steps that remove the cause, or else those that the scheduler proposes for the focus, and try each alone.
2. If none helps, keep the first one that made the focus reject for another reason, and go on from there. What helps in
   the end helps only together. A step that turns out to be needless is dropped again.

Deliberately coarse: at most MOST_TOGETHER steps, and a limit on all trials of a fleet. It counts what the trials
reconcile, so that the same fleet always gets the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from function.planning.explanation.states import State
from function.planning.explanation.steps import Step
from function.sandbox.errors import DidNotConverge, Refused
from function.scheduling import AddNodes

MOST_TOGETHER = 4
MOST_TRIALS = 24
"""Trials for one deployment."""
MOST_CALLS = 1_500
"""Calls of the function in all of them. No trial starts after that."""
_LIMIT = "the limit of trials was reached"


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes that place one more replica together, or that might."""

    changes: tuple[str, ...]
    tried: bool
    helps: bool
    why: str = ""
    """Why it was not tried, or what it does not do; where it places the replica, if that is another cluster."""

    @property
    def is_beyond_limit(self) -> bool:
        """Whether it was not tried because of the limit alone."""
        return self.why == _LIMIT


@dataclass(frozen=True, slots=True)
class _Trial:
    """A state after steps."""

    steps: tuple[Step, ...]
    state: State
    where: tuple[str, ...]
    """The clusters that got a replica which serves. Empty if it does not help."""
    why: str
    """Why it does not help."""


@dataclass(slots=True)
class Trials:
    """Tries changes for one deployment, within a limit."""

    base: State
    trials: int = 0
    calls: int = 0
    untried: int = 0
    """Changes that were not tried because of the limit."""
    _known: dict[tuple[tuple[str, str], ...], _Trial | None] = field(default_factory=dict)

    def remedies(self, clusters: Sequence[str]) -> tuple[Remedy, ...]:
        """What helps where some clusters reject for the same reason; else what may, and what does not."""
        state: State = self.base
        done: tuple[Step, ...] = ()
        others: list[Remedy] = []
        while (focus := _nearest(state, clusters)) and len(done) < MOST_TOGETHER:
            steps = _steps(state, focus)
            others += [_untried((*done, step), step.untried) for step in steps if step.untried]
            tried = [self._next(state, done, step, others) for step in steps if not step.untried]
            found = [trial for trial in tried if trial is not None]
            if helping := [trial for trial in found if trial.where]:
                return (*(self._remedy(trial, clusters) for trial in helping), *others)
            others += [_vain(trial) for trial in found if trial.why]
            onward = next((trial for trial in found if _moves_on(state, trial.state, focus)), None)
            if onward is None:
                break
            state, done = onward.state, onward.steps
            clusters = [focus]
        return tuple(dict.fromkeys(others))

    def _next(self, state: State, done: tuple[Step, ...], step: Step, others: list[Remedy]) -> _Trial | None:
        """Try a step after others; None if it is refused, or the limit is reached."""
        steps = _extended(done, step, state)
        key = tuple((one.words, one.on) for one in steps)
        if key not in self._known and self._is_exhausted:
            self.untried += 1
            others.append(_untried(steps, _LIMIT))
            return None
        return self._trial(steps, key, state if steps[:-1] == done else self.base)

    @property
    def _is_exhausted(self) -> bool:
        return self.trials >= MOST_TRIALS or self.calls >= MOST_CALLS

    def _trial(self, steps: tuple[Step, ...], key: tuple[tuple[str, str], ...], state: State) -> _Trial | None:
        if key not in self._known:
            self._known[key] = self._tried(steps, state)
        return self._known[key]

    def _tried(self, steps: tuple[Step, ...], state: State) -> _Trial | None:
        self.trials += 1
        control = state.control.copied()
        before = control.loop.counts.calls.total()
        try:
            for step in steps if state is self.base else steps[-1:]:
                for ref, edit in step.edits:
                    control.store.update(ref, edit)
            control.loop.settle()
        except (Refused, DidNotConverge):
            return None
        finally:
            self.calls += control.loop.counts.calls.total() - before
        return self._judged(steps, State(control, state.deployment))

    def _judged(self, steps: tuple[Step, ...], after: State) -> _Trial:
        base = self.base
        new = {name: found for name, found in after.replicas.items() if name not in base.replicas}
        where = tuple(sorted({cluster for cluster, serves in new.values() if serves}))
        lost = sorted({owner for name, owner in base.others.items() if name not in after.others})
        took = sorted({owner for name, owner in after.others.items() if name not in base.others})
        if _serving(after) <= _serving(base) or lost:
            silent = [name for name, (_, serves) in new.items() if not serves]
            why = f"{lost[0]} would lose a replica" if lost else f"{took[0]} gets the room first" if took else ""
            return _Trial(steps, after, (), why or (f"replica {silent[0]} would not serve" if silent else ""))
        return _Trial(steps, after, where, "")

    def _remedy(self, trial: _Trial, clusters: Sequence[str]) -> Remedy:
        smallest = self._smallest(trial)
        elsewhere = "" if {*smallest.where} & {*clusters} else f"it places a replica on {', '.join(smallest.where)}"
        return Remedy(_words(smallest.steps), tried=True, helps=True, why=elsewhere)

    def _smallest(self, trial: _Trial) -> _Trial:
        """The trial without the steps that are needless. The first step alone did not help."""
        for step in trial.steps[:-1]:
            fewer = tuple(one for one in trial.steps if one is not step)
            key = tuple((one.words, one.on) for one in fewer)
            without = None if self._is_exhausted else self._trial(fewer, key, self.base)
            if without is not None and without.where:
                return self._smallest(without)
        return trial


def _serving(state: State) -> int:
    return sum(serves for _, serves in state.replicas.values())


def _nearest(state: State, clusters: Sequence[str]) -> str | None:
    """The cluster that nearly took the replica, of some that reject."""
    rejections = state.rejections
    there = [rejections[name] for name in clusters if name in rejections]
    return min(there, key=lambda one: (one.rank, one.name)).name if there else None


def _steps(state: State, focus: str) -> tuple[Step, ...]:
    """The steps that remove the cause of a rejection, or the reason. What the deployment has wrong comes first: before
    it is right, nothing else helps."""
    causes = [cause for cause in state.causes if focus in cause.clusters]
    fixes = tuple(cause.fix for cause in causes if cause.fix)
    if any(cause.is_shared for cause in causes):
        return fixes
    return (*fixes, *(state.steps.of(change, focus) for change in state.rejections[focus].proposals))


def _moves_on(before: State, after: State, focus: str) -> bool:
    """Whether a cluster rejects for another reason than before."""
    old, new = before.rejections[focus], after.rejections.get(focus)
    return new is not None and ((old.reason, old.message) != (new.reason, new.message) or before.causes != after.causes)


def _extended(done: tuple[Step, ...], step: Step, state: State) -> tuple[Step, ...]:
    """Steps with one more. More nodes for a pool that already gets some are one step."""
    more = step.change
    for one in done:
        before = one.change if one.on == step.on else None
        if isinstance(more, AddNodes) and isinstance(before, AddNodes) and before.pool == more.pool:
            total = AddNodes(more.pool, before.nodes + more.nodes)
            return (*(other for other in done if other is not one), state.steps.of(total, step.on))
    return (*done, step)


def _words(steps: Sequence[Step]) -> tuple[str, ...]:
    return tuple(step.words for step in steps)


def _untried(steps: Sequence[Step], why: str) -> Remedy:
    return Remedy(_words(steps), tried=False, helps=False, why=why)


def _vain(trial: _Trial) -> Remedy:
    return Remedy(_words(trial.steps), tried=True, helps=False, why=trial.why)


def grouped(state: State) -> Iterator[tuple[str, ...]]:
    """The clusters that reject, each with all others that one remedy would serve: the nearest first."""
    groups: dict[tuple[object, ...], list[str]] = {}
    caused = [cause.clusters for cause in state.causes if cause.is_shared]
    ranked = sorted(state.rejections.values(), key=lambda one: (one.rank, one.name))
    for one in sorted(ranked, key=lambda one: not any(one.name in there for there in caused)):
        cause = next((index for index, there in enumerate(caused) if one.name in there), None)
        own = (cause,) if cause is not None else (one.reason, one.message, one.proposals)
        groups.setdefault(own, []).append(one.name)
    yield from map(tuple, groups.values())
