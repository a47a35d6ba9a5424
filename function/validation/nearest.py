"""The name that a mistyped one probably means."""

from __future__ import annotations

from collections.abc import Iterable

from function.core import closest, enumerate_names

_SHORTEST = 3
"""Characters of an abbreviation."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar; else the only one that begins with it, or with which it begins."""
    given = sorted(known)
    longer = [one for one in given if one != name and _is_abbreviation(name, one)]
    return closest(name, given) or (longer[0] if len(longer) == 1 else None)


def meant(name: str, known: Iterable[str], there: str = "there is") -> str:
    """Return a hint for a message: the nearest name, or what there is."""
    given = sorted(known)
    near = nearest(name, given)
    return f"did you mean {near}?" if near else f"{there} {enumerate_names(given)}"


def _is_abbreviation(name: str, other: str) -> bool:
    shorter, longer = sorted((name.lower(), other.lower()), key=len)
    return len(shorter) >= _SHORTEST and longer.startswith(shorter)
