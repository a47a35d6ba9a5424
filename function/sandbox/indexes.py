"""What the store knows of objects so that nobody has to look at all of them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Key = tuple[str, str]
"""Namespace and name."""


class Sealed(dict[str, Any]):
    """An object as it is stored. Nobody changes it: to change an object is to store another. So its content is worked
    out once for all who ask."""

    __slots__ = ("_digests",)

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        super().__init__(manifest)
        self._digests: dict[tuple[str, ...], bytes] = {}

    def digest(self, *fields: str) -> bytes:
        """Of the content of these fields: equal only where that is."""
        found = self._digests.get(fields)
        if found is None:
            text = json.dumps([self.get(field) for field in fields], sort_keys=True, separators=(",", ":"))
            found = self._digests[fields] = hashlib.sha256(text.encode()).digest()
        return found


class LabelIndex:
    """The objects of one kind by their labels, kept up with each that comes, changes or goes."""

    __slots__ = ("_having",)

    def __init__(self) -> None:
        self._having: dict[tuple[str, str], set[Key]] = {}

    def copied(self) -> LabelIndex:
        other = LabelIndex()
        other._having = {label: set(keys) for label, keys in self._having.items()}
        return other

    def note(self, key: Key, before: Mapping[str, str], now: Mapping[str, str]) -> None:
        if before == now:
            return
        for label in before.items():
            self._having[label].discard(key)
        for label in now.items():
            self._having.setdefault(label, set()).add(key)

    def having(self, labels: Mapping[str, str]) -> list[Key]:
        """Those that have all of the labels, of which there is at least one, by namespace and name."""
        sets = [self._having.get(label, set()) for label in labels.items()]
        return sorted(set.intersection(*sets))
