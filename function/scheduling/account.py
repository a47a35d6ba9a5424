"""What is free on the pools of one cluster, and what replicas take of it.

A pool counts whole nodes, or the room on its shared nodes (see `sharing.py`). All charges go through `Account`, so that
the ledger and the settling of contention count in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from function.scheduling import packing
from function.scheduling.fleet import Cluster, Pool, Specs, nodes_of
from function.scheduling.hint import Hint
from function.scheduling.packing import PodDemand
from function.scheduling.sharing import Demands, Room, States, capacity, whole_node

Free = int | Room | Hint
"""What is free on a pool: whole nodes, negative if it is overcommitted; the room on shared nodes; or, of a shared pool
that is not counted, what its cluster publishes."""


class Charges(NamedTuple):
    """What a replica takes."""

    nodes: Mapping[str, int]
    """Whole nodes by the name of the pool, without pools whose nodes are shared."""
    states: Mapping[str, Sequence[States]]
    """The states of each engine, by the name of the shared pool."""

    @property
    def pools(self) -> set[str]:
        """The names of the pools."""
        return {*self.nodes, *self.states}


NOTHING = Charges({}, {})


@dataclass(slots=True)
class Account:
    """What is free on the pools of one cluster. Charges of pools that the cluster does not have are ignored.

    Methods raise what `demands` raises, if the cluster has shared pools.
    """

    pools: Sequence[Pool]
    demands: Demands
    free: dict[str, Free] = field(init=False)
    """What is free, by the name of the pool."""
    shared: Sequence[Pool] = field(init=False)
    """The pools whose nodes are shared."""

    def __post_init__(self) -> None:
        self.free = {pool.name: empty_room(pool) if pool.shared else pool.nodes for pool in self.pools}
        self.shared = [pool for pool in self.pools if pool.shared]

    @classmethod
    def of(cls, cluster: Cluster | None, demands: Demands) -> Account:
        """Return the account of an empty cluster; one without pools if the cluster is gone."""
        return cls(cluster.pools if cluster else (), demands)

    def charges(self, specs: Specs) -> Charges:
        """Return what a replica takes. `specs` are those of which pods may run; its nodes are those of the last."""
        if not specs:
            return NOTHING
        nodes, states = nodes_of(specs[-1]), self._states(specs)
        return Charges(
            {pool: n for pool, n in nodes.items() if not isinstance(self.free.get(pool), Room | Hint)}, states
        )

    def _states(self, specs: Specs) -> dict[str, list[States]]:
        found: dict[str, list[States]] = {}
        for pool, states in self.demands.states(specs, self.shared):
            found.setdefault(pool, []).append(states)
        return found

    def charge(self, more: Charges, instead_of: Charges = NOTHING) -> None:
        """Charge a replica, instead of what it was charged for."""
        for pool in [*more.pools, *(instead_of.pools - more.pools)]:
            if pool in self.free:
                self.free[pool] = self._after(pool, more, instead_of)

    def charge_nodes(self, nodes: Mapping[str, int]) -> None:
        """Charge whole nodes by the name of the pool, and ignore pools whose nodes are shared."""
        free = self.free
        for pool, count in nodes.items():
            had = free.get(pool)
            if type(had) is int:
                free[pool] = had - count

    def occupy(self, each: Iterable[Specs]) -> None:
        """Charge replicas, each by its specs, for what they take of shared pools.

        All are charged at once: one by one, each would copy the room with all that are there.
        """
        found: dict[str, list[States]] = {pool.name: [] for pool in self.shared}
        for specs in each:
            for pool, states in self.demands.states(specs, self.shared):
                found[pool].append(states)
        for pool, states_of_all in found.items():
            free = self.free[pool]
            if not isinstance(free, int):
                self.free[pool] = free.plus(states_of_all)

    def _after(self, pool: str, more: Charges, instead_of: Charges) -> Free:
        free = self.free[pool]
        if isinstance(free, int):
            return free - more.nodes.get(pool, 0) + instead_of.nodes.get(pool, 0)
        return free.minus(instead_of.states.get(pool, ())).plus(more.states.get(pool, ()))

    def lacking(self, more: Charges, instead_of: Charges = NOTHING) -> str | None:
        """Return the first pool, by name, that has no room for a charge instead of another; None if all have it.

        A pool of which no more is taken than before has room, even if it is overcommitted.
        """
        return min((p for p in exceeded(more, instead_of) if self._lacks(p, more, instead_of)), default=None)

    def _lacks(self, pool: str, more: Charges, instead_of: Charges) -> bool:
        return pool in self.free and is_overcommitted(self._after(pool, more, instead_of))

    @property
    def overcommitted(self) -> set[str]:
        """The names of the pools that are overcommitted."""
        return {pool for pool, free in self.free.items() if is_overcommitted(free)}

    def beside(self, nodes: Mapping[str, int], specs: Specs) -> dict[str, Free]:
        """Return what is free for another spec of a replica that is charged for `specs`, in its place.

        Its whole nodes are free, since its new spec replaces its old one. On a shared pool, some of its old pods are
        there until the last new one is.
        """
        own = self.charges(specs)._replace(nodes=nodes)
        free = {pool: had + own.nodes.get(pool, 0) if isinstance(had, int) else had for pool, had in self.free.items()}
        for pool in self.shared:
            had = free[pool.name]
            if isinstance(had, Room):
                without = had.minus(own.states.get(pool.name, ()))
                free[pool.name] = without.edited(self.demands.by_engine(specs, pool))
        return free


def exceeded(more: Charges, instead_of: Charges) -> set[str]:
    """Return the pools of which a charge takes more nodes than another, or something else of shared nodes."""
    of_nodes = {pool for pool, count in more.nodes.items() if count > instead_of.nodes.get(pool, 0)}
    return of_nodes | {pool for pool, states in more.states.items() if states != instead_of.states.get(pool)}


def is_overcommitted(free: Free) -> bool:
    """Whether more is taken of a pool than it has."""
    return free < 0 if isinstance(free, int) else not free.is_safe


def empty_room(pool: Pool) -> Room:
    """Return the room on a pool whose nodes are shared, without pods."""
    return Room(frozenset({(capacity(pool.shape), pool.nodes)}) if pool.nodes else frozenset())


def with_nodes(free: Free, pool: Pool, nodes: int) -> Free:
    """Return what would be free if a pool had more nodes."""
    if isinstance(free, int):
        return free + nodes
    if isinstance(free, Hint):
        return free
    amounts = Counter(dict(free.nodes))
    amounts[capacity(pool.shape)] += nodes
    return replace(free, nodes=frozenset(amounts.items()))


def free_nodes(free: Free, pool: Pool) -> int:
    """Return the free nodes of a pool; of a shared one, how many pods fit that take a whole node."""
    if isinstance(free, int):
        return free
    whole = PodDemand(whole_node(pool.shape))
    if isinstance(free, Hint):
        return free.fitting(sum(count for count, _ in whole.devices))
    return packing.most_more(dict(free.nodes), dict(free.everyone), whole, pool.nodes)
