"""Indexes of the store: content digests, and objects by label."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Key = tuple[str, str]
"""Namespace and name."""


class Sealed(dict[str, Any]):
    """A stored object. It never changes, so the digest of its content is computed once for all readers."""

    __slots__ = ("_digests",)

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        super().__init__(manifest)
        self._digests: dict[tuple[str, ...], bytes] = {}

    def digest(self, *fields: str) -> bytes:
        """A digest of some fields: equal if and only if their content is."""
        found = self._digests.get(fields)
        if found is None:
            text = json.dumps([self.get(field) for field in fields], sort_keys=True, separators=(",", ":"))
            found = self._digests[fields] = hashlib.sha256(text.encode()).digest()
        return found


class LabelIndex:
    """The objects of one kind by their labels."""

    __slots__ = ("_having",)

    def __init__(self) -> None:
        self._having: dict[tuple[str, str], set[Key]] = {}

    def copied(self) -> LabelIndex:
        """An independent copy."""
        other = LabelIndex()
        other._having = {label: set(keys) for label, keys in self._having.items()}
        return other

    def note(self, key: Key, before: Mapping[str, str], now: Mapping[str, str]) -> None:
        """Update the index for an object that was created, changed or deleted."""
        if before == now:
            return
        for label in before.items():
            self._having[label].discard(key)
        for label in now.items():
            self._having.setdefault(label, set()).add(key)

    def having(self, labels: Mapping[str, str]) -> list[Key]:
        """The objects that have all of the labels (at least one), by namespace and name."""
        sets = [self._having.get(label, set()) for label in labels.items()]
        return sorted(set.intersection(*sets))
