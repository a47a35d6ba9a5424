"""Arrows of replicas that move, on ways that cross no text.

An arrow leaves a cell below, runs along the gap under it to the padding at a side of its card, up or down in that
padding, and to the gap under its target. Between cards that are not neighbours, it runs in the gap under the headings
of the target's region. Arrows on the same way have lanes beside each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from function.picture.document import Move
from function.picture.layout import GAP, HEADING, Layout
from function.picture.shapes import WIDTH, Box, Card

MOST = 80
"""Arrows that are drawn. More moves are listed."""
_UNDER = 5.0
"""From the lower edge of a cell to the way under it."""
_TIP = 2.0
"""From the end of an arrow to its target."""
_LANES, _LANE = 3, 3.0
_PADDING = 4.0
_CORNER = 6.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Arrow:
    """A move, from the lower edge of one box to the lower edge of another."""

    path: str
    start: Point
    end: Point
    move: Move


def arrows(moves: Iterable[Move], cards: Sequence[Card], placed: Layout) -> Iterator[Arrow]:
    """The arrows of replicas that move, as far as both ends are on the page; not more than MOST."""
    ends = {key: (box, number) for number, card in enumerate(cards) for key, box in card.ends.items()}
    drawn = 0
    for move in moves:
        namespace = move.deployment.partition("/")[0]
        source = ends.get(("before", f"{namespace}/{move.replaces}", move.source))
        target = ends.get(("after", f"{namespace}/{move.replica}", move.target))
        if move.change == "moved" and source and target and drawn < MOST:
            yield _arrow(source, target, move, placed, lane=drawn % _LANES)
            drawn += 1


_End = tuple[Box, int]
"""A box, and the number of the card on which it is."""


def _arrow(source: _End, target: _End, move: Move, placed: Layout, *, lane: int) -> Arrow:
    start, end = _under(source, placed), _under(target, placed)
    (left, _), (right, _) = (placed.cards[number] for _, number in (source, target))
    forward, shift = right > left, lane * _LANE
    out = left + (WIDTH - _PADDING - shift if right >= left else _PADDING + shift)
    back = right + (_PADDING + shift if forward else WIDTH - _PADDING - shift)
    low, deep = start[1] + _UNDER + shift, end[1] + _UNDER + shift
    points = [start, (start[0], low), (out, low)]
    if abs(right - left) > WIDTH + GAP:
        channel = placed.tops[target[1]] + HEADING - _PADDING - shift
        points += [(out, channel), (back, channel), (back, deep)]
    else:
        points += [(out, deep)]
    tip = end[0], end[1] + _TIP
    return Arrow(_rounded([*points, (end[0], deep), tip]), start, tip, move)


def _under(end: _End, placed: Layout) -> Point:
    """The middle of the lower edge of a box, on the page."""
    box, number = end
    x, y = placed.cards[number]
    return x + box.x + box.width / 2, y + box.y + box.height


def _rounded(points: Sequence[Point]) -> str:
    """A way through points as the path of an SVG, with round corners."""
    points = [point for point, last in zip(points, (None, *points), strict=False) if point != last]
    found = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        into, out = _towards(corner, before), _towards(corner, after)
        found.append(f"L{into[0]:.1f} {into[1]:.1f}Q{corner[0]:.1f} {corner[1]:.1f} {out[0]:.1f} {out[1]:.1f}")
    found.append(f"L{points[-1][0]:.1f} {points[-1][1]:.1f}")
    return "".join(found)


def _towards(corner: Point, other: Point) -> Point:
    """A point near a corner, on the way to another point."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = max((dx * dx + dy * dy) ** 0.5, 0.001)
    part = min(_CORNER, length / 2) / length
    return corner[0] + dx * part, corner[1] + dy * part
