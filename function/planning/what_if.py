"""What-if: plays a scenario on a fleet that has converged, and the N-1 report, which loses every cluster in turn.

Terms. A *scenario* is a sequence of edits (edits.py). To *play* it is to apply each edit, run the control loop until it
has converged, and go on with the next. An *impact* compares the outcomes before the first and after the last edit.

Phases of `play`:

1. Read the outcome, unless the caller has it.
2. For each edit: if a cluster is lost, count the endpoints that are left at that moment; apply the edit; converge.
3. Compare.

`lose_each` plays one loss for each cluster, each from the same state of the fleet, so that a loss that cannot be
repaired does not affect the next. With several jobs, the process is forked for each loss: the child loses the cluster,
tells the impact and ends, and nothing is copied that it does not touch. With one job, each loss is played on a copy,
which shares all manifests. A loss wakes those whom it concerns (control_loop.py), and the outcome is read again only as
far as it changed (reader.py).

Deliberately coarse: the fewest endpoints *meanwhile* are counted only at the moment of a loss, because then no decision
has been made yet and the count is certain. How long replicas take to move is unknown.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeAlias

from function.core import NamespacedName
from function.planning import edits, impact
from function.planning.control_plane import ControlPlane
from function.planning.edits import DrainCluster, Edit, LoseCluster
from function.planning.exit_codes import worst
from function.planning.impact import Impact, Left
from function.planning.reader import Reader

Around: TypeAlias = Callable[[ControlPlane, Edit], AbstractContextManager[None]]
"""Wraps each edit and its convergence, for example to show progress. May translate exceptions."""
Counted: TypeAlias = Callable[[str, Impact], Impact]
"""Called with each cluster and its impact as soon as it is known. Returns the impact."""


@dataclass(frozen=True, slots=True)
class NMinusOne:
    """The N-1 report."""

    first: Impact | None
    """The impact of other edits, which were played before every loss."""
    each: tuple[tuple[str, Impact], ...]
    """By cluster, the impact of losing only that one."""

    @property
    def failing(self) -> tuple[str, ...]:
        """The clusters that the others cannot replace."""
        return tuple(cluster for cluster, shown in self.each if not shown.holds)

    @property
    def holds(self) -> bool:
        """Whether the fleet survives the loss of any one cluster."""
        return not self.failing

    @property
    def exit_code(self) -> int:
        """The worst exit code of all impacts."""
        return worst({shown.exit_code for _, shown in self.each} | ({self.first.exit_code} if self.first else set()))


def play(
    control: ControlPlane,
    scenario: Sequence[Edit],
    reader: Reader | None = None,
    *,
    around: Around = lambda _control, _edit: nullcontext(),
) -> Impact:
    """Play a scenario.

    Args:
        control: A fleet that has converged. It is in its final state afterwards.
        scenario: The edits, in order. What they name exists.
        reader: A reader of its outcome, if there is one already.
        around: Wraps each edit.

    Raises:
        Refused: An edited object is refused.
        DidNotConverge: The fleet still changes after the last round.
        Unreachable: The function cannot be called.
    """
    reader = reader or Reader(control.store)
    before = current = reader.read()
    lost: set[str] = set()
    meanwhile: dict[NamespacedName, Left] = {}
    for edit in scenario:
        if isinstance(edit, LoseCluster):
            lost.add(edit.cluster)
            left = impact.left(impact.without(current, lost))
            meanwhile = {s: min(found, meanwhile.get(s, found), key=_endpoints) for s, found in left.items()}
        with around(control, edit):
            edits.apply(control, edit)
            control.loop.settle()
        current = reader.read()
    drained = {edit.cluster for edit in scenario if isinstance(edit, DrainCluster)} - lost
    named = [str(edit) for edit in scenario]
    return impact.compare(named, before, current, lost=lost, drained=drained, meanwhile=meanwhile)


def _endpoints(left: Left) -> int:
    return left.endpoints


def lose_each(
    control: ControlPlane,
    first: Impact | None,
    *,
    jobs: int = 1,
    around: Around = lambda _control, _edit: nullcontext(),
    counted: Counted = lambda _cluster, found: found,
) -> NMinusOne:
    """Lose every cluster in turn, each from the same state of the fleet.

    Args:
        control: A fleet that has converged; it stays as it is.
        first: The impact of the edits that were played on it before, for the report.
        jobs: Number of processes. More than one needs a system on which `most_jobs` is more than one.
        around: Wraps each loss.
        counted: Called with each impact, in order of the clusters.
    """
    clusters = edits.clusters(control.store)
    reader = Reader(control.store)
    reader.read()
    losing = _Losing(control, reader, around)
    impacts = _in_parallel(losing, clusters, jobs) if jobs > 1 else map(losing, clusters)
    return NMinusOne(first, tuple((c, counted(c, found)) for c, found in zip(clusters, impacts, strict=True)))


def most_jobs() -> int:
    """The number of CPUs, on systems on which a process can be forked safely: then the fleet need not be pickled. It is
    at least two, since a fork costs less than a copy."""
    return max(2, len(os.sched_getaffinity(0))) if sys.platform == "linux" else 1


@dataclass(frozen=True, slots=True)
class _Losing:
    """Loses one cluster of a fleet."""

    control: ControlPlane
    reader: Reader
    around: Around

    def __call__(self, cluster: str) -> Impact:
        """Lose a cluster on a copy."""
        copy = self.control.copied()
        return play(copy, [LoseCluster(cluster)], self.reader.copied(copy.store), around=self.around)

    def for_good(self, cluster: str) -> Impact:
        """Lose a cluster, in a process that ends afterwards."""
        return play(self.control, [LoseCluster(cluster)], self.reader, around=self.around)


_SHARED: list[_Losing] = []
"""In a forked process, what it was forked for."""


def _in_parallel(losing: _Losing, clusters: Sequence[str], jobs: int) -> Iterator[Impact]:
    forking = multiprocessing.get_context("fork")
    gc.freeze()  # else each child's collector would write to every page of the fleet, and so copy it
    try:
        with forking.Pool(min(jobs, len(clusters)), _SHARED.append, (losing,), maxtasksperchild=1) as pool:
            yield from pool.imap(_lose, clusters)
    finally:
        gc.unfreeze()


def _lose(cluster: str) -> Impact:
    return _SHARED[-1].for_good(cluster)
