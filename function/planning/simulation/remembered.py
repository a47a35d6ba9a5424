"""A composition function that remembers its answers.

A fleet that settles is reconciled again and again in states that it had before, and the function is pure. An answer
that waits is asked for anew each time: matching that takes several calls goes on in the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from function.cel.language.limits.bounded_cache import BoundedCache
from function.core import Manifest, Request, Result
from function.sandbox.extensions import CompositionFunction
from function.sandbox.sealed import Sealed

_MOST = 2_000
"""Answers that are remembered: those used last."""

_Key = tuple[bytes, ...]


@dataclass(slots=True)
class Remembered:
    """A function that is called once for all requests of the same content."""

    function: CompositionFunction
    _answers: BoundedCache[_Key, Result] = field(default_factory=lambda: BoundedCache(_MOST))

    def __call__(self, request: Request) -> Result:
        """Answer a request. Raises what the function raises."""
        key = _key(request)
        found = self._answers.get(key)
        if found is not None:
            return found
        result = self.function(request)
        if not result.waiting:
            self._answers.put(key, result, 1)
        return result


def _key(request: Request) -> _Key:
    parts = [_content(request.xr)]
    for name, manifest in request.observed.items():
        parts += (name.encode(), _content(manifest))
    for name, found in request.required.items():
        parts += (b"", name.encode(), *map(_content, found))
    return tuple(parts)


def _content(manifest: Manifest) -> bytes:
    """A digest of all that the function reads of an object: all but its version."""
    found: bytes = cast("Sealed", manifest).derived("content", _digest)
    return found


def _digest(manifest: Mapping[str, Any]) -> bytes:
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "resourceVersion"}
    return Sealed({"": {**manifest, "metadata": metadata}}).digest("")
