"""The stored objects of one kind, by label and namespace, and when the answer to a look-up changed last.

Terms. A *mark* is a label, or a namespace as a label with an empty key, which no real label has. Each object has its
labels' marks and that of its namespace. A look-up is for all objects that have some marks.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping

from function.core import Manifest
from function.sandbox.stored import Stored, labels_of

Key = tuple[str, str]
"""Namespace and name."""
Marks = Mapping[str, str]


def in_namespace(namespace: str) -> Marks:
    """The mark of a namespace."""
    return {"": namespace}


class Table:
    """All objects of a kind."""

    __slots__ = ("_having", "_keys", "_manifests", "_marked", "_objects", "_version")

    def __init__(self) -> None:
        self._objects: dict[Key, Stored] = {}
        self._keys: list[Key] = []
        """Sorted."""
        self._manifests: tuple[Manifest, ...] | None = ()
        """In the order of keys; None if they must be collected again."""
        self._having: dict[tuple[str, str], set[Key]] = {}
        """By mark, the objects that have it."""
        self._marked: dict[tuple[str, str], int] = {}
        """By mark, the version of the last change of an object that had it before or after."""
        self._version = 0
        """The version of the last change."""

    def copied(self) -> Table:
        """An independent table with the same objects."""
        other = Table()
        other._objects = {key: Stored(s.manifest, dict(s.intents), s.edits) for key, s in self._objects.items()}
        other._keys, other._manifests = list(self._keys), self._manifests
        other._having = {mark: set(keys) for mark, keys in self._having.items()}
        other._marked, other._version = dict(self._marked), self._version
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

    def having(self, marks: Marks) -> tuple[Manifest, ...]:
        """The objects that have all of the marks, sorted. Reads no more than have the rarest of them."""
        if not marks:
            return self.manifests()
        sets = sorted((self._having.get(mark, set()) for mark in marks.items()), key=len)
        return tuple([self._objects[key].manifest for key in sorted(set.intersection(*sets))])

    def may_differ(self, marks: Marks, version: int) -> bool:
        """Whether a look-up may have another answer than at a version. False is certain."""
        return self._version > version and all(self._marked.get(mark, 0) > version for mark in marks.items())

    def put(self, key: Key, stored: Stored | None, version: int) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Store an object, or remove it if it is None. Returns its labels before and after."""
        before = self._objects.get(key)
        if stored is None:
            self._objects.pop(key, None)
        else:
            self._objects[key] = stored
        if before is None and stored is not None:
            insort(self._keys, key)
        elif before is not None and stored is None:
            del self._keys[bisect_left(self._keys, key)]
        self._manifests, self._version = None, version
        was, now = labels_of(before), labels_of(stored)
        namespace = in_namespace(key[0])
        if before is None or stored is None or was != now:
            self._index(key, {**was, **namespace} if before else {}, {**now, **namespace} if stored else {})
        for mark in (*was.items(), *now.items(), *namespace.items()):
            self._marked[mark] = version
        return was, now

    def _index(self, key: Key, before: Marks, after: Marks) -> None:
        for mark in before.items():
            self._having[mark].discard(key)
        for mark in after.items():
            self._having.setdefault(mark, set()).add(key)
