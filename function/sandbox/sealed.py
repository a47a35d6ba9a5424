"""A stored object, which never changes: its digests and its size are computed once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any


class Sealed(dict[str, Any]):
    """A stored object. It never changes, so what follows from its content is computed once for all readers."""

    __slots__ = ("_derived", "_digests", "_weight")

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        super().__init__(manifest)
        self._digests: dict[tuple[str, ...], bytes] = {}
        self._derived: dict[str, Any] = {}
        self._weight = -1

    def digest(self, *fields: str) -> bytes:
        """A digest of some fields: equal if and only if their content is."""
        found = self._digests.get(fields)
        if found is None:
            text = json.dumps([self.get(field) for field in fields], sort_keys=True, separators=(",", ":"))
            found = self._digests[fields] = hashlib.sha256(text.encode()).digest()
        return found

    def derived(self, key: str, make: Callable[[Mapping[str, Any]], Any]) -> Any:
        """A value that is derived from it. The key names what is derived."""
        if key not in self._derived:
            self._derived[key] = make(self)
        return self._derived[key]

    def weight(self, weigh: Callable[[Mapping[str, Any]], int]) -> int:
        """Its size, as measured by the first caller."""
        if self._weight < 0:
            self._weight = weigh(self)
        return self._weight
