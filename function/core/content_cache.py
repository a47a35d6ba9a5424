"""What was made of the content of objects, for whoever sees the same content again.

Crossplane sends a whole fleet with each call, and hardly any of it has changed since the last. What is remembered is
known by its content alone, so that no answer depends on what was asked before.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from function.core import deadline
from function.core.manifest import Manifest

V = TypeVar("V")


class ContentCache(Generic[V]):
    """Makes a value of some fields of a manifest, once for each content that they have.

    It sees these fields alone, and keeps no manifest. Of manifests that cannot tell their content cheaply nothing is
    remembered. Threads may share it: two that ask for the same content at once get the same value. It is asked once for
    each object of a fleet, so it is also where a call notices that its deadline passed.
    """

    __slots__ = ("_fields", "_known", "_lock", "_make", "_most", "made")

    def __init__(self, *fields: str, make: Callable[[Manifest], V], most: int) -> None:
        self._fields = fields
        self._make = make
        self._most = most
        self._known: dict[bytes, V] = {}
        self._lock = Lock()
        self.made = 0
        """How often a value was made."""

    def __call__(self, manifest: Manifest) -> V:
        deadline.check()
        digest = getattr(manifest, "digest", None)
        if digest is None:
            return self._made(manifest)
        key = digest(*self._fields)
        with self._lock:
            if key in self._known:
                return self._latest(key, self._known.pop(key))
        value = self._made(manifest)  # outside of the lock: making one value may ask for another
        with self._lock:
            return self._latest(key, self._known.pop(key, value))

    def _latest(self, key: bytes, value: V) -> V:
        """Remember a value as the one that was asked for last. The first is the one that was not asked for longest."""
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
