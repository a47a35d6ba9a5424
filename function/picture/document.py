"""What a page shows, whichever command made it: the fleet before and after, what moves, and what to read beside it.

plans.py and explanations.py make documents of the data that `-o json` prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Move:
    """A replica that changes. `change` is a word of the data: new, updated, moved, gone, removed, lost, stays or
    stops."""

    change: str
    deployment: str
    """As `namespace/name`."""
    replica: str
    replaces: str
    """The replica that it was before it moved; empty for any other."""
    source: str
    """The cluster that it was on; empty for a new one."""
    target: str
    """The cluster that it is on; empty for one that is gone."""
    why: str = ""

    @property
    def is_loss(self) -> bool:
        return self.change in ("gone", "removed", "lost", "stays", "stops")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some clusters do not take a replica, or what would help."""

    label: str
    text: str
    clusters: tuple[str, ...] = ()
    helps: bool = False
    """Whether it is a change that was tried and helps."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to read about an object."""

    name: str
    text: str = ""
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Entries below a title. `tone` is lost, waits or plain."""

    title: str
    tone: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an explanation or an N-1 report says of a cluster. `tone` is good, near or bad."""

    tone: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A page."""

    command: str
    """Such as `plan`."""
    summary: str
    outcome: str
    """What the exit code means, in a few words."""
    tone: str
    """good, near or bad."""
    before: tuple[Data, ...] | None
    """The clusters before the change; None if there is only one state."""
    after: tuple[Data, ...]
    moves: tuple[Move, ...] = ()
    sections: tuple[Section, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """By cluster."""
