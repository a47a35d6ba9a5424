"""The geometry of a card: what it draws at which place.

A card is one cluster, or many folded ones as squares. All cards are equally wide, so that layout.py only has to place
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from function.core import plural
from function.picture import bars, nodes, text
from function.picture.fleet import Cluster, Pool
from function.picture.nodes import Drawing
from function.picture.palette import Mark
from function.picture.shapes import EDGE, INNER, ROW_GAP, SMALL, WIDTH, Box, Card, Item, Line

_TITLE = 14.0
_BOLD = 1.14
"""How much wider a bold font is."""
_LINE = 16
_HEAD, _LABEL = 40.0, 18
"""From the top of a card to its first pool, and from there to its nodes."""
MOST_NODES = 88
"""Nodes of a pool that are drawn as cells. A larger pool is a bar."""
_SQUARE, _SQUARE_GAP = 20, 4
SQUARES_A_ROW = (INNER + _SQUARE_GAP) // (_SQUARE + _SQUARE_GAP)
MOST_SQUARES = SQUARES_A_ROW * 10
"""Clusters on one card of folded ones."""
_MOST_NAMED = 8
"""Deployments that the details of a folded cluster name."""


def of_cluster(cluster: Cluster, marks: Mapping[str, Mark]) -> Card:
    """The card of a cluster."""
    badge, tone = _badge(cluster)
    lines = [*_head(cluster, badge)]
    items: list[Item] = []
    ends: dict[tuple[str, str, str], Box] = {}
    y = _HEAD + (len(lines) - 1) * _LINE + (6 if len(lines) > 1 else 0)
    for number, pool in enumerate(cluster.pools):
        lines += _pool_lines(pool, y + 10)
        y += _LABEL
        draw = bars.bar if len(pool.nodes) > MOST_NODES else nodes.cells
        for item, found in draw(Drawing(cluster.name, pool, number, marks), y):
            items.append(item)
            ends = {**found, **ends}
        y = max((item.box.y + item.box.height for item in items), default=y) + 14
    return Card(
        height=y + 4,
        clusters=(cluster.name,),
        title=f"Cluster {cluster.name}",
        tone=tone,
        badge=badge,
        lines=tuple(lines),
        items=tuple(items),
        ends=ends,
        facts=cluster.facts,
        pools=tuple(pool.facts for pool in cluster.pools),
    )


def _badge(cluster: Cluster) -> tuple[str, str]:
    """The word in the corner of a card, and the class of the card."""
    if cluster.change:
        return cluster.change, cluster.change
    if cluster.verdict is not None:
        return cluster.verdict.label, cluster.verdict.tone
    if not cluster.serving:
        return "not serving", "bad"
    return ("tainted", "near") if cluster.taints else ("", "")


def _head(cluster: Cluster, badge: str) -> Iterator[Line]:
    """The name of a cluster, and its verdict, its problem or its taints."""
    room = INNER - (text.width(badge, 11) + 24 if badge else 0)
    yield Line(EDGE, 28, text.name(cluster.name, room, _TITLE * _BOLD), "title")
    told = (cluster.verdict.text if cluster.verdict else "") or cluster.why or ", ".join(cluster.taints)
    for index, line in enumerate(text.lines(told, INNER, SMALL, 2)):
        yield Line(EDGE, _HEAD + 8 + index * _LINE, line, "why")


def _pool_lines(pool: Pool, y: float) -> Iterator[Line]:
    room = INNER - text.width(pool.free, SMALL) - 8
    own = text.name(pool.name, room, SMALL * _BOLD)
    yield Line(EDGE, y, own, "pool")
    yield Line(WIDTH - EDGE, y, pool.free, "free")
    start = text.width(own, SMALL * _BOLD) + 10
    if pool.devices and room - start > 4 * SMALL:
        yield Line(EDGE + start, y, text.cut(pool.devices, room - start, SMALL), "device")


# Folded clusters


def of_folded(clusters: Sequence[Cluster]) -> Card:
    """A card with a square for each of some clusters."""
    items: list[Item] = []
    ends: dict[tuple[str, str, str], Box] = {}
    for index, cluster in enumerate(clusters):
        row, column = divmod(index, SQUARES_A_ROW)
        box = Box(EDGE + column * (_SQUARE + _SQUARE_GAP), 38 + row * (_SQUARE + ROW_GAP), _SQUARE, _SQUARE)
        items.append(_square(cluster, box))
        replicas = {pod.replica for pool in cluster.pools for node in pool.nodes for pod in node.cell.pods()}
        ends |= {(side, replica, cluster.name): box for replica in replicas for side in ("before", "after")}
    title = plural(len(clusters), "folded cluster")
    return Card(
        height=38 + -(-len(clusters) // SQUARES_A_ROW) * (_SQUARE + ROW_GAP) + 4,
        clusters=tuple(cluster.name for cluster in clusters),
        title=title,
        tone="",
        badge="",
        lines=(Line(EDGE, 24, title, "pool"),),
        items=tuple(items),
        ends=ends,
    )


def _square(cluster: Cluster, box: Box) -> Item:
    total, left = (sum(getattr(pool, name) for pool in cluster.pools) for name in ("total", "left"))
    badge, tone = _badge(cluster)
    pools = (pair for pool in cluster.pools for pair in pool.facts if pair[0] in ("Pool", "Class", "Free"))
    named = ", ".join(cluster.deployments[:_MOST_NAMED]) or "nothing"
    return Item(
        box=box,
        kind="square",
        state=tone,
        slots=(),
        label=f"Cluster {cluster.name}: {plural(total, 'node')}, {left} free{f', {badge}' if badge else ''}",
        title=cluster.name,
        facts=(*cluster.facts, *pools, ("Taken by", named)),
        pool=-1,
        level=max((pool.used[1] for pool in cluster.pools), default=0.0),
    )
