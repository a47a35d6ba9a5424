"""Libraries: groups of functions with the types that they add."""

from __future__ import annotations

from dataclasses import dataclass

from function.cel.language.declarations.overload import Overload
from function.cel.language.values.opaque import OpaqueType


@dataclass(frozen=True, slots=True)
class Library:
    """One library of functions. All that the language knows of it is here."""

    name: str
    overloads: tuple[Overload, ...]
    """In the order in which they are tried, where several fit."""
    types: tuple[OpaqueType, ...] = ()
    is_suggested: bool = True
    """Whether error messages suggest its functions for one that is misspelled."""
