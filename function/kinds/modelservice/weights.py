"""Weights of a service's backends: whole numbers that keep the ratio of its entries."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm

LARGEST = 1_000_000
"""Largest weight of a backendRef (gateway-api v1.6)."""
_FINE = 10
"""Parts per endpoint above which a difference of one part no longer matters."""


def shares(entries: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the weight of every endpoint, by entry.

    `entries` has the weight of each entry and the number of endpoints that share it, at least one. The endpoints of an
    entry differ by at most one part, and not at all if its weight has few parts for each. No weight is less than 1, and
    all together have no common divisor. The ratio of the entries is exact unless a weight would exceed LARGEST.
    """
    scale = lcm(*(count // gcd(weight, count) for weight, count in entries if weight < _FINE * count))
    split = [_split(weight * scale, count) for weight, count in entries]
    return _bounded(_reduced(split))


def _split(weight: int, count: int) -> list[int]:
    part, left = divmod(weight, count)
    return [part + (i < left) for i in range(count)]


def _reduced(split: list[list[int]]) -> list[list[int]]:
    common = gcd(*(weight for entry in split for weight in entry)) or 1
    return [[weight // common for weight in entry] for entry in split]


def _bounded(split: list[list[int]]) -> list[list[int]]:
    largest = max((weight for entry in split for weight in entry), default=0)
    if largest <= LARGEST:
        return split
    return _reduced([[max(1, weight * LARGEST // largest) for weight in entry] for entry in split])
