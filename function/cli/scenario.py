"""A course of edits on a fleet at rest, each played to the end, and what came of it."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from function.cli import impact
from function.cli.fleet import at_work, counted
from function.cli.impact import Outlook
from function.cli.n_minus_1 import Losses
from function.planning import edits, outcome
from function.planning.edits import Drain, Edit, Lose

if TYPE_CHECKING:
    from function.core import NamespacedName
    from function.planning.control_plane import ControlPlane
    from function.planning.outcome import Outcome


def play(
    control: ControlPlane, course: Sequence[Edit], before: Outcome | None = None, *, shown: bool = True
) -> Outlook:
    """Make the edits, one after the other. `before` is what stands, where it was read already.

    Raises ClickException where an edit is refused, or the fleet never comes to rest.
    """
    before = standing = before or outcome.read(control.store)
    lost: set[str] = set()
    meanwhile: dict[NamespacedName, int] = {}
    for edit in course:
        if isinstance(edit, Lose):
            lost.add(edit.cluster)
            left = impact.answering(impact.without(standing, lost))
            meanwhile = {s: min(count, meanwhile.get(s, count)) for s, count in left.items()}
        with at_work(control, str(edit), shown=shown):
            edits.make(control, edit)
            control.world.settle()
        standing = outcome.read(control.store)
    drained = {edit.cluster for edit in course if isinstance(edit, Drain)} - lost
    named = [str(edit) for edit in course]
    return impact.compare(named, before, standing, lost=lost, drained=drained, meanwhile=meanwhile)


def lose_each(control: ControlPlane, first: Outlook | None, jobs: int = 1) -> Losses:
    """Every cluster lost in turn, each from the fleet as it stands. `first` is what was done to it before.

    With several jobs the fleet is shared by as many processes: for that a process must be able to be copied.
    """
    clusters = edits.clusters(control.store)
    losing = _Losing(control, outcome.read(control.store))
    with counted("lose", len(clusters)) as progress:
        reports = _in_parallel(losing, clusters, jobs) if jobs > 1 else map(losing, clusters)
        return Losses(first, tuple((c, progress(c, shown)) for c, shown in zip(clusters, reports, strict=True)))


def most_jobs() -> int:
    """As many as there are CPUs, where a process can be copied safely: what a fleet has become need not be sent."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


@dataclass(frozen=True, slots=True)
class _Losing:
    """Loses one cluster, from a fleet that stays as it is."""

    control: ControlPlane
    before: Outcome

    def __call__(self, cluster: str) -> Outlook:
        return play(self.control.copied(), [Lose(cluster)], self.before, shown=False)


_SHARED: list[_Losing] = []
"""In a copied process, what it was copied for."""


def _in_parallel(losing: _Losing, clusters: Sequence[str], jobs: int) -> Iterator[Outlook]:
    copying = multiprocessing.get_context("fork")
    with copying.Pool(min(jobs, len(clusters)), _SHARED.append, (losing,)) as pool:
        yield from pool.imap(_lose, clusters)


def _lose(cluster: str) -> Outlook:
    return _SHARED[-1](cluster)
