"""Fits one replica on the pools of one cluster, exactly: if there is a way it is found, and it is always the same.

Terms:

- An *engine* has one or two *members*. A member runs pods, and each pod that claims devices takes a whole node, or, on
  a pool whose nodes are shared, the devices that it claims.
- An *option* of an engine is one way to put it on a cluster: a pool for each member, and what it takes there.
- A *whole* option puts all members on one pool. A *split* option puts them on several.
- The *room* of a cluster is what is free on each pool, in the order of its pools.
- *Waste* is how much more a replica gets than it asked for. It orders options and fits: least waste is best fit.
- A *pin* restricts an engine to certain pools. A replica that is updated in place is pinned to the pools that it has.

Phases of `Fitter.fit`:

1. Ask the matcher which pools each member may take, and how (see `devices.py`).
2. List the options of each engine, best first. Split options are listed only if no pool satisfies all members: a gang
   that a pool could host, but that is full there, waits or goes to another cluster.
3. If the replica has pins, remove the options on other pools.
4. Search depth first for an option for each engine, so that all fit into the room together, with the least waste. A
   branch is cut if it cannot improve on the best fit so far, or if it was found to lead nowhere.

Phases 1 and 2 depend only on the names and shapes of the pools, so clusters with like pools share their result. Phase 4
depends only on the options and the room, so like clusters with like room share that as well.

`lower_bound` takes phase 1 and 2 alone, and most often not even that: it adds up the least waste of each engine. It
lets a caller rank clusters without counting what is free on them.

Deliberately coarse:

- A pod that claims devices takes its node whole, unless nodes are shared. The devices that it leaves over are waste.
- Requests of cpu, memory and ephemeral storage are compared with an empty node. They are added up only on shared nodes.
- The search is bounded in steps. 8 engines over 8 pools take some dozens, and an adversarial input would take
  exponentially many. When all searches of one job have taken `_MOST_IN_ALL` steps, each further search gets only a few:
  those find an easy fit, and total work stays linear in the fleet. A search at its limit reports that it gave up, so
  that nobody takes its answer for a proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import product

from function.core import deadline
from function.scheduling.account import Free, empty_room, with_nodes
from function.scheduling.backtracking import is_searchable
from function.scheduling.budget import StepLimit
from function.scheduling.devices import Matcher, Offer, Oversized, Shortfall, oversized
from function.scheduling.fleet import Claimed, Cluster, NodeShape, PlacedEngine, PlacedMember, PodNeeds, Pool, Replica
from function.scheduling.job import Engine, Member
from function.scheduling.packing import PodDemand
from function.scheduling.sharing import NO_DEMAND, Demands, Pods, Room, capacity

_MOST_STEPS = 100_000
"""Steps of the search for one replica on one cluster; a step tries one option. 8 engines over 8 pools take some dozens.
"""
_MOST_IN_ALL = 300_000
"""Steps of all searches of one job, after which each search is limited to `_FEW_STEPS`."""
_FEW_STEPS = 100
"""Steps of one search after that. They find an easy fit, and keep total work linear in the fleet."""


@dataclass(frozen=True, slots=True, order=True)
class Waste:
    """How much more a replica gets than it asked for. Compares by its fields in order; less is a better fit."""

    splits: int = 0
    """Engines on more than one pool."""
    memory: int = 0
    """Bytes of memory of the largest device that each node draws on, summed over all nodes."""
    spare: int = 0
    """Devices that are left over, summed over all nodes."""

    def __add__(self, other: Waste) -> Waste:
        return Waste(self.splits + other.splits, self.memory + other.memory, self.spare + other.spare)


@dataclass(frozen=True, slots=True)
class Option:
    """One way to put an engine on a cluster."""

    pools: tuple[int, ...]
    """The pool of each member, as a position in `Cluster.pools`."""
    offers: tuple[Offer, ...]
    """How a node of that pool satisfies the member, in the same order."""
    nodes: tuple[tuple[int, int], ...]
    """Pairs of a pool, as a position in `Cluster.pools`, and the whole nodes that the engine takes of it."""
    waste: Waste
    pods: tuple[tuple[int, Pods], ...] = ()
    """Pairs of a pool whose nodes are shared, and the pods of one copy of the engine on it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A way to put a replica on a cluster."""

    engines: tuple[tuple[Engine, Option], ...]
    """Each engine with its option, sorted by the name of the engine."""
    waste: Waste
    """The waste of all engines together."""
    mixed: int = 0
    """How mixed the pods are on the shared pools that it takes (see `mixed`), summed over the engines."""

    def placed(self, cluster: Cluster) -> tuple[PlacedEngine, ...]:
        """Return the engines on the pools of a cluster, which must have the pools that the fit was made for."""
        return tuple(_placed(engine, option, cluster) for engine, option in self.engines)


@dataclass(frozen=True, slots=True)
class NoFit:
    """A replica does not fit. This has only the kind of the failure; `explain.py` works out the details on demand."""

    full: bool
    """Whether the pools have the devices, and too few free nodes."""
    gave_up: bool = False
    """Whether the search reached its limit. There may be a fit."""


_NO_DEVICES = NoFit(full=False)
_FULL = NoFit(full=True)
_GAVE_UP = NoFit(full=True, gave_up=True)


class _Partial(Enum):
    PARTIAL = "some member would be given Synthetic devices only"


_PARTIAL = _Partial.PARTIAL


_PoolKey = tuple[str, int, bool]


def _names_and_shapes(cluster: Cluster) -> tuple[_PoolKey, ...]:
    """Return what the options of a cluster depend on. A shape is told by its identity, so who keeps this holds it."""
    return tuple([(pool.name, id(pool.shape), pool.shared) for pool in cluster.pools])


@dataclass(slots=True)
class Fitter:
    """Fits replicas of one job on clusters, and remembers what it learned about shapes.

    All methods raise Exhausted if the budget of the matcher does not suffice, and deadline.Exceeded.
    """

    engines: tuple[Engine, ...]
    """The engines of the job. Sorted by name when the fitter is made."""
    matcher: Matcher = field(default_factory=Matcher)
    steps: int = 0
    """Steps of all searches so far."""
    searches: int = 0
    """Searches so far. Answers that were remembered are not counted."""
    demands: Demands = field(init=False)
    """What pods take of shared nodes, by the same matcher."""
    _found: dict[tuple[int | Free, ...], Fit | NoFit] = field(default_factory=dict)
    """Results by the identity of the options, and the room."""
    _options: dict[tuple[_PoolKey, ...], tuple[tuple[Option, ...], ...]] = field(default_factory=dict)
    """Options by the names and the shapes of the pools."""
    _whole: dict[_PoolKey, Waste | _Partial | None] = field(default_factory=dict)
    """Waste by engine, shape, and whether nodes are shared."""
    _bounds: dict[tuple[_PoolKey, ...], Waste | None] = field(default_factory=dict)
    """The least waste by names and shapes of pools."""
    _alive: list[NodeShape] = field(default_factory=list)
    """Shapes whose identity is a key above. They are held so that no other shape gets the same identity."""

    def __post_init__(self) -> None:
        self.engines = tuple(sorted(self.engines, key=lambda engine: engine.name))
        self.demands = Demands(lambda: self.matcher)

    def fit(
        self, cluster: Cluster, free: Mapping[str, Free], pinned: Mapping[str, tuple[str, ...]] | None = None
    ) -> Fit | NoFit:
        """Return the fit with the least waste, or NoFit.

        Args:
            cluster: The cluster.
            free: What is free by the name of the pool. A pool that is missing has nothing.
            pinned: For engines by name, the only pools that their members may take, in the order of the members.
        """
        options = self.options(cluster)
        room = [free.get(pool.name, 0) for pool in cluster.pools]
        if pinned:
            return self._searched(_only_on(pinned, self.engines, options, cluster), room)
        key = (id(options), *room)
        if key not in self._found:
            self._found[key] = self._searched(options, room)
        return self._found[key]

    def _searched(self, options: tuple[tuple[Option, ...], ...], room: list[Free]) -> Fit | NoFit:
        if not all(options):
            return _NO_DEVICES
        limit = StepLimit(min(_MOST_STEPS, max(_FEW_STEPS, _MOST_IN_ALL - self.steps)))
        search = _Search(self.engines, options, room, limit)
        search.run()
        self.searches += 1
        self.steps += limit.steps
        if search.best is None:
            return _GAVE_UP if limit.exhausted else _FULL
        shared = sum(mixed(option, room) for option in search.best)
        return Fit(tuple(zip(self.engines, search.best, strict=True)), search.waste, shared)

    def where_it_is(self, replica: Replica, cluster: Cluster) -> Fit | None:
        """Return the fit that takes exactly the nodes that a replica has, or None if there is no such fit.

        The replica has them even if a pool has become too small for it.
        """
        fit = self.fit(
            cluster, {pool.name: _held(replica, pool) for pool in cluster.pools}, pins(replica, self.engines)
        )
        return fit if isinstance(fit, Fit) and fit.placed(cluster) == replica.engines else None

    def lower_bound(self, cluster: Cluster) -> Waste | None:
        """Return the least waste of a replica if all nodes of a cluster were free; None if the devices are missing.

        The waste of `fit` is never less. The sum over the engines ignores that they compete for nodes.
        """
        key = _names_and_shapes(cluster)
        if key not in self._bounds:
            self._bounds[key] = self._lower_bound(cluster)
            self._alive.extend(pool.shape for pool in cluster.pools)
        return self._bounds[key]

    def _lower_bound(self, cluster: Cluster) -> Waste | None:
        bound = Waste()
        for engine in self.engines:
            alone = [self._alone(engine, pool) for pool in cluster.pools]
            claimed = [waste for waste in alone if isinstance(waste, Waste)]
            if not claimed or _PARTIAL in alone:  # then what one pool may take depends on the others
                return self._lower_bound_of_options(cluster)
            bound += min(claimed)
        return bound

    def _alone(self, engine: Engine, pool: Pool) -> Waste | _Partial | None:
        """Return the waste of a whole engine on the nodes of a pool; None if some member finds no devices there.

        A number is returned only if every member that requests devices can claim them: such an option exists on every
        cluster with that shape. Otherwise it depends on the other pools of the cluster, and _PARTIAL is returned.
        """
        key = engine.name, id(pool.shape), pool.shared
        if key not in self._whole:
            self._alive.append(pool.shape)
            offers = [self.offer(member, pool) for member in engine.members]
            self._whole[key] = self._whole_waste(engine, offers, pool)
        return self._whole[key]

    def _whole_waste(
        self, engine: Engine, found: Sequence[Offer | Shortfall | Oversized], pool: Pool
    ) -> Waste | _Partial | None:
        offers = [offer for offer in found if isinstance(offer, Offer)]
        if len(offers) < len(found):
            return None
        claims = [offer.claims for offer in offers]
        if not any(claims) or not all(c for c, member in zip(claims, engine.members, strict=True) if member.requests):
            return _PARTIAL
        return self._option(engine, (0,) * len(offers), [{0: offer} for offer in offers], (pool,)).waste

    def _lower_bound_of_options(self, cluster: Cluster) -> Waste | None:
        options = self.options(cluster)
        return sum((of[0].waste for of in options), start=Waste()) if all(options) else None

    def options(self, cluster: Cluster) -> tuple[tuple[Option, ...], ...]:
        """Return the options of each engine in the order of `engines`, best first, without regard to free nodes."""
        key = _names_and_shapes(cluster)
        if key not in self._options:
            deadline.check()
            self._alive.extend(pool.shape for pool in cluster.pools)
            self._options[key] = tuple(self._engine_options(engine, cluster.pools) for engine in self.engines)
        return self._options[key]

    def offers(self, member: Member, pools: tuple[Pool, ...]) -> dict[int, Offer]:
        """Return the offers of the pools that a member may take, by the position of the pool.

        If the member can claim devices on any of the pools, those on which it only matches Synthetic devices are left
        out.
        """
        found = [(i, self.offer(member, pool)) for i, pool in enumerate(pools)]
        offers = {i: offer for i, offer in found if isinstance(offer, Offer)}
        if any(offer.claims for offer in offers.values()):
            return {i: offer for i, offer in offers.items() if offer.claims or not member.requests}
        return offers

    def offer(self, member: Member, pool: Pool) -> Offer | Shortfall | Oversized:
        """Return how a node of a pool satisfies the pods of a member, or why it does not."""
        offer = self.matcher.offer(member, pool.shape)
        if isinstance(offer, Offer) and pool.shared:
            offer = self._on_shared_nodes(member, offer, pool.shape)
        return (isinstance(offer, Offer) and oversized(member.resources, pool.shape.node)) or offer

    def _on_shared_nodes(self, member: Member, offer: Offer, shape: NodeShape) -> Offer | Shortfall:
        """Return an offer of an empty node, if kube-scheduler can do with nodes that others have partly filled as well.

        Where the devices are taken that match, its allocator comes to all others. If a selector fails on one of these,
        or if the search takes too long, the pod stays pending, whatever other nodes have.
        """
        for request, kind in zip(member.requests, offer.classes, strict=True):
            for device in shape.devices:
                if kind is None or device.device_class != kind or device.count <= 0:
                    continue
                if isinstance(verdict := self.matcher.verdict(request, device), str):
                    return Shortfall(request.name, request.count, 0, verdict)
        if not is_searchable(capacity(shape).devices, self.demands.of(_needs(member, offer), shape)):
            largest = max(member.requests, key=lambda request: (request.count, request.name))
            return Shortfall(largest.name, largest.count, 0, searched=False)
        return offer

    def _engine_options(self, engine: Engine, pools: tuple[Pool, ...]) -> tuple[Option, ...]:
        members = [self.offers(member, pools) for member in engine.members]
        whole = [(i,) * len(members) for i in range(len(pools)) if all(i in offers for offers in members)]
        claiming = [w for w in whole if _claims(w, members)] or [
            split for split in product(*members) if len(set(split)) > 1 and _claims(split, members)
        ]
        options = [self._option(engine, where, members, pools) for where in claiming]
        return tuple(sorted(options, key=lambda o: (o.waste, tuple(pools[i].name for i in o.pools))))

    def _option(
        self, engine: Engine, where: tuple[int, ...], members: list[dict[int, Offer]], pools: Sequence[Pool]
    ) -> Option:
        offers = tuple(of[i] for i, of in zip(where, members, strict=True))
        nodes: dict[int, int] = {}
        pods: dict[int, Counter[PodDemand]] = {}
        memory = spare = 0
        for i, offer, member in zip(where, offers, engine.members, strict=True):
            taken = member.pods * engine.copies
            if pools[i].shared:
                demand = self.demands.of(_needs(member, offer), pools[i].shape)
                if demand != NO_DEMAND:
                    pods.setdefault(i, Counter())[demand] += member.pods
            elif offer.claims:
                nodes[i] = nodes.get(i, 0) + taken
                spare += offer.spare * taken
            memory += offer.memory * taken if offer.claims else 0
        return Option(
            pools=where,
            offers=offers,
            nodes=tuple(sorted(nodes.items())),
            waste=Waste(int(len(set(where)) > 1), memory, spare),
            pods=tuple((i, frozenset(of_pool.items())) for i, of_pool in sorted(pods.items())),
        )


def _held(replica: Replica, pool: Pool) -> Free:
    """Return room on a pool for what a replica has of it: its whole nodes, or of shared nodes one for each pod."""
    if not pool.shared:
        return replica.nodes().get(pool.name, 0)
    members = ((engine.copies, member) for engine in replica.engines for member in engine.members)
    return with_nodes(empty_room(pool), pool, sum(n * m.pods for n, m in members if m.pool == pool.name))


def _needs(member: Member, offer: Offer) -> PodNeeds:
    """Return what each pod of a member asks of its node, with the classes by which an offer claims its devices."""
    asked = zip(member.requests, offer.classes, strict=True)
    return PodNeeds(
        tuple(Claimed(r.count, kind, r.selectors) for r, kind in asked if kind is not None), member.resources
    )


def pins(replica: Replica, engines: Sequence[Engine]) -> dict[str, tuple[str, ...]]:
    """Return the pools of a replica's engines by the name of the engine, as `Fitter.fit` takes them.

    An engine whose members have other roles than before is left out, and may go anywhere.
    """
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
    """Return the options without those of pinned engines on other pools."""
    return tuple(
        tuple(o for o in of if e.name not in pinned or _pool_names(o, cluster) == pinned[e.name])
        for e, of in zip(engines, options, strict=True)
    )


def _claims(where: tuple[int, ...], members: list[dict[int, Offer]]) -> bool:
    return any(offers[i].claims for i, offers in zip(where, members, strict=True))


def _pool_names(option: Option, cluster: Cluster) -> tuple[str, ...]:
    return tuple(cluster.pools[i].name for i in option.pools)


def _placed(engine: Engine, option: Option, cluster: Cluster) -> PlacedEngine:
    members = zip(engine.members, option.pools, option.offers, strict=True)
    return PlacedEngine(
        name=engine.name,
        copies=engine.copies,
        members=tuple(
            PlacedMember(m.role, m.pods, cluster.pools[i].name, offer.claims, partial(_needs, m, offer))
            for m, i, offer in members
        ),
    )


@dataclass(slots=True)
class _Search:
    """Depth-first branch and bound over one option for each engine, within the room.

    It visits the engines in order, and the options of each best first: those with the least waste, and of these those
    that mix pods the least. The first of equally good fits is kept, so the order of the options decides between them.
    """

    engines: tuple[Engine, ...]
    options: tuple[tuple[Option, ...], ...]
    room: list[Free]
    limit: StepLimit
    best: tuple[Option, ...] | None = None
    waste: Waste = field(default_factory=Waste)
    _lower_bounds: list[Waste] = field(default_factory=list)
    """For each engine, the least waste that it and all engines after it add together."""
    _dead: set[tuple[int | Free, ...]] = field(default_factory=set)
    """States, each an engine and the room that is left for it, from which there is no fit."""

    def run(self) -> None:
        self.options = tuple(
            tuple(sorted(options, key=lambda option: (option.waste, mixed(option, self.room))))
            if any(option.pods for option in options)
            else options
            for options in self.options
        )
        self._lower_bounds = [Waste()]
        for options in reversed(self.options):
            self._lower_bounds.insert(0, self._lower_bounds[0] + options[0].waste)
        self._from(0, (), Waste())

    def _from(self, i: int, chosen: tuple[Option, ...], so_far: Waste) -> bool:
        """Search from engine `i` on, and return False only if there is no fit from here.

        A branch that is cut because it cannot improve returns True: a fit may exist there, so the states above it must
        not be remembered as dead.
        """
        if self.best is not None and so_far + self._lower_bounds[i] >= self.waste:
            return True
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
            room = taken(self.engines[i], option, self.room)
            if room is not None:
                before, self.room = self.room, room
                found |= self._from(i + 1, (*chosen, option), so_far + option.waste)
                self.room = before
        if not found:
            self._dead.add(state)
        return found


def mixed(option: Option, free: Sequence[Free]) -> int:
    """Return how mixed the pods would be on the shared pools that an option takes; 0 if it takes none.

    Small pods may lie on each node of their pool, and leave none for which a large pod can be promised a place. So pods
    should go where pods claim what they claim, then to an empty pool, and only then to one where pods claim something
    else.
    """
    found = 0
    for pool, pods in option.pods:
        room = free[pool]
        if isinstance(room, Room):
            there = {demand.devices for demand, _ in room.everyone}
            found += 2 * len(there | {demand.devices for demand, _ in pods}) + (not there)
    return found


def taken(engine: Engine, option: Option, free: Sequence[Free]) -> list[Free] | None:
    """Return what is free once an engine is placed, in the order of the pools; None if it does not fit."""
    room = list(free)
    for pool, nodes in option.nodes:
        has = room[pool]
        if not isinstance(has, int) or has < nodes:
            return None
        room[pool] = has - nodes
    for pool, pods in option.pods:
        shared = room[pool]
        left = None if isinstance(shared, int) else shared.taking(engine.name, pods, engine.copies)
        if left is None:
            return None
        room[pool] = left
    return room
