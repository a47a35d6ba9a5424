"""A pool with too many nodes for cells, as a bar: by how many slots each deployment takes afterwards, or took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from function.core import plural
from function.picture.cells import OTHERS, Pod
from function.picture.nodes import LOSSES, Drawing, Drawn, sides
from function.picture.shapes import EDGE, INNER, SMALL, WIDTH, Box, Item, Slot

_MOST = 12
"""Parts of a bar."""
_HEIGHT, _NARROWEST, _GAP = 26, 6.0, 1


@dataclass(frozen=True, slots=True)
class _Share:
    """What a deployment takes on a side."""

    deployment: str
    side: str
    taken: list[tuple[Pod, str]]
    """For each slot, the pod and its change."""


def bar(drawing: Drawing, y: float) -> Iterator[Drawn]:
    """The parts of the bar of a pool; what is free is the last one."""
    shares = sorted(_shares(drawing), key=lambda share: (-len(share.taken), share.deployment, share.side))
    total = max(1, len(drawing.pool.nodes) * drawing.pool.slots)
    x = float(EDGE)
    for share, width in zip(shares, _widths([len(share.taken) / total for share in shares[:_MOST]]), strict=False):
        yield _part(drawing, share, Box(x, y, width, _HEIGHT), total)
        x += width + _GAP
    if (rest := WIDTH - EDGE - x) > _GAP:
        yield _rest(drawing, Box(x, y, rest, _HEIGHT), len(shares) - _MOST), {}


def _widths(parts: Sequence[float]) -> list[float]:
    """The widths of parts of a bar. Small ones are widened so that they can be seen, at the cost of all."""
    room = INNER - len(parts) * _GAP
    wide = [max(_NARROWEST, part * room) for part in parts]
    return [width * min(1.0, room / sum(wide)) for width in wide]


def _shares(drawing: Drawing) -> list[_Share]:
    found: dict[tuple[str, str], list[tuple[Pod, str]]] = {}
    for node in drawing.pool.nodes:
        for was, now in zip(node.cell.before, node.cell.after, strict=True):
            for side, pod in sides(was, now):
                found.setdefault((pod.deployment, side), []).append((pod, node.changes.get(pod, "")))
    return [_Share(*key, taken) for key, taken in found.items()]


def _part(drawing: Drawing, share: _Share, box: Box, total: int) -> Drawn:
    mark = drawing.marks.get(share.deployment)
    verb = {"before": "took", "after": "newly takes"}.get(share.side, "takes")
    told = f"{verb} {len(share.taken)} of {total}"
    slot = Slot(
        box=box,
        side=share.side,
        colour=f"d{mark.colour}" if mark else OTHERS,
        number=str(mark.number) if mark and box.width > 1.5 * SMALL else "",
        tone="loss" if any(change in LOSSES for _, change in share.taken) else "",
    )
    item = Item(
        box=box,
        kind="bar",
        state="ready",
        slots=(slot,),
        label=f"{drawing.name}: {share.deployment} {told}",
        title=share.deployment,
        facts=(("Deployment", share.deployment), ("Takes", told)),
        pool=drawing.number,
    )
    on = ("before", "after") if share.side == "kept" else (share.side,)
    return item, {(side, pod.replica, drawing.cluster): box for side in on for pod, _ in share.taken}


def _rest(drawing: Drawing, box: Box, more: int) -> Item:
    smaller = f"; {plural(more, 'smaller deployment')}" if more > 0 else ""
    label = f"{drawing.name}: {drawing.pool.free}{smaller}"
    return Item(
        box, "bar", "ready", (), label, "Free and smaller deployments" if smaller else "Free", (), drawing.number
    )
