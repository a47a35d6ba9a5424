"""What all steps have in common: each is a value that prints as a line."""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Line:
    """Prints as a verb and its words."""

    disturbs: ClassVar[bool] = False
    """Whether it may be a reason to stop serving."""
    reads_old: ClassVar[bool] = False
    """Whether a reconcile decides by what was there before, or by less than there is."""

    def __str__(self) -> str:
        words = [verb(type(self)), *(str(getattr(self, f.name)) for f in dataclasses.fields(self))]
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class Event(Line):
    """What users, clusters or clouds do."""

    disturbs: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class OldRead(Line):
    """A reconcile by a cache that is behind."""

    reads_old: ClassVar[bool] = True


def verb(step: type[Line]) -> str:
    """The first word of a step's line."""
    return step.__name__.lower()
