"""Values of manifests that others wrote, which may be anything. What cannot be read is read as nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from function.core import Manifest


def mappings(value: Any) -> Iterable[Manifest]:
    """Return the objects of a list; none if the value is not a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else ()


def whole(value: Any, default: int = 0) -> int:
    """Return a whole number, which labels hold as text; the default for None, and 0 for anything else."""
    if value is None:
        return default
    try:
        return int(value)
    except (OverflowError, TypeError, ValueError):
        return 0
