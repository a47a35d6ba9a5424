"""The name that a mistyped one probably means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from function.core import closest, enumerate_names

_SHORTEST = 3
"""Characters of an abbreviation."""
_MOST = 100
"""Names of one kind for which a nearest one is looked for."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar; else the only one that begins with it, or with which it begins."""
    given = sorted(known)
    longer = [one for one in given if one != name and _is_abbreviation(name, one)]
    return closest(name, given) or (longer[0] if len(longer) == 1 else None)


def meant(name: str, known: Iterable[str], there: str = "there is") -> str:
    """Return a hint for a message: the nearest name, or what there is."""
    return _hint(nearest(name, known), known, there)


@dataclass(slots=True)
class Guesses:
    """Looks for nearest names as often as people mistype one. If more names are missing, files are.

    One comparison takes as long as there are names, so that all of them would take the square.
    """

    left: int = _MOST

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        self.left -= 1
        return nearest(name, known) if self.left >= 0 else None

    def meant(self, name: str, known: Iterable[str]) -> str:
        return _hint(self.nearest(name, known), known, "there is")


def _hint(near: str | None, known: Iterable[str], there: str) -> str:
    return f"did you mean {near}?" if near else f"{there} {enumerate_names(sorted(known))}"


def _is_abbreviation(name: str, other: str) -> bool:
    shorter, longer = sorted((name.lower(), other.lower()), key=len)
    return len(shorter) >= _SHORTEST and longer.startswith(shorter)
