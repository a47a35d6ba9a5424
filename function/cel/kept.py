"""Values that are remembered by key, while there is room for them."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """A cache with a bound on the sum of the weights, from which the least recently used values go first.

    It may be used by several threads.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[K, tuple[V, int]] = {}
        self._weight = 0
        self._lock = Lock()
        self.made = 0
        """How often a value was put in."""

    def get(self, key: K) -> V | None:
        with self._lock:
            found = self._values.pop(key, None)
            if found is None:
                return None
            self._values[key] = found
            return found[0]

    def put(self, key: K, value: V, weight: int) -> None:
        """A value that is heavier than all others may be together is kept alone, until the next comes."""
        with self._lock:
            self.made += 1
            self._weight += weight - self._values.pop(key, (value, 0))[1]
            while self._values and self._weight > self._most:
                self._weight -= self._values.pop(next(iter(self._values)))[1]
            self._values[key] = value, weight

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._weight = 0

    def __len__(self) -> int:
        return len(self._values)
