"""Reads values of manifests that others wrote. A value of the wrong type counts as missing."""

from __future__ import annotations

from typing import Any

from function.core import mappings

__all__ = ["mappings", "whole"]


def whole(value: Any, default: int = 0) -> int:
    """Return a whole number, which may be text as in labels; `default` for None, and 0 if it cannot be read."""
    if value is None:
        return default
    try:
        return int(value)
    except (OverflowError, TypeError, ValueError):
        return 0
