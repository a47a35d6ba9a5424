"""Finds the changes that place one more replica of a deployment.

Terms:

- A *step* is one action of a user (`steps.py`). A *trial* makes steps on a copy of the fleet (`trials.py`).
- A *group* is clusters that reject for the same reason, so that one remedy serves all of them.
- The *focus* is the cluster of the group whose rejection the steps remove.

Phases of `remedies`, for a group:

1. Take the steps that remove the cause, or else those that the scheduler proposes for the focus, and try each alone.
2. If none helps, keep the first one after which the focus rejects for another reason, and go on from there. What helps
   in the end helps only together. A step that turns out to be needless is dropped again.

Deliberately coarse: at most MOST_TOGETHER steps are tried together, and only along one line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from function.kinds.modeldeployment.explain import ClusterExplanation
from function.planning.explanation.states import State
from function.planning.explanation.steps import Step
from function.planning.explanation.trials import BeyondLimit, Trial, Trials
from function.scheduling import AddNodes

MOST_TOGETHER = 4
_LIMIT = "the limit of trials was reached"


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes that place one more replica together, or that might."""

    changes: tuple[str, ...]
    tried: bool
    helps: bool
    why: str = ""
    """Why it was not tried, or why it does not help; where it places the replica, if that is a cluster elsewhere."""

    @property
    def is_beyond_limit(self) -> bool:
        """Whether it was not tried because of the limit alone."""
        return self.why == _LIMIT


def remedies(trials: Trials, group: Sequence[str]) -> tuple[Remedy, ...]:
    """Return what helps; if nothing does, what was tried last. What nobody can try comes at the end."""
    return tuple(dict.fromkeys(_Search(trials, group).found()))


@dataclass(slots=True)
class _Search:
    """The search for the remedies of one group."""

    trials: Trials
    group: Sequence[str]
    untried: list[Remedy] = field(default_factory=list)

    def found(self) -> Iterator[Remedy]:
        """Yield what helps, or else what does not, and then what was not tried."""
        tried = self._deepest()
        helping = [trial for trial in tried if trial.where]
        yield from map(self._helping, helping)
        yield from () if helping else (self._vain(trial) for trial in tried if trial.why)
        yield from self.untried

    def _deepest(self) -> list[Trial]:
        """The trials of the first round in which one helps, or else of the last one."""
        state, done = self.trials.base, tuple[Step, ...]()
        last: list[Trial] = []
        for _ in range(MOST_TOGETHER):
            focus = _nearest(state, [step.on for step in done if step.on] or self.group)
            tried = list(self._tried(state, done, focus)) if focus else []
            last = tried or last
            onward = next((trial for trial in tried if _moves_on(state, trial.state, focus)), None)
            if onward is None or any(trial.where for trial in tried):
                break
            state, done = onward.state, onward.steps
        return last

    def _tried(self, state: State, done: tuple[Step, ...], focus: str) -> Iterator[Trial]:
        """Try each step for the focus after those that are done. Note what cannot be tried."""
        for step in _steps(state, focus):
            steps = _extended(done, step, state)
            if step.untried:
                self.untried.append(self._untried(steps, step.untried))
                continue
            try:
                trial = self.trials.tried(steps, state if done and steps[:-1] == done else None)
            except BeyondLimit:
                self.untried.append(self._untried(steps, _LIMIT))
                continue
            if trial is not None:
                yield trial

    def _helping(self, trial: Trial) -> Remedy:
        smallest = self._smallest(trial)
        elsewhere = "" if {*smallest.where} & {*self.group} else f"on {', '.join(smallest.where)}"
        return Remedy(self._words(smallest.steps), tried=True, helps=True, why=elsewhere)

    def _smallest(self, trial: Trial) -> Trial:
        """The trial without the steps that are needless. Those before the last did not help alone."""
        for step in trial.steps[:-1]:
            with suppress(BeyondLimit):
                without = self.trials.tried(tuple(one for one in trial.steps if one is not step))
                if without is not None and without.where:
                    return self._smallest(without)
        return trial

    def _vain(self, trial: Trial) -> Remedy:
        return Remedy(self._words(trial.steps), tried=True, helps=False, why=trial.why)

    def _untried(self, steps: Sequence[Step], why: str) -> Remedy:
        return Remedy(self._words(steps), tried=False, helps=False, why=why)

    def _words(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """Steps in words. If the group has several clusters, with the one that a step edits."""
        named = len(self.group) > 1
        return tuple(f"{one.words} (cluster {one.on})" if one.on and named else one.words for one in steps)


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
    if fixes and any(cause.is_shared for cause in causes):
        return fixes
    return (*fixes, *(state.steps.of(change, focus) for change in state.rejections[focus].proposals))


def _moves_on(before: State, after: State, focus: str | None) -> bool:
    """Whether a cluster rejects for another reason than before."""
    old, new = (state.rejections.get(focus or "") for state in (before, after))
    if old is None or new is None:
        return False
    return (old.reason, old.message) != (new.reason, new.message) or before.causes != after.causes


def _extended(done: tuple[Step, ...], step: Step, state: State) -> tuple[Step, ...]:
    """Steps with one more. More nodes for a pool that already gets some are one step."""
    more = step.change
    for one in done:
        before = one.change if one.on == step.on else None
        if isinstance(more, AddNodes) and isinstance(before, AddNodes) and before.pool == more.pool:
            total = AddNodes(more.pool, before.nodes + more.nodes)
            return (*(other for other in done if other is not one), state.steps.of(total, step.on))
    return (*done, step)


def _own(cluster: ClusterExplanation) -> tuple[object, ...]:
    """What is equal for clusters that reject for the same reason."""
    return cluster.reason, cluster.message, cluster.proposals, tuple(pool.problems for pool in cluster.pools)


def grouped(state: State) -> list[tuple[str, ...]]:
    """Return the clusters that reject in groups.

    Those of a cause come first, then one group of each reason, so that the limit leaves out no reason as a whole.
    """
    groups: dict[tuple[object, ...], list[ClusterExplanation]] = {}
    caused = [cause.clusters for cause in state.causes if cause.is_shared]
    for one in sorted(state.rejections.values(), key=lambda one: (one.rank, one.name)):
        cause = next((index for index, there in enumerate(caused) if one.name in there), -1)
        groups.setdefault((cause, *(_own(one) if cause < 0 else ())), []).append(one)
    seen: Counter[str] = Counter()
    ranked: list[tuple[tuple[int, int, int], list[str]]] = []
    for own, group in groups.items():
        is_caused, reason = own[0] != -1, group[0].reason
        ranked.append(((not is_caused, 0 if is_caused else seen[reason], group[0].rank), [one.name for one in group]))
        seen[reason] += not is_caused
    return [tuple(names) for _, names in sorted(ranked)]
