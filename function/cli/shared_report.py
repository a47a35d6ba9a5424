"""What is left of pools whose nodes are shared, in words."""

from __future__ import annotations

from collections.abc import Sequence


def pods_that_fit(guaranteed: Sequence[tuple[int, int]]) -> str:
    """Return how many pods fit, by the devices that each claims: `0 with 8, 2 with 4`.

    `guaranteed` has pairs of a number of devices and a number of pods. It is empty if they are not known.
    """
    return ", ".join(f"{pods} with {count}" for count, pods in guaranteed) or "not known"
