"""What was made of the content of objects, for whoever sees the same content again.

Crossplane sends a whole fleet with each call, and hardly any of it has changed since the last. What is remembered is
known by its content alone, so that no answer depends on what was asked before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from function.core.manifest import Manifest

V = TypeVar("V")


class ByContent(Generic[V]):
    """Makes a value of some fields of a manifest, once for each content that they have.

    It sees these fields alone, and keeps no manifest. Of manifests that cannot tell their content cheaply nothing is
    remembered.
    """

    __slots__ = ("_fields", "_known", "_make", "_most", "made")

    def __init__(self, *fields: str, make: Callable[[Manifest], V], most: int) -> None:
        self._fields = fields
        self._make = make
        self._most = most
        self._known: dict[bytes, V] = {}
        self.made = 0
        """How often a value was made."""

    def __call__(self, manifest: Manifest) -> V:
        digest = getattr(manifest, "digest", None)
        if digest is None:
            return self._made(manifest)
        key = digest(*self._fields)
        value = self._known.pop(key) if key in self._known else self._made(manifest)
        self._known[key] = value  # the last: the first is the one that was not asked for longest
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return value

    def _made(self, manifest: Manifest) -> V:
        self.made += 1
        return self._make({field: manifest[field] for field in self._fields if field in manifest})

    def __len__(self) -> int:
        return len(self._known)

    def clear(self) -> None:
        self._known.clear()
