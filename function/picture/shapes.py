"""The shapes of a card: boxes, lines of text, slots and items, in pixels from its upper left corner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from function.picture import text
from function.picture.fleet import Facts

WIDTH = 336
"""Of every card."""
EDGE = 16
INNER = WIDTH - 2 * EDGE
SMALL = 12.0
"""Size of the font of most text."""
GAP, ROW_GAP = 6, 12
"""Between nodes. Arrows run between rows."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text. `tone` is a class of the style sheet."""

    x: float
    y: float
    text: str
    tone: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot, or the slots that a pod takes. `side` is kept, before or after."""

    box: Box
    side: str
    colour: str
    """Such as d3; others for pods of others."""
    number: str
    tone: str
    """Classes: loss, new, idle (it does not serve)."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that can be focused: a node, a part of a bar, or a folded cluster."""

    box: Box
    kind: str
    """node, bar or square."""
    state: str
    """The class of its state, such as cordoned."""
    slots: tuple[Slot, ...]
    label: str
    title: str
    facts: Facts
    pool: int
    """The number of its pool on the card; -1 for none."""
    level: float = 0
    """Of a square: the share of the cluster that is in use."""


@dataclass(frozen=True, slots=True)
class Card:
    """A card. `ends` has the boxes at which arrows begin and end, by side, replica and cluster."""

    height: float
    clusters: tuple[str, ...]
    title: str
    tone: str
    """Class of its frame: lost, new, bad, near, good, or empty."""
    badge: str
    lines: tuple[Line, ...]
    items: tuple[Item, ...]
    ends: Mapping[tuple[str, str, str], Box]
    facts: Facts = ()
    pools: tuple[Facts, ...] = ()

    @property
    def badge_width(self) -> float:
        return text.width(self.badge, 11) + 18
