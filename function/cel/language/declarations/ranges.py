"""Ranges of sizes and costs, in 64 bits that do not overflow.

Source: github.com/google/cel-go v0.26, checker/cost.go.
"""

from __future__ import annotations

import math
from typing import NamedTuple

MOST = 2**64 - 1


class Range(NamedTuple):
    """The smallest and the largest possible value."""

    least: int
    most: int

    def __add__(self, other: Range) -> Range:  # type: ignore[override]  # a sum of ranges, not of tuples
        if other is NOTHING:
            return self
        least, most = self[0] + other[0], self[1] + other[1]
        return Range(min(least, MOST), min(most, MOST))

    def times(self, other: Range) -> Range:
        return Range(_capped(self.least * other.least), _capped(self.most * other.most))

    def scaled(self, factor: float) -> Range:
        """Rounded up."""
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: Range) -> Range:
        return Range(min(self.least, other.least), max(self.most, other.most))


def exactly(size: int) -> Range:
    return Range(size, size)


UNKNOWN = Range(0, MOST)
NOTHING = Range(0, 0)
ONE = Range(1, 1)


def _capped(number: int) -> int:
    return min(number, MOST)


def _scaled(number: int, factor: float) -> int:
    product = float(number) * factor
    return MOST if product >= float(MOST) else math.ceil(product)
