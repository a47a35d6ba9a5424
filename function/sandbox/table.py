"""The stored objects of one kind, by what they are looked up by.

A look-up is for all objects that have some marks (fields.py): labels, a namespace, or indexed fields.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection

from function.core import Manifest
from function.sandbox import fields
from function.sandbox.stored import Stored

Key = tuple[str, str]
"""Namespace and name."""
Mark = tuple[str, str]
_NONE: fields.Marks = frozenset()


class Table:
    """All objects of a kind."""

    __slots__ = ("_having", "_keys", "_manifests", "_objects")

    def __init__(self) -> None:
        self._objects: dict[Key, Stored] = {}
        self._keys: list[Key] = []
        """Sorted."""
        self._manifests: tuple[Manifest, ...] | None = ()
        """In the order of keys; None if they must be collected again."""
        self._having: dict[Mark, set[Key]] = {}
        """By mark, the objects that have it."""

    def copied(self) -> Table:
        """An independent table with the same objects."""
        other = Table()
        other._objects = {key: s.copied() for key, s in self._objects.items()}
        other._keys, other._manifests = list(self._keys), self._manifests
        other._having = {mark: set(keys) for mark, keys in self._having.items()}
        return other

    def get(self, key: Key) -> Stored | None:
        """An object; None if it does not exist."""
        return self._objects.get(key)

    def order(self) -> tuple[Key, ...]:
        """The identities of all objects, sorted."""
        return tuple(self._keys)

    def manifests(self) -> tuple[Manifest, ...]:
        """All objects, sorted."""
        if self._manifests is None:
            self._manifests = tuple([self._objects[key].manifest for key in self._keys])
        return self._manifests

    def having(self, marks: Collection[Mark]) -> tuple[Manifest, ...]:
        """The objects that have all of the marks, sorted. Reads no more than have the rarest of them."""
        if not marks:
            return self.manifests()
        sets = sorted((self._having.get(mark, set()) for mark in marks), key=len)
        return tuple([self._objects[key].manifest for key in sorted(set.intersection(*sets))])

    def put(self, key: Key, stored: Stored | None) -> Manifest | None:
        """Store an object, or remove it if it is None. Returns the one before."""
        before = self._objects.get(key)
        if stored is not None:
            stored.marks = _marks(stored, before)
            self._objects[key] = stored
            if before is None:
                insort(self._keys, key)
        elif before is not None:
            del self._objects[key]
            del self._keys[bisect_left(self._keys, key)]
        self._manifests = None
        self._index(key, before.marks if before else _NONE, stored.marks if stored else _NONE)
        return before.manifest if before else None

    def _index(self, key: Key, before: fields.Marks, after: fields.Marks) -> None:
        if before is after:
            return
        for mark in before - after:
            self._having[mark].discard(key)
        for mark in after - before:
            self._having.setdefault(mark, set()).add(key)


def _marks(stored: Stored, before: Stored | None) -> fields.Marks:
    """The marks of an object. Those of the one before, if it is found by the same: most writes are of other fields."""
    if before is not None and fields.are_same(before.manifest, stored.manifest):
        return before.marks
    return fields.marks(stored.manifest)
