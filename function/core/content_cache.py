"""A cache of values derived from objects, keyed by the objects' content.

Crossplane sends the whole fleet with every call, and little of it has changed since the last one. Entries are found by
content alone, so an answer never depends on earlier calls.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from function.core import deadline
from function.core.manifest import Manifest

V = TypeVar("V")


class ContentCache(Generic[V]):
    """Derive a value from some fields of a manifest, once for each distinct content of these fields.

    `make` sees only these fields, and the cache keeps no manifest. A manifest without a `digest` method is not cached.
    The cache is safe to share between threads: two threads that ask for the same content get the same value. It is
    called for every object of a fleet, so it also checks the call's deadline. It holds at most `most` values and drops
    the least recently used one.
    """

    __slots__ = ("_fields", "_known", "_lock", "_make", "_most", "hits", "made", "name")

    def __init__(self, *fields: str, make: Callable[[Manifest], V], most: int, name: str = "") -> None:
        self.name = name
        """What the values are, for metrics."""
        self._fields = fields
        self._make = make
        self._most = most
        self._known: dict[bytes, V] = {}
        self._lock = Lock()
        self.hits = 0
        """How many values were found so far."""
        self.made = 0
        """How many values were made so far."""

    def __call__(self, manifest: Manifest) -> V:
        deadline.check()
        digest = getattr(manifest, "digest", None)
        if digest is None:
            return self._made(manifest)
        key = digest(*self._fields)
        with self._lock:
            if key in self._known:
                self.hits += 1
                return self._latest(key, self._known.pop(key))
        value = self._made(manifest)  # outside the lock: making one value may ask for another
        with self._lock:
            return self._latest(key, self._known.pop(key, value))

    def _latest(self, key: bytes, value: V) -> V:
        """Store a value as the most recently used one, and drop the least recently used one if there are too many."""
        self._known[key] = value
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return value

    def _made(self, manifest: Manifest) -> V:
        with self._lock:
            self.made += 1
        return self._make({field: manifest[field] for field in self._fields if field in manifest})

    def __len__(self) -> int:
        return len(self._known)

    def clear(self) -> None:
        with self._lock:
            self._known.clear()
