"""The room on pools whose nodes are shared: what pods take of a node, and whether all pods of a pool fit.

Terms:

- The *needs* of a pod are what its spec asks for: claims of devices, and requests of cpu, memory and ephemeral storage.
- The *demand* of a pod is what it takes of a node of one shape: for each claim, the entries of the shape that it may
  draw on. It is found by evaluating the claim's selectors on the entries.
- A *state* of an engine is what its pods may be at one moment. An engine that runs one spec has one state. While an
  edit rolls out, it has pods of the old spec and of the new one, in every mixture through which a rolling update
  without surge passes.
- A *room* is the nodes of a shared pool with the states of all engines on it. It is *safe* if each pod fits wherever
  the others are, in every combination of states (see `packing.py`).

A replica fits if the room with it is safe: then its own pods find a place, and those of the others find one again after
any restart.

Deliberately coarse:

- The engines of different replicas are taken to be in any combination of states. If there are more than
  `_MOST_COMBINATIONS`, every copy of an engine that rolls is charged for all of its specs.
- An edit is charged together with the spec that served last. Pods of a spec between the two are not: few of them can be
  ready, and a rolling update deletes those that are not before all others.
- A pod that does not fit on an empty node of the shape is charged for the whole node. The class was edited, and where
  the devices are that the pod holds is not known.
- Limits of a node other than devices, cpu, memory and ephemeral storage are not counted, such as its number of pods.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product

from function.scheduling import packing
from function.scheduling.devices import Matcher
from function.scheduling.fleet import NodeShape, PlacedEngine, PodNeeds, Pool, Specs
from function.scheduling.packing import NodeCapacity, PodDemand, Resources
from function.scheduling.selector import Selector

_MOST_COMBINATIONS = 256
"""Combinations of states that are tried one by one."""

NO_DEMAND = PodDemand()
Pods = frozenset[tuple[PodDemand, int]]
"""Pods by their demand: pairs of a demand and a number of pods."""
States = tuple[Pods, ...]
"""The states of one engine on one pool; at least one."""


@dataclass(slots=True)
class Demands:
    """Finds the demands of pods, each once for each shape.

    All methods raise what the matcher raises: Exhausted and deadline.Exceeded.
    """

    matcher: Callable[[], Matcher] = field(default_factory=lambda: _once(Matcher))
    """Returns the matcher. It is asked for only if a pool is shared."""
    _known: dict[tuple[PodNeeds, NodeShape], PodDemand] = field(default_factory=dict)

    def of(self, needs: PodNeeds, shape: NodeShape) -> PodDemand:
        """Return what a pod takes of a node of a shape."""
        key = needs, shape
        if key not in self._known:
            self._known[key] = self._found(needs, shape)
        return self._known[key]

    def states(self, specs: Specs, shared: Iterable[Pool]) -> Iterator[tuple[str, States]]:
        """Yield the states of each engine of a replica, with the name of the pool, on pools whose nodes are shared.

        `specs` are those of the replica of which pods may run.
        """
        for pool in shared:
            for rolling in self.by_engine(specs, pool).values():
                yield pool.name, mixtures(rolling)

    def by_engine(self, specs: Specs, pool: Pool) -> dict[str, list[tuple[Pods, int]]]:
        """Return the pods of one copy of each engine on a pool, and the copies, for each of the specs, by engine."""
        found: dict[str, list[tuple[Pods, int]]] = {}
        for engine in (engine for spec in specs for engine in spec):
            if pods := self.per_copy(engine, pool):
                found.setdefault(engine.name, []).append((pods, engine.copies))
        return found

    def per_copy(self, engine: PlacedEngine, pool: Pool) -> Pods:
        """Return the pods of one copy of an engine on a pool; none of those that take nothing."""
        pods: Counter[PodDemand] = Counter()
        for member in engine.members:
            if member.pool == pool.name and (demand := self.of(member.needs(), pool.shape)) != NO_DEMAND:
                pods[demand] += member.pods
        return frozenset(pods.items())

    def _found(self, needs: PodNeeds, shape: NodeShape) -> PodDemand:
        claims = [
            (claimed.count, self._entries(claimed.selectors, claimed.device_class, shape)) for claimed in needs.claims
        ]
        cpu, memory, storage = (
            0 if has is None else min(asks, has) for asks, has in zip(needs.resources, shape.node, strict=True)
        )
        demand = PodDemand(tuple(sorted(claims)), (cpu, memory, storage))
        return demand if packing.fits_empty(capacity(shape), demand) else replace(demand, devices=whole_node(shape))

    def _entries(self, selectors: Sequence[Selector] | None, device_class: str, shape: NodeShape) -> tuple[int, ...]:
        if selectors is None:
            return ()
        matcher = self.matcher()
        return tuple(
            i
            for i, device in enumerate(shape.devices)
            if device.count > 0 and device.device_class == device_class and matcher.matches(selectors, device) is True
        )


def whole_node(shape: NodeShape) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Return claims of all devices of a node that can be claimed."""
    return tuple(
        sorted((d.count, (i,)) for i, d in enumerate(shape.devices) if d.count > 0 and d.device_class is not None)
    )


def capacity(shape: NodeShape) -> NodeCapacity:
    """Return what an empty node of a shape has. Synthetic devices are none: no pod can claim them."""
    devices = tuple(max(0, d.count) if d.device_class is not None else 0 for d in shape.devices)
    return NodeCapacity(devices, shape.node)


@dataclass(frozen=True, slots=True)
class Room:
    """The nodes of a shared pool, and the pods on it. Compares by content."""

    nodes: frozenset[tuple[NodeCapacity, int]]
    """Pairs of a capacity and a number of nodes."""
    pods: Pods = frozenset()
    """The pods of engines that have one state."""
    rolling: tuple[States, ...] = ()
    """The states of each engine that has several, sorted."""
    own: tuple[tuple[str, tuple[tuple[Pods, int], ...]], ...] = ()
    """Of engines that are to be edited in their place, by name: the pods of one copy and the copies, for each spec."""
    is_partial: bool = False
    """Whether only some of the pods are counted, on what the others leave of the nodes."""

    @property
    def is_safe(self) -> bool:
        """Whether each pod fits, wherever the others are."""
        return _is_safe(self)

    def plus(self, states: Iterable[States]) -> Room:
        """Return the room with more engines."""
        pods, rolling = Counter(dict(self.pods)), list(self.rolling)
        for one in states:
            if len(one) == 1:
                pods.update(dict(one[0]))
            else:
                rolling.append(one)
        return replace(
            self,
            pods=frozenset(pods.items()),
            rolling=tuple(sorted(rolling, key=lambda states: list(map(_order, states)))),
        )

    def minus(self, states: Iterable[States]) -> Room:
        """Return the room without engines that it has.

        A partial room does not tell which of its pods are theirs, so that all stay.
        """
        if self.is_partial:
            return self
        pods, rolling = Counter(dict(self.pods)), list(self.rolling)
        for one in states:
            if len(one) == 1:
                pods.subtract(dict(one[0]))
            else:
                rolling.remove(one)
        return replace(self, pods=frozenset((+pods).items()), rolling=tuple(rolling))

    def edited(self, engines: Mapping[str, Sequence[tuple[Pods, int]]]) -> Room:
        """Return the room with engines that are to be edited: `taking` them gives them one more spec."""
        return replace(self, own=tuple(sorted((name, tuple(specs)) for name, specs in engines.items())))

    def taking(self, engine: str, pods: Pods, copies: int) -> Room | None:
        """Return the room with one more engine, or with another spec of one that is edited; None if it is not safe."""
        before = dict(self.own).get(engine, ())
        own = tuple(pair for pair in self.own if pair[0] != engine)
        room = replace(self, own=own).plus([mixtures([*before, (pods, copies)])])
        return room if room.is_safe else None

    @property
    def everyone(self) -> Pods:
        """All pods; of engines that have several states, those of the largest."""
        pods = Counter(dict(self.pods))
        for states in self._all_rolling:
            pods.update(dict(_joined(states)))
        return frozenset(pods.items())

    @property
    def _all_rolling(self) -> tuple[States, ...]:
        return (*self.rolling, *(mixtures(specs) for _, specs in self.own))

    def combinations(self) -> Iterator[dict[PodDemand, int]]:
        """Yield the pods of the pool, for each combination of states."""
        rolling = self._all_rolling
        if math.prod(map(len, rolling)) > _MOST_COMBINATIONS:
            rolling = tuple((_joined(states),) for states in rolling)
        for chosen in product(*rolling):
            pods = Counter(dict(self.pods))
            for state in chosen:
                pods.update(dict(state))
            yield pods


@lru_cache(maxsize=16_384)
def _is_safe(room: Room) -> bool:
    nodes = dict(room.nodes)
    return all(packing.is_safe(nodes, pods) for pods in room.combinations())


def mixtures(specs: Sequence[tuple[Pods, int]]) -> States:
    """Return the states of an engine whose copies go from one spec to the next, without surge.

    Each spec is the pods of one copy, and the number of copies. A state whose pods another state has as well is left
    out. One whose pods are only smaller is not: smaller pods may lie together on a node that none of the larger could
    share, and so block it for somebody else.
    """
    return _mixtures(tuple(dict.fromkeys(specs)))


@lru_cache(maxsize=4_096)
def _mixtures(specs: tuple[tuple[Pods, int], ...]) -> States:
    *before, (last, copies) = specs
    most = max(copies for _, copies in specs)
    if math.prod(n + 1 for _, n in before) > _MOST_COMBINATIONS:
        return (_at_most(specs, most),)
    states = set()
    for numbers in product(*(range(n + 1) for _, n in before)):
        if sum(numbers) <= most:
            rest = min(copies, most - sum(numbers))
            of_before = (_times(pods, n) for (pods, _), n in zip(before, numbers, strict=True))
            states.add(_sum([*of_before, _times(last, rest)]))
    largest = [state for state in states if not any(_is_part(state, other) for other in states)]
    return tuple(sorted(largest, key=_order))


def _order(pods: Pods) -> list[tuple[tuple[tuple[int, tuple[int, ...]], ...], Resources, int]]:
    return sorted((demand.devices, demand.resources, count) for demand, count in pods)


def _is_part(pods: Pods, others: Pods) -> bool:
    """Whether others have all of some pods, and more."""
    return pods != others and Counter(dict(pods)) <= Counter(dict(others))


def _at_most(specs: Iterable[tuple[Pods, int]], copies: int) -> Pods:
    """Return the pods of which no mixture of some specs, with so many copies in all, has more."""
    alone: Counter[PodDemand] = Counter()
    each: Counter[PodDemand] = Counter()
    for pods, n in specs:
        alone.update(dict(_times(pods, n)))
        each |= Counter(dict(pods))
    return frozenset((demand, min(count, copies * each[demand])) for demand, count in alone.items())


def _joined(states: States) -> Pods:
    """Return the pods of which none of several states has more: all that differs is charged."""
    joined: Counter[PodDemand] = Counter()
    for state in states:
        joined |= Counter(dict(state))
    return frozenset(joined.items())


def _times(pods: Pods, copies: int) -> Pods:
    return frozenset((demand, count * copies) for demand, count in pods if copies)


def _sum(several: Iterable[Pods]) -> Pods:
    total: Counter[PodDemand] = Counter()
    for pods in several:
        total.update(dict(pods))
    return frozenset(total.items())


def _once(make: Callable[[], Matcher]) -> Callable[[], Matcher]:
    made: list[Matcher] = []

    def get() -> Matcher:
        if not made:
            made.append(make())
        return made[0]

    return get
