"""Bounds on the work of one call.

Terms:

- A *unit* is the time that one unit of CEL cost takes, about a third of a microsecond.
- A *budget* bounds the units that one call spends on matching devices.
- A *step limit* bounds the steps of one search.

The two bounds end differently. A call that is out of budget decides nothing: it holds, and the next call continues from
what this one has found out (see `findings.py`). A search that reaches its limit gives up, and the answer is the
rejection `SearchLimit`: a search does not continue in another call, so each call would reach the same limit.

Phases of a budget: `spend` before a piece of work with a known price, `took` after a piece of work without one.

Both bounds are coarse. They count units and steps, and not seconds, so that the same input always gets the same answer.
The deadline of the call is only looked at between pieces of work, and every 256 steps of a search, because reading the
clock takes longer than a step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from function.core import deadline

_OFTEN = 256
"""Steps after which a search looks at the deadline of its call."""


class Exhausted(Exception):
    """The budget does not allow the next piece of work."""


@dataclass(slots=True)
class Budget:
    """The units that one call may spend, and those that it has spent."""

    most: float = math.inf
    """Units that may be spent. Without a limit by default."""
    spent: int = 0

    def spend(self, units: int) -> None:
        """Charge a piece of work before it is done.

        The first piece of work is always allowed, whatever it costs. Without that, a call could never finish a piece
        that costs more than a whole budget.

        Raises Exhausted, without charging, if fewer units are left; and deadline.Exceeded.
        """
        deadline.check()
        if self.spent and self.spent + units > self.most:
            raise Exhausted
        self.spent += units

    def took(self, units: int) -> None:
        """Charge a piece of work that is done, and whose result is kept.

        Raises Exhausted if more was spent than the budget has; and deadline.Exceeded.
        """
        self.spent += units
        deadline.check()
        if self.spent > self.most:
            raise Exhausted


@dataclass(slots=True)
class StepLimit:
    """The steps that one search may take, and those that it has taken."""

    most: int
    steps: int = 0

    @property
    def exhausted(self) -> bool:
        """Whether the search has given up."""
        return self.steps > self.most

    def step(self) -> bool:
        """Count a step, and return whether it may be taken. Raises deadline.Exceeded."""
        self.steps += 1
        if self.steps % _OFTEN == 0:
            deadline.check()
        return self.steps <= self.most

    def took(self, steps: int) -> None:
        """Count steps that a part of the search has taken by itself."""
        self.steps += steps
