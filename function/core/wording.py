"""Numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], most: int) -> str:
    """Some names, and how many there are beside them: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
