"""What one call may spend on matching devices.

A deployment may ask more than one call should take: many selectors, evaluated on many devices. Running out of budget
decides nothing. The call holds, and the next one continues from what was found out (`findings`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from function.core import deadline


class Exhausted(Exception):
    """The budget does not allow the next step."""


@dataclass(slots=True)
class Budget:
    """Units of work: one is what a unit of CEL cost takes, about a third of a microsecond."""

    most: float = math.inf
    spent: int = 0

    def spend(self, units: int) -> None:
        """Before some work is done. Raises Exhausted where it is more than is left, and DeadlineExceeded.

        The first piece of work is always allowed, whatever it takes: a call that may not do a whole piece would never
        get on.
        """
        deadline.check()
        if self.spent and self.spent + units > self.most:
            raise Exhausted
        self.spent += units

    def took(self, units: int) -> None:
        """After some work is done, and its result kept. Raises as `spend` does."""
        self.spent += units
        deadline.check()
        if self.spent > self.most:
            raise Exhausted
