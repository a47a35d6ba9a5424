"""What a cluster publishes of a pool whose nodes are shared, for clusters whose replicas are not known.

A hint tells, for some sizes, how many pods that claim so many devices fit at most (see `vacancy.py`). It only chooses
the clusters to look at, so it may be wrong. It is never less than what is true when it was published: a hint that is
too small would hide a place, and one that is too large costs a look.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from function.scheduling.sharing import Pods, States


@dataclass(frozen=True, slots=True)
class Hint:
    """The pods that fit on a shared pool, by the devices that each claims."""

    guaranteed: tuple[tuple[int, int], ...]
    """Pairs of a number of devices and the pods that claim so many and fit, sorted. Fewer devices, more pods."""
    free: int = 0
    """Devices that no replica claims."""

    @property
    def is_safe(self) -> bool:
        """Whether no more is taken than was published."""
        return all(pods >= 0 for _, pods in self.guaranteed)

    def taking(self, _: str, pods: Pods, copies: int) -> Hint | None:
        """Return what is left once copies of an engine are placed; None if they do not fit."""
        left: Hint | None = self
        for demand, count in pods:
            size = sum(n for n, _ in demand.devices)
            left = left._without(size, count * copies) if left else None
        return left

    def fitting(self, size: int) -> int:
        """Return how many pods that claim so many devices fit, at most."""
        return min((has for n, has in self.guaranteed if n <= size), default=0)

    def plus(self, states: Iterable[States]) -> Hint:
        """Return what is left once engines are placed, or nothing if they do not fit."""
        left = self
        for one in states:
            left = left.taking("", one[0], 1) or replace(left, guaranteed=tuple((n, 0) for n, _ in left.guaranteed))
        return left

    def minus(self, _: Iterable[States]) -> Hint:
        """Return the hint unchanged: replicas that are there are not among what it publishes as free."""
        return self

    def _without(self, size: int, pods: int) -> Hint | None:
        """A pod takes the place of at least one that is not larger."""
        room = [has for n, has in self.guaranteed if n <= size]
        if size and room and room[-1] < pods:
            return None
        left = tuple((n, has - pods if n <= size else has) for n, has in self.guaranteed)
        return replace(self, guaranteed=left, free=self.free - size * pods)
