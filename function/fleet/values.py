"""Reads values of manifests that others wrote. A value of the wrong type counts as missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from function.core import Manifest


def mappings(value: Any) -> Iterable[Manifest]:
    """Return the objects of a list; none if the value is not a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else ()


def whole(value: Any, default: int = 0) -> int:
    """Return a whole number, which may be text as in labels; `default` for None, and 0 if it cannot be read."""
    if value is None:
        return default
    try:
        return int(value)
    except (OverflowError, TypeError, ValueError):
        return 0
