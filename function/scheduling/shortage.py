"""Works out what a full pool lacks for an engine, and says it as a rejection.

Terms:

- The *gap* of an option is the number of nodes that would have to be added to a pool, at least.
- A pool whose nodes are shared is *full* if it has too few free devices, or too little of a resource, on all nodes
  together. It is *fragmented* if it has enough, and a pod may still find too little on each node.

Deliberately coarse: of a shared pool, the largest pod of an engine is looked at, and of its claims the largest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from function.scheduling import packing
from function.scheduling.account import Free
from function.scheduling.devices import RESOURCES
from function.scheduling.fit import Option
from function.scheduling.fleet import Cluster, Pool
from function.scheduling.hint import Hint
from function.scheduling.job import Engine
from function.scheduling.packing import NodeCapacity, PodDemand
from function.scheduling.rejection import Fragmented, Full
from function.scheduling.sharing import Pods, Room


@dataclass(frozen=True, slots=True)
class Shortage:
    """What one pool lacks for one option of an engine."""

    gap: int
    """Nodes that are missing; zero or less if the option has room there."""
    pool: str
    reason: Full | Fragmented
    """The rejection, without the deployments that hold the pool."""

    @property
    def order(self) -> tuple[int, str, int, int]:
        """A key that sorts the smallest gap first."""
        return self.gap, self.pool, self.reason.needs, self.reason.free


def shortages(engine: Engine, options: Iterable[Option], cluster: Cluster, free: Sequence[Free]) -> Iterator[Shortage]:
    """Yield what each option of an engine lacks on each of its pools. `free` is in the order of the pools."""
    for option in options:
        for i, nodes in option.nodes:
            has = free[i]
            if isinstance(has, int):
                pool = cluster.pools[i].name
                yield Shortage(nodes - has, pool, Full(pool, nodes, has))
        for i, pods in option.pods:
            has = free[i]
            if isinstance(has, Hint):
                yield _of_hint(has, cluster.pools[i], pods, engine.copies)
            elif isinstance(has, Room):
                yield _of_room(has, cluster.pools[i], pods, engine)


def _of_hint(hint: Hint, pool: Pool, pods: Pods, copies: int) -> Shortage:
    demand, count = max(pods, key=_size)
    size = sum(n for n, _ in demand.devices)
    fit, unit = max(0, hint.fitting(size)), _named(pool, [e for _, entries in demand.devices for e in entries])
    lacks = int(hint.taking("", pods, copies) is None)
    needs = copies * sum(number * sum(n for n, _ in other.devices) for other, number in pods)
    if lacks and needs > hint.free:
        return Shortage(lacks, pool.name, Full(pool.name, needs, hint.free, unit=unit))
    return Shortage(lacks, pool.name, Fragmented(pool.name, size, count * copies, fit, hint.free, unit))


def _of_room(room: Room, pool: Pool, pods: Pods, engine: Engine) -> Shortage:
    if room.taking(engine.name, pods, engine.copies) is not None:
        demand, count = max(pods, key=_size)
        return Shortage(0, pool.name, _fragmented(room, pool, demand, count * engine.copies, _unit(room, demand)))
    for unit in _units(pool, pods):
        needs = engine.copies * sum(count * _amount(demand, unit) for demand, count in pods)
        total = sum(n * _amount_of_node(node, unit) for node, n in room.nodes)
        free = total - sum(count * _amount(demand, unit) for demand, count in room.everyone)
        if needs > free:
            each = max(1, max((_amount_of_node(node, unit) for node, _ in room.nodes), default=1))
            return Shortage(-(-(needs - free) // each), pool.name, Full(pool.name, needs, free, unit=_word(pool, unit)))
    demand, count = max(pods, key=_size)
    return Shortage(1, pool.name, _fragmented(room, pool, demand, count * engine.copies, _unit(room, demand)))


_Unit = tuple[int, ...] | str
"""What is counted: the entries of the shape that a claim may draw on, or the name of a resource."""


def _units(pool: Pool, pods: Pods) -> list[_Unit]:
    claimed = {entries: None for demand, _ in sorted(pods, key=_size, reverse=True) for _, entries in demand.devices}
    known = [name for name, has in zip(RESOURCES, pool.shape.node, strict=True) if has is not None]
    return [*claimed, *known]


def _amount(demand: PodDemand, unit: _Unit) -> int:
    """Return what a pod takes for certain. A claim that may draw on other entries as well may leave these free."""
    if isinstance(unit, str):
        return demand.resources[RESOURCES.index(unit)]
    return sum(count for count, entries in demand.devices if set(entries) <= set(unit))


def _amount_of_node(node: NodeCapacity, unit: _Unit) -> int:
    if isinstance(unit, str):
        return node.resources[RESOURCES.index(unit)] or 0
    return sum(node.devices[entry] for entry in unit)


def _unit(room: Room, demand: PodDemand) -> _Unit:
    """Return what a pod may find too little of on each node: its largest claim, unless devices alone have room."""
    claims = sorted(demand.devices, reverse=True)
    if claims and not _fits_by(room, demand, None):
        return claims[0][1]
    names = [name for i, name in enumerate(RESOURCES) if demand.resources[i] and not _fits_by(room, demand, i)]
    return names[0] if names else (claims[0][1] if claims else "cpu")


def _fits_by(room: Room, demand: PodDemand, resource: int | None) -> bool:
    """Whether a pool would be safe with one more pod if only devices were counted, or only one resource."""
    only = {_only(node, resource): n for node, n in room.nodes}
    pods: dict[PodDemand, int] = {}
    for other, count in [*room.everyone, (demand, 1)]:
        kept = _kept(other, resource)
        pods[kept] = pods.get(kept, 0) + count
    return packing.is_safe(only, pods)


def _only(node: NodeCapacity, resource: int | None) -> NodeCapacity:
    cpu, memory, storage = (has if i == resource else None for i, has in enumerate(node.resources))
    return NodeCapacity(node.devices, (cpu, memory, storage))


def _kept(demand: PodDemand, resource: int | None) -> PodDemand:
    cpu, memory, storage = (asks if i == resource else 0 for i, asks in enumerate(demand.resources))
    return PodDemand(demand.devices if resource is None else (), (cpu, memory, storage))


def _fragmented(room: Room, pool: Pool, demand: PodDemand, pods: int, unit: _Unit) -> Fragmented:
    nodes, everyone = dict(room.nodes), dict(room.everyone)
    total = sum(n * _amount_of_node(node, unit) for node, n in room.nodes)
    free = total - sum(count * _amount(other, unit) for other, count in room.everyone)
    fit = packing.most_more(nodes, everyone, demand, pods)
    return Fragmented(pool.name, _amount(demand, unit), pods, fit, free, _word(pool, unit))


def _word(pool: Pool, unit: _Unit) -> str:
    return unit if isinstance(unit, str) else _named(pool, unit)


def _named(pool: Pool, entries: Iterable[int]) -> str:
    return "/".join(pool.shape.devices[entry].name for entry in sorted(set(entries)))


def _size(pair: tuple[PodDemand, int]) -> tuple[int, tuple[int, int, int], int]:
    demand, count = pair
    return sum(n for n, _ in demand.devices), demand.resources, count
