"""Chooses steps at random that make sense in the state of the world.

A *burst* is a few steps, after which the world settles: in the usual order, or in a random one. Half of the times it is
then reconciled once more, which must change nothing. From time to time all faults end, and what is gone comes back: a
fleet of which little is left breaks few invariants. All choices are drawn from one seeded source, from lists that are
sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from function.planning.simulation import deletions, edits, mishaps, steps
from function.planning.simulation.found import Maker
from function.planning.simulation.start import spelled
from function.planning.simulation.steps import Step
from function.planning.simulation.world import World

_MOST_IN_A_BURST = 12
_SELDOM = 0.15


@dataclass(slots=True)
class Generator:
    """Chooses bursts of steps, until there are enough."""

    seed: int
    most: int
    """Steps in all."""
    kinds: Sequence[str] = ()
    """The kinds of steps to choose from (`KINDS`); all if empty."""
    _made: int = 0
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)  # noqa: S311  (a simulation, not a secret)

    def __call__(self, world: World) -> list[Step]:
        """The next burst."""
        left = self.most - self._made
        wanted = self._random.randint(1, _MOST_IN_A_BURST)
        burst = [*self._burst(world, wanted), *self._end(world)][: max(0, left)]
        self._made += len(burst)
        return burst

    def _burst(self, world: World, wanted: int) -> Iterator[Step]:
        """Steps for the world as it is at the beginning. What an earlier one removes, a later one does not find."""
        makers = [maker for kind in self.kinds or KINDS for maker in KINDS[kind]]
        for _ in range(wanted):
            made = self._random.choice(makers)(world, self._random)
            if made is not None:
                yield from made if isinstance(made, tuple) else (made,)

    def _end(self, world: World) -> Iterator[Step]:
        if self._random.random() < _SELDOM:
            yield steps.Heal()
            yield from (
                steps.Restore(spelled(ref)) for ref in sorted(world.start.files) if world.store.get(ref) is None
            )
        yield steps.Settle(self._random.choice((0, self._random.randint(1, 999))))
        if self._random.random() < 0.5:  # noqa: PLR2004
            yield steps.Rest()


KINDS: Mapping[str, tuple[Maker, ...]] = {
    "edits": (
        *(
            edits.scale,
            edits.scale,
            edits.grow,
            edits.image,
            edits.place,
            edits.select,
            edits.weigh,
            edits.resize,
            edits.resize,
            edits.taint,
            edits.relabel,
            edits.reclass,
        ),
        *(deletions.restore, deletions.restore),
    ),
    "deletions": (
        *(deletions.delete, deletions.remove, deletions.recreate, deletions.wipe, deletions.lose, deletions.create),
        *(deletions.restore, deletions.restore, deletions.restore),
    ),
    "pauses": (deletions.pause,),
    "finalizers": (deletions.hold,),
    **{kind: (mishaps.fault(*titles),) for kind, titles in mishaps.FAULTS_BY_KIND.items()},
    "flapping": (mishaps.flap,),
    "order": (mishaps.reconcile, mishaps.reconcile, mishaps.reconcile, mishaps.work, mishaps.single_round),
    "stale": (mishaps.behind, mishaps.behind, mishaps.race, mishaps.mixed),
    "leaders": (mishaps.deposed, mishaps.deposed),
    "partial": (mishaps.fail, mishaps.deny),
    "empty": (mishaps.without, mishaps.without),
    "interrupts": (mishaps.interrupt, mishaps.interrupt),
    "restarts": (mishaps.restart,),
    "clocks": (mishaps.skew,),
}
"""Kinds of steps, and what makes them. One that is there twice is chosen twice as often."""
