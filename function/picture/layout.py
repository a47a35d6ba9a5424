"""The places of cards on a page of one, two or three columns.

A region is a block of as many columns as it has cards, at most all. Blocks follow each other in rows; within a block, a
card goes to the column that is shortest so far. All layouts have the same cards, so that a page needs each only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from function.picture.shapes import WIDTH, Card

COLUMNS = (1, 2, 3)
GAP = 16
HEADING = 40
"""From the top of a region to its first card."""
_BETWEEN = 20


@dataclass(frozen=True, slots=True)
class Block:
    """A region and its cards, by their numbers on the page."""

    name: str
    summary: str
    cards: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """Where a region begins, and how wide it is."""

    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of all cards and regions."""

    columns: int
    height: float
    cards: tuple[tuple[float, float], ...]
    headings: tuple[Heading, ...]
    tops: tuple[float, ...]
    """Where the row of each card's region begins."""

    @property
    def width(self) -> float:
        return width(self.columns)


def width(columns: int) -> float:
    """The width of so many columns."""
    return columns * WIDTH + (columns - 1) * GAP


def layout(blocks: Sequence[Block], cards: Sequence[Card], columns: int) -> Layout:
    """Place the cards of regions."""
    places: list[tuple[float, float]] = [(0, 0)] * len(cards)
    tops = [0.0] * len(cards)
    headings: list[Heading] = []
    top, used, lowest = 0.0, 0, 0.0
    for block in blocks:
        wanted = min(columns, max(1, len(block.cards)))
        if used + wanted > columns:
            top, used, lowest = lowest + _BETWEEN, 0, 0.0
        left = used * (WIDTH + GAP)
        headings.append(Heading(left, top, width(wanted)))
        heights = [top + HEADING] * wanted
        for number in block.cards:
            column = heights.index(min(heights))
            places[number], tops[number] = (left + column * (WIDTH + GAP), heights[column]), top
            heights[column] += cards[number].height + GAP
        used, lowest = used + wanted, max(lowest, *heights)
    return Layout(columns, max(lowest, 1), tuple(places), tuple(headings), tuple(tops))
