"""Can a cluster take a replica, and on which pools? Exactly: if there is a way it is found, and always the same.

An engine stays on one pool where any pool of the cluster satisfies all its members, whether or not there is room: a
gang is never split for lack of it. Which pools an engine may take depends on shapes alone and is worked out once for
clusters of like pools; what is left for each cluster is to share out its free nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import product

from function.core import deadline
from function.scheduling.budget import StepLimit
from function.scheduling.devices import Matcher, Offer, Shortfall
from function.scheduling.fleet import Cluster, NodeShape, PlacedEngine, PlacedMember, Pool, Replica
from function.scheduling.job import Engine, Member

_MOST_STEPS = 100_000
"""Pools tried for one replica on one cluster. 8 engines over 8 pools take some dozens."""
_MOST_IN_ALL = 300_000
"""Pools tried for one job on all clusters. From then on a search is given few steps only, which still find what is
found at once: work stays linear in the fleet, whatever is asked."""
_FEW_STEPS = 100
"""Steps of one search after that. They find an easy fit, and keep total work linear in the fleet."""


@dataclass(frozen=True, slots=True, order=True)
class Waste:
    """How much more a replica is given than it asked for; the less, the better the fit."""

    splits: int = 0
    """Engines that lie on two pools."""
    memory: int = 0
    """Bytes of the largest device each node draws on, over all its nodes."""
    spare: int = 0
    """Devices left over, over all its nodes."""

    def __add__(self, other: Waste) -> Waste:
        return Waste(self.splits + other.splits, self.memory + other.memory, self.spare + other.spare)


@dataclass(frozen=True, slots=True)
class Option:
    """One way to put an engine on a cluster: the pool of each member, by its place in the cluster."""

    pools: tuple[int, ...]
    offers: tuple[Offer, ...]
    nodes: tuple[tuple[int, int], ...]
    """Whole nodes taken of each pool."""
    waste: Waste


@dataclass(frozen=True, slots=True)
class Fit:
    """A replica on a cluster: an option for each engine, and what they cost together."""

    engines: tuple[tuple[Engine, Option], ...]
    waste: Waste

    def placed(self, cluster: Cluster) -> tuple[PlacedEngine, ...]:
        return tuple(_placed(engine, option, cluster) for engine, option in self.engines)


@dataclass(frozen=True, slots=True)
class NoFit:
    """Why there is no way. Only what kind of no it is; the explanation is worked out where somebody asks."""

    full: bool
    """Some pools have the devices, and too few free nodes."""
    gave_up: bool = False


_NO_DEVICES = NoFit(full=False)
_FULL = NoFit(full=True)
_GAVE_UP = NoFit(full=True, gave_up=True)


class _Partial(Enum):
    PARTIAL = "some member would be given Synthetic devices only"


_PARTIAL = _Partial.PARTIAL


@dataclass(slots=True)
class Fitter:
    """Fits replicas of one job on clusters, remembering what it learned about shapes."""

    engines: tuple[Engine, ...]
    matcher: Matcher = field(default_factory=Matcher)
    steps: int = 0
    """Pools tried in all."""
    searches: int = 0
    _found: dict[tuple[int, ...], Fit | NoFit] = field(default_factory=dict)
    """By the options that there are, and the room: clusters of like pools with like room are searched once."""
    _options: dict[tuple[tuple[str, int], ...], tuple[tuple[Option, ...], ...]] = field(default_factory=dict)
    _whole: dict[tuple[str, int], Waste | _Partial | None] = field(default_factory=dict)
    _alive: list[NodeShape] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.engines = tuple(sorted(self.engines, key=lambda engine: engine.name))

    def fit(
        self, cluster: Cluster, free: Mapping[str, int], pinned: Mapping[str, tuple[str, ...]] | None = None
    ) -> Fit | NoFit:
        """The best way to put a replica on a cluster. An engine named in `pinned` may only take these pools."""
        options = self.options(cluster)
        room = [free.get(pool.name, 0) for pool in cluster.pools]
        if pinned:
            return self._searched(_only_on(pinned, self.engines, options, cluster), room)
        key = (id(options), *room)
        if key not in self._found:
            self._found[key] = self._searched(options, room)
        return self._found[key]

    def _searched(self, options: tuple[tuple[Option, ...], ...], room: list[int]) -> Fit | NoFit:
        if not all(options):
            return _NO_DEVICES
        limit = StepLimit(min(_MOST_STEPS, max(_FEW_STEPS, _MOST_IN_ALL - self.steps)))
        search = _Search(options, room, limit)
        search.run()
        self.searches += 1
        self.steps += limit.steps
        if search.best is None:
            return _GAVE_UP if limit.exhausted else _FULL
        return Fit(tuple(zip(self.engines, search.best, strict=True)), search.waste)

    def where_it_is(self, replica: Replica, cluster: Cluster) -> Fit | None:
        """The fit that takes just the nodes that a replica has; None where the job would take others."""
        fit = self.fit(cluster, replica.nodes(), pins(replica, self.engines))
        return fit if isinstance(fit, Fit) and fit.placed(cluster) == replica.engines else None

    def lower_bound(self, cluster: Cluster) -> Waste | None:
        """What a replica would be given too much of if all nodes were free; None where the devices are lacking."""
        bound = Waste()
        for engine in self.engines:
            alone = [self._alone(engine, pool.shape) for pool in cluster.pools]
            claimed = [waste for waste in alone if isinstance(waste, Waste)]
            if not claimed or _PARTIAL in alone:  # then what one pool may take depends on the others
                return self._lower_bound_of_options(cluster)
            bound += min(claimed)
        return bound

    def _alone(self, engine: Engine, shape: NodeShape) -> Waste | _Partial | None:
        """The waste of a whole engine on nodes of a shape, if every member that asks for devices claims them there:
        then it may lie there whatever other pools there are. None if some member finds no devices."""
        key = engine.name, id(shape)
        if key not in self._whole:
            self._alive.append(shape)
            offers = [self.matcher.offer(member, shape) for member in engine.members]
            self._whole[key] = _whole_waste(engine, offers)
        return self._whole[key]

    def _lower_bound_of_options(self, cluster: Cluster) -> Waste | None:
        options = self.options(cluster)
        return sum((of[0].waste for of in options), start=Waste()) if all(options) else None

    def options(self, cluster: Cluster) -> tuple[tuple[Option, ...], ...]:
        """For each engine the ways to put it on a cluster, best first, whether or not there is room."""
        key = tuple((pool.name, id(pool.shape)) for pool in cluster.pools)
        if key not in self._options:
            deadline.check()
            self._alive.extend(pool.shape for pool in cluster.pools)
            self._options[key] = tuple(self._engine_options(engine, cluster.pools) for engine in self.engines)
        return self._options[key]

    def offers(self, member: Member, pools: tuple[Pool, ...]) -> dict[int, Offer]:
        """The pools that a member may take: where it can claim on one, only those on which it can."""
        found = [(i, self.matcher.offer(member, pool.shape)) for i, pool in enumerate(pools)]
        offers = {i: offer for i, offer in found if isinstance(offer, Offer)}
        if any(offer.claims for offer in offers.values()):
            return {i: offer for i, offer in offers.items() if offer.claims or not member.requests}
        return offers

    def _engine_options(self, engine: Engine, pools: tuple[Pool, ...]) -> tuple[Option, ...]:
        members = [self.offers(member, pools) for member in engine.members]
        whole = [(i,) * len(members) for i in range(len(pools)) if all(i in offers for offers in members)]
        claiming = [w for w in whole if _claims(w, members)] or [
            split for split in product(*members) if len(set(split)) > 1 and _claims(split, members)
        ]
        options = [_option(engine, where, members) for where in claiming]
        return tuple(sorted(options, key=lambda o: (o.waste, tuple(pools[i].name for i in o.pools))))


def pins(replica: Replica, engines: Sequence[Engine]) -> dict[str, tuple[str, ...]]:
    """The pools that a replica's engines are on: an engine whose members are the same stays there."""
    roles = {engine.name: tuple(m.role for m in engine.members) for engine in engines}
    return {
        engine.name: tuple(member.pool for member in engine.members)
        for engine in replica.engines
        if tuple(m.role for m in engine.members) == roles.get(engine.name)
    }


def _only_on(
    pinned: Mapping[str, tuple[str, ...]],
    engines: tuple[Engine, ...],
    options: tuple[tuple[Option, ...], ...],
    cluster: Cluster,
) -> tuple[tuple[Option, ...], ...]:
    """The options of engines, of those that are pinned only the ones on their pools."""
    return tuple(
        tuple(o for o in of if e.name not in pinned or _pool_names(o, cluster) == pinned[e.name])
        for e, of in zip(engines, options, strict=True)
    )


def _whole_waste(engine: Engine, found: Sequence[Offer | Shortfall]) -> Waste | _Partial | None:
    offers = [offer for offer in found if isinstance(offer, Offer)]
    if len(offers) < len(found):
        return None
    claims = [offer.claims for offer in offers]
    if not any(claims) or not all(c for c, member in zip(claims, engine.members, strict=True) if member.requests):
        return _PARTIAL
    whole = (0,) * len(offers)
    return _option(engine, whole, [{0: offer} for offer in offers]).waste


def _claims(where: tuple[int, ...], members: list[dict[int, Offer]]) -> bool:
    return any(offers[i].claims for i, offers in zip(where, members, strict=True))


def _option(engine: Engine, where: tuple[int, ...], members: list[dict[int, Offer]]) -> Option:
    offers = tuple(of[i] for i, of in zip(where, members, strict=True))
    nodes: dict[int, int] = {}
    memory = spare = 0
    for i, offer, member in zip(where, offers, engine.members, strict=True):
        if offer.claims:
            taken = member.pods * engine.copies
            nodes[i] = nodes.get(i, 0) + taken
            memory += offer.memory * taken
            spare += offer.spare * taken
    return Option(where, offers, tuple(sorted(nodes.items())), Waste(int(len(set(where)) > 1), memory, spare))


def _pool_names(option: Option, cluster: Cluster) -> tuple[str, ...]:
    return tuple(cluster.pools[i].name for i in option.pools)


def _placed(engine: Engine, option: Option, cluster: Cluster) -> PlacedEngine:
    members = zip(engine.members, option.pools, option.offers, strict=True)
    return PlacedEngine(
        name=engine.name,
        copies=engine.copies,
        members=tuple(PlacedMember(m.role, m.pods, cluster.pools[i].name, offer.claims) for m, i, offer in members),
    )


@dataclass(slots=True)
class _Search:
    """Gives every engine one of its options within the free nodes: depth first, cut where it cannot improve."""

    options: tuple[tuple[Option, ...], ...]
    room: list[int]
    limit: StepLimit
    best: tuple[Option, ...] | None = None
    waste: Waste = field(default_factory=Waste)
    _lower_bounds: list[Waste] = field(default_factory=list)
    """The least that the engines from here on must add."""
    _dead: set[tuple[int, ...]] = field(default_factory=set)
    """States, each an engine and the room that is left for it, from which there is no fit."""

    def run(self) -> None:
        self._lower_bounds = [Waste()]
        for options in reversed(self.options):
            self._lower_bounds.insert(0, self._lower_bounds[0] + options[0].waste)
        self._from(0, (), Waste())

    def _from(self, i: int, chosen: tuple[Option, ...], so_far: Waste) -> bool:
        """Whether any way was found from here. The first of equals stands, so options come in their final order."""
        if self.best is not None and so_far + self._lower_bounds[i] >= self.waste:
            return True  # there may be one, and it is no better
        if i == len(self.options):
            self.best, self.waste = chosen, so_far
            return True
        state = (i, *self.room)
        if state in self._dead:
            return False
        found = False
        for option in self.options[i]:
            if not self.limit.step():
                return found  # before the state is remembered as dead: not all of its options were tried
            if all(self.room[pool] >= nodes for pool, nodes in option.nodes):
                self._take(option, 1)
                found |= self._from(i + 1, (*chosen, option), so_far + option.waste)
                self._take(option, -1)
        if not found:
            self._dead.add(state)
        return found

    def _take(self, option: Option, times: int) -> None:
        for pool, nodes in option.nodes:
            self.room[pool] -= times * nodes
