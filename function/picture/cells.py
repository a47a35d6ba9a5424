"""Nodes as cells: which pods are on which slot of which node, before and after.

Terms. A *slot* is a device of a shared node that pods can claim; a node that pods take whole has one slot. A *pod* here
is a pod of a replica with the number of slots that it takes.

Phases of `cells`, in order:

1. The nodes: those that are observed, by name and state, and the others that the pool has.
2. The pods before: where the observation has them, and else on the node with the most free slots.
3. The pods after: those that stay keep their slots; the others prefer slots that were free before, so that an arrow
   does not end on what it leaves.

A pod that finds no node gets one that does not exist: the pool is overcommitted. Which node a pod is on is a guess
unless it is observed, and the legend of the page says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from function.picture.document import Data

MOST_SLOTS = 16
"""Slots that are drawn of a node. On a node with more, a slot stands for several devices."""
OTHERS = "others"
"""Stands for pods that belong to no replica."""


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of a replica."""

    deployment: str
    replica: str
    workload: str
    number: int
    """Tells pods of a workload apart."""
    slots: int
    devices: int = field(compare=False)
    serving: bool = field(compare=False)

    @property
    def is_foreign(self) -> bool:
        return self.deployment == OTHERS


@dataclass(slots=True)
class Cell:
    """A node. `state` is Ready, Cordoned, NotReady, Tainted, Unknown, Absent (not there yet), Missing (there is none
    for the pods on it) or Removed."""

    name: str
    state: str
    note: str
    before: list[Pod | None]
    after: list[Pod | None]
    bound: tuple[tuple[str, int], ...] = ()
    """Workloads whose pods are observed on it, and the devices that they hold."""

    @property
    def is_open(self) -> bool:
        """Whether a pod may be drawn on it that is observed nowhere."""
        return self.state in ("Ready", "Unknown", "Absent")

    def pods(self) -> list[Pod]:
        """The pods of either side."""
        return [*dict.fromkeys(pod for pod in (*self.before, *self.after) if pod is not None)]


def slots_of(pool: Data) -> int:
    """The slots of each node of a pool."""
    return max(1, min(int(pool["slots"]), MOST_SLOTS)) if pool["sharing"] == "Devices" else 1


def cells(before: Data | None, after: Data | None, capacity: str) -> tuple[Cell, ...]:
    """The nodes of a pool.

    Args:
        before: The pool before; None if it did not exist.
        after: The pool afterwards; None if it does not exist any more.
        capacity: How the cluster counts its capacity: Declared, Observed or Stale.
    """
    pool = after or before
    assert pool is not None, "a pool exists before or after"
    found = [*_nodes(pool, _count(before, after), slots_of(pool), capacity)]
    first, second = _pods(before), _pods(after)
    kept = set(first) & set(second)
    for pod in _bind(found, first, after=False):
        _put(found, pod, sides=("before",), prefers=("before",))
    staying = [pod for pod in second if pod in kept]
    _keep(found, {pod: pod for pod in staying})
    for pod in _bind(found, [pod for pod in second if pod not in kept], after=True):
        _put(found, pod, sides=("after",), prefers=("after", "before"))
    return tuple(_marked(found, before, after))


def _count(before: Data | None, after: Data | None) -> int:
    """Nodes to draw. A pool that is not published yet has those that it publishes afterwards."""
    there = [int(pool["nodes"]) for pool in (before, after) if pool is not None and pool["published"]]
    return max(there or [int((after or before or {})["nodes"])])


def _marked(found: Sequence[Cell], before: Data | None, after: Data | None) -> Iterator[Cell]:
    """Mark the nodes that a pool loses: the last ones without pods."""
    was, now = (int(pool["nodes"]) if pool is not None else 0 for pool in (before or after, after))
    gone = max(0, was - now) if before is None or before["published"] else 0
    idle = [cell for cell in reversed(found) if not any(cell.after)]
    for cell in idle[:gone]:
        cell.state = "Removed"
    yield from found


def _nodes(pool: Data, count: int, slots: int, capacity: str) -> Iterator[Cell]:
    seen, there = pool["observed"], 0
    for group in seen["groups"] if seen else ():
        for name in [*group["names"], *[""] * (group["count"] - len(group["names"]))]:
            there += 1
            yield _observed(name, group, slots, int(pool["slots"]))
    rest = "Unknown" if capacity == "Stale" or not pool["published"] or (seen and seen["left"]) else "Ready"
    for _ in range(there, count):
        yield Cell("", "Absent" if seen and not seen["left"] else rest, "", [None] * slots, [None] * slots)


def _observed(name: str, group: Data, slots: int, devices: int) -> Cell:
    bound = tuple((str(holder["workload"]), int(holder["devices"])) for holder in group["holders"])
    cell = Cell(name, group["state"], group["taint"], [None] * slots, [None] * slots, bound)
    taken = _scaled(int(group["foreign"]), slots, devices)
    for index in range(slots - taken, slots):
        cell.before[index] = cell.after[index] = Pod(OTHERS, "", "", 0, taken, int(group["foreign"]), serving=True)
    return cell


def _pods(pool: Data | None) -> list[Pod]:
    """The pods of a pool, the largest first, since it is harder to find room for them."""
    if pool is None:
        return []
    slots, numbers, found = slots_of(pool), Counter[str](), list[Pod]()
    for occupant in pool["occupants"]:
        for _ in range(int(occupant["pods"])):
            found.append(_pod(occupant, numbers[occupant["workload"]], slots, int(pool["slots"])))
            numbers[occupant["workload"]] += 1
    return sorted(found, key=lambda pod: -pod.slots)


def _pod(occupant: Data, number: int, slots: int, devices: int) -> Pod:
    return Pod(
        deployment=f"{occupant['namespace']}/{occupant['deployment']}",
        replica=f"{occupant['namespace']}/{occupant['replica']}",
        workload=f"{occupant['namespace']}/{occupant['workload']}",
        number=number,
        slots=_scaled(int(occupant["devices"]), slots, devices) if slots > 1 else 1,
        devices=int(occupant["devices"]),
        serving=bool(occupant["serving"]),
    )


def _scaled(taken: int, slots: int, devices: int) -> int:
    """The slots of so many devices, at least one for any."""
    return min(slots, -(-taken * slots // max(devices, 1))) if taken else 0


def _bind(found: Sequence[Cell], pods: Sequence[Pod], *, after: bool) -> list[Pod]:
    """Put pods on the nodes on which they are observed. Returns the others."""
    waiting: dict[str, list[Pod]] = {}
    for pod in pods:
        waiting.setdefault(pod.workload, []).append(pod)
    for cell in found:
        side = cell.after if after else cell.before
        for workload, devices in cell.bound:
            held = 0
            while waiting.get(workload) and held < max(devices, 1) and side.count(None) >= waiting[workload][0].slots:
                pod = waiting[workload].pop(0)
                _fill(side, pod)
                held += max(pod.devices, 1)
    return [pod for pod in pods if pod in waiting[pod.workload]]


def _keep(found: Sequence[Cell], staying: dict[Pod, Pod]) -> None:
    """Pods that stay are where they were."""
    for cell in found:
        for index, pod in enumerate(cell.before):
            if pod is not None and (pod in staying or pod.is_foreign):
                cell.after[index] = staying.get(pod, pod)


def _put(found: list[Cell], pod: Pod, *, sides: tuple[str, ...], prefers: tuple[str, ...]) -> None:
    """Put a pod on a node that is free on the preferred sides, else on the side itself, else on one that is missing."""
    for wanted in (prefers, sides):
        open_cells = [cell for cell in found if cell.is_open and _free(cell, wanted) >= pod.slots]
        if open_cells:
            best = max(open_cells, key=lambda cell: (cell.state != "Absent", _free(cell, wanted)))
            break
    else:
        slots = len(found[0].before) if found else 1
        best = Cell("", "Missing", "", [None] * slots, [None] * slots)
        found.append(best)
    free = [i for i in range(len(best.before)) if all(getattr(best, side)[i] is None for side in wanted)]
    for index in (free or range(len(best.before)))[: pod.slots]:
        getattr(best, sides[0])[index] = pod


def _free(cell: Cell, sides: tuple[str, ...]) -> int:
    lists: list[list[Any]] = [getattr(cell, side) for side in sides]
    return sum(all(one is None for one in slot) for slot in zip(*lists, strict=True))


def _fill(side: list[Pod | None], pod: Pod) -> None:
    for index in [i for i, one in enumerate(side) if one is None][: pod.slots]:
        side[index] = pod
