"""A cache that is bounded by weight: bounded by the number of entries, it could fill the memory with long texts."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Evicts the least recently used entries. Safe to use from several threads."""

    def __init__(self, capacity: int, name: str = "") -> None:
        self.name = name
        """What the values are, for metrics."""
        self._capacity = capacity
        self._values: dict[K, tuple[V, int]] = {}
        self._weight = 0
        self._lock = Lock()
        self.hits = 0
        """Number of values that were found."""
        self.insertions = 0
        """Number of values that were put in."""

    def get(self, key: K) -> V | None:
        """The value of a key, or None; it becomes the most recently used."""
        with self._lock:
            found = self._values.pop(key, None)
            if found is None:
                return None
            self._values[key] = found
            self.hits += 1
            return found[0]

    def put(self, key: K, value: V, weight: int) -> None:
        """Add or replace a value. One that is heavier than the capacity is kept alone, until the next comes."""
        with self._lock:
            self.insertions += 1
            self._weight += weight - self._values.pop(key, (value, 0))[1]
            while self._values and self._weight > self._capacity:
                self._weight -= self._values.pop(next(iter(self._values)))[1]
            self._values[key] = value, weight

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._values.clear()
            self._weight = 0

    def __len__(self) -> int:
        return len(self._values)
