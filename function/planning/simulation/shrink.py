"""Shrinks a sequence of steps that breaks an invariant: delta debugging (Zeller and Hildebrandt, ddmin).

Chunks of steps are left out, at first large ones, and then smaller ones down to single steps. What breaks the same
invariant without them is kept. How much is tried is bounded by the number of steps that are played, not by a clock, so
the result is the same each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from function.planning.simulation.invariants import Violation
from function.planning.simulation.play import play
from function.planning.simulation.start import Start
from function.planning.simulation.steps import Step

MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The shortest sequence that was found."""

    steps: tuple[Step, ...]
    violation: Violation
    """What it breaks: the same invariant, perhaps at another object."""
    is_minimal: bool
    """Whether every single step is needed. Otherwise the search ended before."""


@dataclass(slots=True)
class _Search:
    start: Start
    best: Shrunk
    left: int
    """Steps that may still be played."""
    progress: Callable[[int], None]

    def run(self) -> Shrunk:
        size = max(1, len(self.best.steps) // 2)
        while self.left > 0:
            is_shorter = self._without_chunks(size)
            if size == 1 and not is_shorter:
                return Shrunk(self.best.steps, self.best.violation, is_minimal=self.left > 0)
            size = max(1, min(size if is_shorter else size // 2, len(self.best.steps) // 2))
        return self.best

    def _without_chunks(self, size: int) -> bool:
        """Try to leave out each chunk of a size, from the last one. Returns whether any could be left out."""
        before = len(self.best.steps)
        for at in range((before - 1) // size * size, -1, -size):
            steps = self.best.steps
            self._try((*steps[:at], *steps[at + size :]))
        return len(self.best.steps) < before

    def _try(self, steps: Sequence[Step]) -> None:
        if self.left <= 0:
            return
        played = play(self.start, steps, lambda _: self.progress(len(self.best.steps)))
        self.left -= len(played.steps)
        if played.violation and played.violation.invariant is self.best.violation.invariant:
            self.best = Shrunk(tuple(played.steps), played.violation, is_minimal=False)


def shrink(
    start: Start,
    steps: Sequence[Step],
    violation: Violation,
    *,
    most: int = MOST_STEPS,
    progress: Callable[[int], None] = lambda _count: None,
) -> Shrunk:
    """Find a short sequence that breaks the same invariant.

    Args:
        start: The fleet.
        steps: The sequence, whose last step breaks it.
        violation: What is broken.
        most: Steps to play at most.
        progress: Called for each step that is played, with the length of the shortest sequence so far.
    """
    return _Search(start, Shrunk(tuple(steps), violation, is_minimal=False), most, progress).run()
