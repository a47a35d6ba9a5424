"""Groups the nodes and the kinds of pods of a pool, so that few are left to be told apart.

Terms:

- A *lot* is a number of nodes that are blocked alike (see `blocking.py`).
- A *group* is a number of kinds of pods that are counted as one.

Kinds that are alike in all rows are grouped first, which loses nothing. Then, if there are still many, kinds that are
nearly alike: the group reaches a way as its largest kind does, and keeps within the limits as its smallest kind does.
So the group blocks whatever one of its kinds blocks.

Nodes with nearly the same capacity are grouped in the same spirit. Such a node is blocked as if it had the least
capacity of all, and holds pods as if it had the most.

Deliberately coarse: which kinds and nodes are nearly alike is decided by simple rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from function.scheduling.blocking import Blocking, NodeCapacity, PodDemand, Row, blocking, fits_empty

_MOST_LOTS = 8
_MOST_GROUPS = 8
_FINENESS = (64, 32, 16, 8, 4, 2, 1)
"""Parts of a bound to which sizes are rounded up to find kinds that are nearly alike, until few are left. Each part is
twice the one before, so that kinds that are alike once stay so."""

Lot: TypeAlias = tuple[Blocking, int]
"""What blocks a node, and how many nodes there are of that."""


class Groups(NamedTuple):
    """Lots, and the groups of kinds that their rows have sizes for, those that help most to block first."""

    lots: tuple[Lot, ...]
    kinds: tuple[tuple[int, ...], ...]
    """The kinds of each group, as positions in the sequence that was grouped."""

    def counts(self, counts: Sequence[int]) -> list[int]:
        """Return the pods of each group, given those of each kind."""
        return [sum(counts[kind] for kind in kinds) for kinds in self.kinds]


# Nodes


def lots(nodes: Iterable[tuple[NodeCapacity, int]], pod: PodDemand, kinds: tuple[PodDemand, ...]) -> list[Lot]:
    """Return what blocks the nodes for a pod, without those that it would not fit on if they were empty."""
    fitting = [(capacity, count) for capacity, count in nodes if _has_resources(capacity, pod)]
    fits = {devices: fits_empty(NodeCapacity(devices), pod) for devices in {c.devices for c, _ in fitting}}
    fitting = [(capacity, count) for capacity, count in fitting if fits[capacity.devices]]
    if len(fitting) > _MOST_LOTS:
        return _nearly_alike(fitting, pod, kinds)
    found = ((blocking(capacity, capacity, pod, kinds), count) for capacity, count in fitting)
    return [(blocked, count) for blocked, count in found if blocked is not None]


def _has_resources(capacity: NodeCapacity, pod: PodDemand) -> bool:
    cpu, memory, storage = capacity.resources
    return (
        (cpu is None or pod.resources[0] <= max(cpu, 0))
        and (memory is None or pod.resources[1] <= max(memory, 0))
        and (storage is None or pod.resources[2] <= max(storage, 0))
    )


def _nearly_alike(nodes: list[tuple[NodeCapacity, int]], pod: PodDemand, kinds: tuple[PodDemand, ...]) -> list[Lot]:
    chunks: dict[tuple[tuple[int, ...], int], list[tuple[NodeCapacity, int]]] = {}
    for capacity, count in nodes:
        chunks.setdefault((capacity.devices, int(4 * math.log2(_room(capacity, pod)))), []).append((capacity, count))
    if len(chunks) > _MOST_LOTS:
        ordered = sorted(nodes, key=lambda one: (sum(one[0].devices), _room(one[0], pod)))
        size = -(-len(ordered) // _MOST_LOTS)
        parts = [ordered[i : i + size] for i in range(0, len(ordered), size)]
    else:
        parts = [chunks[key] for key in sorted(chunks)]
    found = (
        (blocking(_extreme(part, min), _extreme(part, max), pod, kinds), sum(count for _, count in part))
        for part in parts
    )
    return [(blocked, count) for blocked, count in found if blocked is not None]


def _room(capacity: NodeCapacity, pod: PodDemand) -> float:
    """Return how many such pods the scarcest resource of a node suffices for."""
    shares = (
        has / wanted
        for has, wanted in zip(capacity.resources, pod.resources, strict=True)
        if has is not None and wanted > 0
    )
    return min(shares, default=1.0)


def _extreme(nodes: Iterable[tuple[NodeCapacity, int]], choose: Callable[[Iterable[int]], int]) -> NodeCapacity:
    """Return the least or the most that any of the nodes has. What is not counted on one counts as the most."""
    capacities = [capacity for capacity, _ in nodes]
    size = max(len(capacity.devices) for capacity in capacities)
    devices = tuple(choose(_at(capacity.devices, e) for capacity in capacities) for e in range(size))
    cpu, memory, storage = (
        _chosen([capacity.resources[j] for capacity in capacities], choose) for j in range(len(capacities[0].resources))
    )
    return NodeCapacity(devices, (cpu, memory, storage))


def _at(devices: Sequence[int], entry: int) -> int:
    return devices[entry] if entry < len(devices) else 0


def _chosen(values: Sequence[int | None], choose: Callable[[Iterable[int]], int]) -> int | None:
    known = [value for value in values if value is not None]
    return None if not known or (choose is max and len(known) < len(values)) else choose(known)


# Kinds of pods


def grouped(lots: Sequence[Lot], kinds: int) -> Groups:
    """Return the lots with kinds that are alike as one, and without those that help to block no node."""
    reached, limits = _rows(lots)
    alike: dict[tuple[int, ...], list[int]] = {}
    for kind in range(kinds):
        if any(row.sizes[kind] for row in reached):
            alike.setdefault(tuple(row.sizes[kind] for row in (*reached, *limits)), []).append(kind)
    return _merged(lots, alike.values())


def coarsened(groups: Groups) -> Groups:
    """Return groups of groups, few enough for a search."""
    reached, _ = _rows(groups.lots)
    alike: dict[tuple[int, ...], list[int]] = {(i,): [i] for i in range(len(groups.kinds))}
    for parts in _FINENESS:
        if len(alike) <= _MOST_GROUPS:
            break
        alike = {}
        for i in range(len(groups.kinds)):
            alike.setdefault(tuple(-(-row.sizes[i] * parts // row.bound) for row in reached), []).append(i)
    found = _merged(groups.lots, alike.values())
    return Groups(found.lots, tuple(tuple(kind for i in own for kind in groups.kinds[i]) for own in found.kinds))


def _rows(lots: Iterable[Lot]) -> tuple[list[Row], list[Row]]:
    """Return the rows of all ways, and all limits."""
    blockings = [blocking for blocking, _ in lots]
    return [r for b in blockings for way in b.ways for r in way], [r for b in blockings for r in b.limits]


def _merged(lots: Sequence[Lot], alike: Iterable[list[int]]) -> Groups:
    reached, _ = _rows(lots)
    groups = sorted(alike, key=lambda kinds: (-max(_share(row, kinds) for row in reached), kinds))
    found: dict[Blocking, int] = {}
    for old, nodes in lots:
        new = Blocking(
            tuple(_of(row, groups, min) for row in old.limits),
            tuple(tuple(_of(row, groups, max) for row in way) for way in old.ways),
        )
        found[new] = found.get(new, 0) + nodes
    return Groups(tuple(found.items()), tuple(tuple(kinds) for kinds in groups))


def _share(row: Row, kinds: Sequence[int]) -> float:
    return max(row.sizes[kind] for kind in kinds) / row.bound


def _of(row: Row, groups: Iterable[Sequence[int]], choose: Callable[[Iterable[int]], int]) -> Row:
    return Row(tuple(choose(row.sizes[kind] for kind in kinds) for kinds in groups), row.bound)
