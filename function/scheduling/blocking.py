"""Describes, by linear inequalities, which sets of pods block a node for a pod.

Terms:

- A *kind* is a distinct demand among the pods that may lie on the node. A set of pods is a number of each kind.
- A *row* has a size for each kind and a bound. The sum of a set is the sum of the sizes of its pods.
- A *limit* is a row that a set on the node must not exceed. A set that is within all limits fits on the node.
- A *way* is a number of rows that a set must reach, all of them. A set blocks the node if it reaches some way.

Devices are divided among requests, and a request may draw on several entries of the node's shape. By Hall's theorem,
requests can be met if and only if for each set of entries that is a union of what requests draw on, those that draw on
nothing else ask for no more than the entries have. That makes one limit for each such union.

A pod does not find its devices if for one union of what its own requests draw on, fewer devices are left than these
need. How many devices the others can take of a union is a maximum flow. It equals the minimum over all cuts, so the
others reach a number if they reach it for each cut. That makes one way for each union, with one row for each cut. A
set that fits on the node can be put so that it takes that many: augmenting paths that place the rest of the set never
free an entry.

Cpu, memory and storage make one limit and one way each.

Phases of `blocking`:

1. List the limits and ways.
2. Drop the ways and limits that another one implies for each kind. Memory that no set can use up before the devices
   plays no part any more, and kinds that differ in memory only become alike.

Deliberately coarse: of very many unions and cuts, only some are listed as limits and rows. A limit or row less makes
more sets count as blocking. A pod with too many unions of its own counts as blocked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Resources: TypeAlias = tuple[int, int, int]
"""Cpu in millicores, memory in bytes, and ephemeral storage in bytes."""

_Requests: TypeAlias = tuple[tuple[int, int], ...]
"""The requests of a pod: the count, and the entries that it may draw on as a bit mask."""

_MOST_UNIONS = 64
"""Unions of entries that are looked at for one node. Nodes have one or two entries that are shared, most often."""


@dataclass(frozen=True, slots=True)
class PodDemand:
    """What one pod takes of a node."""

    devices: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """For each request that claims: the count, and the positions of the entries of the node's shape that it may draw
    on. Sorted, so that like demands are equal."""
    resources: Resources = (0, 0, 0)
    requests: _Requests = field(init=False, repr=False, compare=False)
    """What `devices` says, without requests for no devices."""
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        requests = ((count, sum(1 << e for e in set(entries))) for count, entries in self.devices if count > 0)
        object.__setattr__(self, "requests", tuple(requests))
        object.__setattr__(self, "_hash", hash((self.devices, self.resources)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_empty(self) -> bool:
        """Whether the pod takes nothing, so that it fits on any node."""
        return not any(self.resources) and not self.requests


@dataclass(frozen=True, slots=True)
class NodeCapacity:
    """What one node has for the pods that are counted."""

    devices: tuple[int, ...]
    """Free devices of each entry of the node's shape."""
    resources: tuple[int | None, int | None, int | None] = (None, None, None)
    """Cpu, memory and ephemeral storage, as in `Resources`. None: not known, so not counted."""
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.devices, self.resources)))

    def __hash__(self) -> int:
        return self._hash


class Row(NamedTuple):
    """A size for each kind, and what sums are compared with."""

    sizes: tuple[int, ...]
    bound: int


class Blocking(NamedTuple):
    """What blocks a node for a pod."""

    limits: tuple[Row, ...]
    """The set fits on the node if no sum exceeds its bound."""
    ways: tuple[tuple[Row, ...], ...]
    """The set blocks the node if for one of these, each sum reaches its bound."""


def fits_empty(capacity: NodeCapacity, demand: PodDemand) -> bool:
    """Whether a pod fits on a node that has no other pod."""
    unions = unions_of(demand)
    return unions is not None and _fits(capacity, demand, unions)


def blocking(low: NodeCapacity, high: NodeCapacity, pod: PodDemand, kinds: tuple[PodDemand, ...]) -> Blocking | None:
    """Return what blocks a node for a pod, or None if the pod does not fit on the empty node.

    The capacity of the node is at least `low` and at most `high`. Both are the same for a node that is known.
    """
    own = unions_of(pod)
    if own is None or not _fits(low, pod, own):
        return None
    requests = [kind.requests for kind in kinds]
    ways = [
        *(way for union in own if (way := _device_way(low, pod, union, requests)) is not None),
        *((row,) for row in _resource_ways(low, pod, kinds)),
    ]
    return Blocking(_limits(high, kinds), _without_implied_ways(ways))


@lru_cache(maxsize=256)
def _limits(capacity: NodeCapacity, kinds: tuple[PodDemand, ...]) -> tuple[Row, ...]:
    """Return the limits. They are the same for each pod that is asked about."""
    requests = [kind.requests for kind in kinds]
    return _without_implied_limits([*_device_limits(capacity, requests), *_resource_rows(capacity.resources, kinds)])


def unions_of(demand: PodDemand) -> list[int] | None:
    """Return the unions of what the requests of a pod draw on, as bit masks; None if there are too many."""
    return _unions((mask for _, mask in demand.requests), connected=True)


def _unions(masks: Iterable[int], *, connected: bool) -> list[int] | None:
    """Return all unions of sets of entries, without the empty one; None if there are too many.

    Connected ones are those of sets that overlap. If a union of sets that do not overlap has too few devices, then one
    of its parts has too few.
    """
    found: dict[int, None] = {}
    for mask in dict.fromkeys(masks):
        merged = [mask]
        for other in merged:
            merged += {other | old: None for old in found if old & other or not connected}.keys() - {*merged}
            if len(merged) > _MOST_UNIONS:
                return None
        found.update(dict.fromkeys(merged))
    return list(found) if len(found) <= _MOST_UNIONS else None


def devices_of(devices: Sequence[int], mask: int) -> int:
    """Return the devices of a set of entries."""
    return sum(max(count, 0) for e, count in enumerate(devices) if mask >> e & 1)


def _within(requests: _Requests, mask: int) -> int:
    """Return the devices of the requests that draw on nothing else."""
    return sum(count for count, entries in requests if not entries & ~mask)


def _fits(capacity: NodeCapacity, demand: PodDemand, unions: Iterable[int]) -> bool:
    return all(_within(demand.requests, union) <= devices_of(capacity.devices, union) for union in unions) and all(
        has is None or not wanted or wanted <= has
        for wanted, has in zip(demand.resources, capacity.resources, strict=True)
    )


def _device_limits(capacity: NodeCapacity, requests: Sequence[_Requests]) -> list[Row]:
    masks = {mask for own in requests for _, mask in own}
    unions = _unions(sorted(masks), connected=True) or sorted(masks)[:_MOST_UNIONS]
    return [
        Row(tuple(_within(own, union) for own in requests), devices_of(capacity.devices, union)) for union in unions
    ]


def _resource_rows(resources: Sequence[int | None], kinds: Sequence[PodDemand]) -> list[Row]:
    """Return the limits of resources. A pod that asks for none of a resource fits where it is overdrawn."""
    return [
        Row(tuple(kind.resources[j] for kind in kinds), max(has, 0))
        for j, has in enumerate(resources)
        if has is not None
    ]


def _device_way(
    capacity: NodeCapacity, pod: PodDemand, union: int, requests: Sequence[_Requests]
) -> tuple[Row, ...] | None:
    """Return what leaves too few devices in a union of entries for the pod; None if nothing does.

    The others take at most, for each cut, the devices of the cut and what those ask for that draw on others too.
    """
    needed = devices_of(capacity.devices, union) - _within(pod.requests, union) + 1
    masks = {mask & union for own in requests for _, mask in own}
    rows = []
    for cut in [0, *(_unions(sorted(masks), connected=False) or sorted(masks)[:_MOST_UNIONS])]:
        bound = needed - devices_of(capacity.devices, cut)
        sizes = tuple(sum(count for count, mask in own if mask & union & ~cut) for own in requests)
        if bound > 0 and not any(sizes):
            return None
        if bound > 0:
            rows.append(Row(sizes, bound))
    return tuple(rows)


def _resource_ways(capacity: NodeCapacity, pod: PodDemand, kinds: Sequence[PodDemand]) -> list[Row]:
    return [
        Row(tuple(kind.resources[j] for kind in kinds), has - pod.resources[j] + 1)
        for j, has in enumerate(capacity.resources)
        if has is not None and pod.resources[j] > 0 and any(kind.resources[j] for kind in kinds)
    ]


def _without_implied_limits(limits: list[Row]) -> tuple[Row, ...]:
    kept: list[Row] = []
    for row in sorted(set(limits)):
        if any(row.sizes) and not any(_is_within(row, other) for other in kept):
            kept = [*(other for other in kept if not _is_within(other, row)), row]
    return tuple(kept)


def _is_within(row: Row, other: Row) -> bool:
    """Whether each set within one limit is within another one."""
    return other.bound > 0 and all(
        a * other.bound <= b * row.bound for a, b in zip(row.sizes, other.sizes, strict=True)
    )


def _without_implied_ways(ways: list[tuple[Row, ...]]) -> tuple[tuple[Row, ...], ...]:
    kept: list[tuple[Row, ...]] = []
    for way in sorted({tuple(_capped(row) for row in way) for way in ways}):
        if not any(_implies(way, other) for other in kept):
            kept = [*(other for other in kept if not _implies(other, way)), way]
    return tuple(kept)


def _capped(row: Row) -> Row:
    """Cap sizes at the bound, which changes nothing: a pod of that size reaches the bound alone."""
    return Row(tuple(min(size, row.bound) for size in row.sizes), row.bound)


def _implies(way: tuple[Row, ...], other: tuple[Row, ...]) -> bool:
    """Whether each set that reaches one way reaches another one, for each kind by itself."""
    return all(
        any(all(a * wanted.bound <= b * row.bound for a, b in zip(row.sizes, wanted.sizes, strict=True)) for row in way)
        for wanted in other
    )
