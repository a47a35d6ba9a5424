"""Puts a document together: which clusters are open, folded or left out, and the place of everything on the page."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from function.picture import arrows, cards, fleet, layout, palette, shapes, text
from function.picture.arrows import Arrow
from function.picture.document import Document
from function.picture.fleet import Cluster, Region
from function.picture.layout import Block, Layout
from function.picture.palette import Mark
from function.picture.shapes import Card

MOST_OPEN = 40
"""Clusters up to which none is folded."""
MOST_CELLS = 1_500
"""Nodes and slots up to which none is folded."""
MOST_TOUCHED = 24
"""Clusters that stay open in a fleet that is folded."""
MOST_CLUSTERS = 2_000
"""Clusters on the page. Of a larger fleet, the others are counted."""
_HEADING = 13.0
"""Size of the font of a region's name."""
_LEAST_ROWS = 3
"""Rows of squares up to which one card has them all."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A document with the place of everything in it."""

    document: Document
    regions: tuple[Region, ...]
    marks: Mapping[str, Mark]
    cards: tuple[Card, ...]
    blocks: tuple[Block, ...]
    layouts: tuple[Layout, ...]
    arrows: tuple[tuple[Arrow, ...], ...]
    """By layout."""
    left_out: int
    """Clusters that are not on the page."""
    is_folded: bool

    @property
    def headings(self) -> list[tuple[str, str]]:
        """The name and the summary of each region, as wide as a card."""
        room = shapes.WIDTH - 12
        return [(text.name(b.name, room - text.width(b.summary, _HEADING), _HEADING), b.summary) for b in self.blocks]

    @property
    def is_shared(self) -> bool:
        """Whether nodes of some pool are shared."""
        return any(pool.slots > 1 for region in self.regions for c in region.clusters for pool in c.pools)

    @property
    def is_observed(self) -> bool:
        """Whether it is observed of every cluster which node has which pod."""
        return all(cluster["capacity"] == "Observed" for cluster in self.document.after)


def picture(document: Document) -> Picture:
    """Find the place of everything in a document."""
    found = fleet.regions(document)
    is_folded = _is_large(found)
    shown, left_out = _bounded(found)
    opened = _opened(shown, is_folded=is_folded)
    marks = palette.marks([*fleet.deployments(shown, opened), *(move.deployment for move in document.moves)])
    drawn: list[Card] = []
    blocks = tuple(_blocks(shown, marks, drawn, opened))
    layouts = tuple(layout.layout(blocks, drawn, columns) for columns in layout.COLUMNS)
    ways = tuple(tuple(arrows.arrows(document.moves, drawn, placed)) for placed in layouts)
    return Picture(document, shown, marks, tuple(drawn), blocks, layouts, ways, left_out, is_folded)


def _is_large(found: Sequence[Region]) -> bool:
    clusters = [cluster for region in found for cluster in region.clusters]
    cells = sum(min(len(p.nodes), cards.MOST_NODES) * p.slots for cluster in clusters for p in cluster.pools)
    return len(clusters) > MOST_OPEN or cells > MOST_CELLS


def _bounded(found: Sequence[Region]) -> tuple[tuple[Region, ...], int]:
    """The regions with at most MOST_CLUSTERS clusters, those that are touched first, and how many are left out."""
    every = [cluster for region in found for cluster in region.clusters]
    if len(every) <= MOST_CLUSTERS:
        return tuple(found), 0
    kept = {one.name for one in sorted(every, key=lambda c: not c.is_touched)[:MOST_CLUSTERS]}
    shown = (Region(r.name, tuple(c for c in r.clusters if c.name in kept)) for r in found)
    return tuple(region for region in shown if region.clusters), len(every) - MOST_CLUSTERS


def _opened(found: Sequence[Region], *, is_folded: bool) -> frozenset[str]:
    """The clusters that have a card of their own."""
    every = [cluster for region in found for cluster in region.clusters]
    touched = sorted((c for c in every if c.is_touched), key=lambda c: not (c.change or c.verdict))
    return frozenset(c.name for c in (touched[:MOST_TOUCHED] if is_folded else every))


def _blocks(
    found: Sequence[Region], marks: Mapping[str, Mark], drawn: list[Card], opened: Container[str]
) -> Iterator[Block]:
    """The blocks of regions. Appends their cards."""
    for region in found:
        first = len(drawn)
        drawn += [cards.of_cluster(one, marks) for one in region.clusters if one.name in opened]
        folded = [one for one in region.clusters if one.name not in opened]
        drawn += map(cards.of_folded, _shares(folded))
        yield Block(region.name, region.summary, tuple(range(first, len(drawn))))


def _shares(folded: Sequence[Cluster]) -> Iterator[Sequence[Cluster]]:
    """Folded clusters for a card each: in full rows, and on as many cards as there are columns if they are many."""
    rows = -(-len(folded) // cards.SQUARES_A_ROW)
    most = cards.MOST_SQUARES // cards.SQUARES_A_ROW
    a_card = min(most, max(_LEAST_ROWS, -(-rows // max(layout.COLUMNS)))) * cards.SQUARES_A_ROW
    return (folded[start : start + a_card] for start in range(0, len(folded), a_card))
