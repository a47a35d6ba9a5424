"""The nodes of a pool as cells on a card, with the pods on their slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from function.picture.cells import OTHERS, Pod
from function.picture.fleet import Node, Pool
from function.picture.palette import Mark
from function.picture.shapes import EDGE, GAP, INNER, ROW_GAP, Box, Item, Slot

_CELL = 32
_SLOT, _SLOT_GAP = 15, 2
_SLOTS_A_ROW = 4
LOSSES = ("gone", "removed", "lost", "stays", "stops")
"""Changes of replicas that are drawn as losses."""

Drawn = tuple[Item, Mapping[tuple[str, str, str], Box]]
"""An item, and the boxes at which arrows to and from its replicas end, by side, replica and cluster."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A pool that is drawn."""

    cluster: str
    pool: Pool
    number: int
    """The number of the pool on its card."""
    marks: Mapping[str, Mark]

    @property
    def name(self) -> str:
        """The pool in words."""
        return f"{self.cluster}, pool {self.pool.name}"


def cells(drawing: Drawing, y: float) -> Iterator[Drawn]:
    """The nodes of a pool, in rows from `y` on."""
    width, height = _size(drawing.pool.slots)
    a_row = int((INNER + GAP) // (width + GAP))
    for index, node in enumerate(drawing.pool.nodes):
        row, column = divmod(index, a_row)
        box = Box(EDGE + column * (width + GAP), y + row * (height + ROW_GAP), width, height)
        yield _cell(drawing, node, box)


def _size(slots: int) -> tuple[float, float]:
    """The size of a node with so many slots."""
    if slots == 1:
        return _CELL, _CELL
    columns = min(slots, _SLOTS_A_ROW)
    rows = -(-slots // columns)
    return columns * (_SLOT + _SLOT_GAP) + 4, rows * (_SLOT + _SLOT_GAP) + 4


def _cell(drawing: Drawing, node: Node, box: Box) -> Drawn:
    boxes = [_slot_box(box, index, drawing.pool.slots) for index in range(drawing.pool.slots)]
    ends = {
        (side, pod.replica, drawing.cluster): Box(boxes[index].x, box.y, boxes[index].width, box.height)
        for side, pods in (("before", node.cell.before), ("after", node.cell.after))
        for index, pod in reversed([*enumerate(pods)])
        if pod is not None
    }
    state = "left" if node.cell.state == "Removed" and any(node.cell.before) else node.cell.state.lower()
    item = Item(
        box=box,
        kind="node",
        state=state,
        slots=tuple(_slots(node, boxes, drawing.marks)),
        label=f"{drawing.name}, {node.label}",
        title=node.title,
        facts=node.facts,
        pool=drawing.number,
    )
    return item, ends


def _slot_box(box: Box, index: int, slots: int) -> Box:
    if slots == 1:
        return box
    row, column = divmod(index, _SLOTS_A_ROW)
    step = _SLOT + _SLOT_GAP
    return Box(box.x + 3 + column * step, box.y + 3 + row * step, _SLOT, _SLOT)


def _slots(node: Node, boxes: Sequence[Box], marks: Mapping[str, Mark]) -> Iterator[Slot]:
    """What is on each slot; a pod has its number on its first slot."""
    numbered: set[tuple[str, Pod]] = set()
    for box, was, now in zip(boxes, node.cell.before, node.cell.after, strict=True):
        for side, pod in sides(was, now):
            number = "" if pod.is_foreign or (side, pod) in numbered else str(marks[pod.deployment].number)
            colour = OTHERS if pod.is_foreign else f"d{marks[pod.deployment].colour}"
            yield Slot(box, side, colour, number, _tone(pod, side, node.changes.get(pod, "")))
            numbered.add((side, pod))


def sides(was: Pod | None, now: Pod | None) -> Iterator[tuple[str, Pod]]:
    """The pods of a slot, each with its side: once if it is there before and after."""
    pairs = (("kept", now),) if was == now else (("before", was), ("after", now))
    return ((side, pod) for side, pod in pairs if pod is not None)


def _tone(pod: Pod, side: str, change: str) -> str:
    tones = (
        ("loss", change in LOSSES),
        ("idle", not pod.serving and side != "before"),
        ("updated", change == "updated"),
    )
    return " ".join(name for name, is_so in tones if is_so)
