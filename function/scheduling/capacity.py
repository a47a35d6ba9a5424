"""Counts what is free on each pool, and settles who keeps the nodes of a pool that has too few.

Terms:

- A pool's *free nodes* are the nodes that it publishes, less those that replicas of all deployments were given. A
  replica is charged by its own spec, and not by the current spec of its deployment.
- The free nodes of a cluster are *counted* if all replicas there are known. Otherwise they are *published*: the cluster
  says how many are free, which may be out of date. If nothing usable is published, all nodes are taken for free. A
  plan must not rest on published numbers: it says which clusters would have to be counted (`Plan.stands_on`).
- Of a pool whose nodes are *shared*, the pods are counted, and not the nodes (see `sharing.py`).
- A pool is *overcommitted* if its free nodes are negative; a shared one, if not each of its pods fits wherever the
  others are. Two deployments that are reconciled at the same time may give away the same node, and a pool may shrink.
- A replica *grows* while it is not ready with a spec that takes more nodes than the spec that it last served with, or
  something else of a shared pool.
- A *preempted* replica is dropped. A *rolled-back* replica returns to the spec that it last served with.

`contention` runs in these phases, for each overcommitted cluster:

1. Give every replica that has served the nodes that it served with, even if there are too few. A replica that has
   served is never moved for lack of capacity.
2. Let those that grow take the difference, the oldest first. One for which too little is left is rolled back.
3. Let those that have never served take their nodes, the oldest first. One for which too little is left is preempted.

Every deployment computes the same answer from the same replicas, so exactly one gives way, without a lock and whatever
the order of reconciles. Age comes from creationTimestamp; namespace and name decide between equals. A replica that is
being deleted takes no part, since it gives way by itself.

Deliberately coarse:

- Replicas that do not grow and have served stay on a pool that has shrunk, and it stays overcommitted.
- The phases take the oldest first and look for no better combination. Of three young replicas one may be preempted
  although another choice would have kept two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from function.scheduling.account import NOTHING, Account, Charges, Free, exceeded
from function.scheduling.fleet import Cluster, ForeignReplica, Occupant, PlacedEngine, Pool, Replica, Specs
from function.scheduling.observed import ObservedPool
from function.scheduling.seen import Seen, open_nodes, open_room
from function.scheduling.sharing import Demands, Room


class Ledger:
    """What is free on each pool of each cluster.

    The replicas of a cluster are counted when the cluster is first asked for: a large fleet has many clusters that
    nobody asks for. The methods raise what `demands` raises, if a cluster has shared pools.
    """

    def __init__(
        self,
        clusters: Mapping[str, Cluster],
        replicas: Iterable[Replica],
        others: Mapping[str, Sequence[ForeignReplica]] | None = None,
        published: Mapping[str, Mapping[str, Free] | None] | None = None,
        demands: Demands | None = None,
    ) -> None:
        """Charge `replicas`, and `others`: replicas of other deployments by their cluster.

        `published` has the clusters that cannot be counted, with what is free by pool, or None.
        """
        self._clusters = clusters
        self._others = others or {}
        self._published = published or {}
        self._demands = demands or Demands()
        self._replicas: dict[str, list[Replica]] = {}
        self._accounts: dict[str, Account] = {}
        self._seen: dict[str, Account] = {}
        """What is open on pools whose nodes are observed, by cluster."""
        self._planned: dict[str, list[tuple[Charges, Charges]]] = {}
        """What was charged since the replicas were counted, by cluster, each with what it replaces."""
        for replica in replicas:
            self._replicas.setdefault(replica.cluster, []).append(replica)

    def free(self, cluster: str) -> Mapping[str, Free]:
        """Return what is free on each pool of a cluster, by name. Empty if the cluster is gone."""
        return self._account(cluster).free

    def open(self, cluster: str) -> Mapping[str, Free]:
        """Return what is free on each pool of a cluster for a new replica, by name.

        Where nodes are observed, that is no more than what they have.
        """
        declared = self.free(cluster)
        seen = self._seen.get(cluster)
        return (
            {**declared, **{pool: _least(declared[pool], free) for pool, free in seen.free.items()}}
            if seen
            else declared
        )

    def open_if(self, cluster: str, healed: Callable[[Pool, ObservedPool], ObservedPool]) -> Mapping[str, Free]:
        """Return what would be free for a new replica if the nodes of each pool were observed to be otherwise."""
        return self._open_with(cluster, lambda pool, seen: replace(seen, pool=healed(pool, seen.pool)))

    def open_by_placement(self, cluster: str) -> Mapping[str, Free]:
        """Return what would be free for a new replica if the promise were `Placement` where nodes are observed."""
        return self._open_with(cluster, lambda _, seen: replace(seen, is_placement=True))

    def _open_with(self, cluster: str, changed: Callable[[Pool, Seen], Seen]) -> Mapping[str, Free]:
        free = dict(self.free(cluster))
        for pool in self._pools(cluster):
            if pool.seen:
                account = self._observed(cluster, [replace(pool, seen=changed(pool, pool.seen))])
                for charges, instead_of in self._planned.get(cluster, ()):
                    account.charge(charges, instead_of)
                free[pool.name] = _least(free[pool.name], account.free[pool.name])
        return free

    def free_beside(self, replica: Replica) -> Mapping[str, Free]:
        """Return what is free for another spec of a replica in its place, by the name of the pool.

        Where whole nodes are observed, it can grow into what is open, and keeps its own in any case. On shared nodes,
        what is declared counts if the pods that are there do not fit on what is observed.
        """
        own, charged = replica.nodes(), self._charged_for(replica)
        free = self._account(replica.cluster).beside(own, charged)
        seen = self._seen.get(replica.cluster)
        for pool, has in seen.free.items() if seen else ():
            declared = free[pool]
            if isinstance(has, int) and isinstance(declared, int):
                free[pool] = min(declared, max(0, has) + own.get(pool, 0))
            elif seen and isinstance(has, Room) and has.is_safe and not has.is_partial:
                free[pool] = seen.beside(own, charged)[pool]
        return free

    def place(self, cluster: str, engines: tuple[PlacedEngine, ...]) -> None:
        """Charge a new replica. Pools that the cluster does not have are ignored."""
        self._charge(cluster, self._account(cluster).charges((engines,)))

    def edit(self, replica: Replica, engines: tuple[PlacedEngine, ...]) -> None:
        """Charge a replica for another spec in its place.

        Nodes that the new spec does not take any more are not free before the replica has left them.
        """
        account = self._account(replica.cluster)
        charged = self._charged_for(replica)
        before = account.charges(charged)._replace(nodes=account.charges(replica.specs).nodes)
        after = account.charges((*charged, engines))
        more = {pool: max(count, before.nodes.get(pool, 0)) for pool, count in after.nodes.items()}
        self._charge(replica.cluster, Charges({**before.nodes, **more}, after.states), before)

    def between(self, replica: Replica) -> Specs:
        """Return the specs that a replica was given since the one that it served with, and has pods of on shared
        nodes."""
        charged = self._charged_for(replica)
        return charged[1:] if self._account(replica.cluster).charges(charged).states else ()

    def _charged_for(self, replica: Replica) -> Specs:
        """Return the specs that a replica was counted with. One that is to be rolled back has pods of them still."""
        there = self._replicas.get(replica.cluster, ())
        return next((r.specs for r in there if r.identity == replica.identity), replica.specs)

    def _charge(self, cluster: str, charges: Charges, instead_of: Charges = NOTHING) -> None:
        self._account(cluster).charge(charges, instead_of)
        if cluster in self._seen:
            self._seen[cluster].charge(charges, instead_of)
            self._planned.setdefault(cluster, []).append((charges, instead_of))

    def takes_more(self, cluster: str, engines: tuple[PlacedEngine, ...], before: tuple[PlacedEngine, ...]) -> bool:
        """Whether a spec takes more nodes of some pool than another, or something else of a shared pool."""
        account = self._account(cluster)
        return bool(exceeded(account.charges((engines,)), account.charges((before,))))

    def is_overcommitted(self, cluster: str) -> bool:
        """Whether any pool of a cluster is overcommitted."""
        return bool(self._account(cluster).overcommitted)

    def _account(self, name: str) -> Account:
        account = self._accounts.get(name)
        if account is None:
            account = self._accounts[name] = Account.of(self._clusters.get(name), self._demands)
            if name in self._published:
                free = self._published[name] or {}
                account.free |= {pool: amount for pool, amount in free.items() if pool in account.free}
            else:
                self._count(name, account)
            observed = [pool for pool in account.pools if pool.seen]
            if observed:
                self._seen[name] = self._observed(name, observed)
        return account

    def _observed(self, name: str, pools: Sequence[Pool]) -> Account:
        """Return what is open for new replicas on pools whose nodes are observed, by these alone."""
        account, occupants = Account(pools, self._demands), list(self._occupants(name))
        for pool in pools:
            if pool.seen:
                account.free[pool.name] = (
                    open_room(pool, pool.seen, occupants, self._demands)
                    if pool.shared
                    else open_nodes(pool, pool.seen, occupants)
                )
        return account

    def _occupants(self, name: str) -> Iterable[Occupant]:
        yield from (foreign.details for foreign in self._others.get(name, ()))
        yield from self._replicas.get(name, ())

    def _pools(self, name: str) -> Sequence[Pool]:
        cluster = self._clusters.get(name)
        return cluster.pools if cluster else ()

    def _count(self, name: str, account: Account) -> None:
        """Charge all replicas of a cluster."""
        for foreign in self._others.get(name, ()):
            account.charge_nodes(foreign.nodes)
        for replica in self._replicas.get(name, ()):
            account.charge_nodes(replica.nodes())
        if account.shared:
            account.occupy(occupant.specs for occupant in self._occupants(name))


def _least(declared: Free, seen: Free) -> Free:
    """Return the lesser of two numbers of nodes; of rooms, the one that is observed."""
    return min(declared, seen) if isinstance(declared, int) and isinstance(seen, int) else seen


class Contention(NamedTuple):
    """The replicas that give way on overcommitted pools.

    Each comes with the last replica that took nodes of the pool that lacks them; None if no other took any.
    """

    preempted: dict[Replica, Replica | None]
    """Replicas that never served, and are dropped."""
    rolled_back: dict[Replica, Replica | None]
    """Replicas that have served and grow, and return to their previous spec."""


def contention(
    clusters: Mapping[str, Cluster], replicas: Iterable[Replica], demands: Demands | None = None
) -> Contention:
    """Return the replicas that give way, of all deployments. Replicas on unknown clusters give way to none.

    Raises what `demands` raises, if a cluster has shared pools.
    """
    demands = demands or Demands()
    by_cluster: dict[str, list[Replica]] = {}
    for replica in (r for r in replicas if not r.deleting):
        by_cluster.setdefault(replica.cluster, []).append(replica)
    found = Contention({}, {})
    for name, there in by_cluster.items():
        if name in clusters and Ledger(clusters, there, demands=demands).is_overcommitted(name):
            _ContendedCluster(clusters[name], sorted(there, key=_seniority), found, demands).settle()
    return found


class _ContendedCluster:
    """A cluster with an overcommitted pool."""

    def __init__(self, cluster: Cluster, replicas: list[Replica], found: Contention, demands: Demands) -> None:
        self.replicas = replicas
        self.found = found
        self.left = Account.of(cluster, demands)
        taken = Account.of(cluster, demands)
        for replica in replicas:
            taken.charge(taken.charges(replica.specs))
        self.short = taken.overcommitted
        self.last: dict[str, Replica] = {}

    def settle(self) -> None:
        """Add the replicas that give way to `found`."""
        growing = [r for r in self.replicas if r.is_growing]
        for replica in self.replicas:
            if replica.has_served:
                self._take(replica, self.left.charges((replica.proven.engines,)))
        for replica in growing:
            self._grow(replica)
        for replica in self.replicas:
            if replica.has_served:
                continue
            asked = self.left.charges(replica.specs)
            if lacking := self.left.lacking(asked):
                self.found.preempted[replica] = self._before(replica, lacking)
            else:
                self._take(replica, asked)

    def _grow(self, replica: Replica) -> None:
        """Let a replica take the nodes that it grows into, or roll it back.

        It is rolled back only if it grows on a pool that is overcommitted: elsewhere nobody is to gain by it.
        """
        before, given = self.left.charges((replica.proven.engines,)), self.left.charges(replica.specs)
        lacking = self.left.lacking(given, before)
        if lacking and exceeded(given, before) & self.short:
            self.found.rolled_back[replica] = self._before(replica, lacking)
        else:
            self._take(replica, given, before)

    def _before(self, replica: Replica, pool: str) -> Replica | None:
        """Return the last replica that took something of a pool; None if no other did."""
        found = self.last.get(pool)
        return None if found is replica else found

    def _take(self, replica: Replica, charges: Charges, instead_of: Charges = NOTHING) -> None:
        self.left.charge(charges, instead_of)
        self.last.update(dict.fromkeys(charges.pools & self.left.free.keys(), replica))


def _seniority(replica: Replica) -> tuple[str, str, str]:
    """Return a key that sorts the oldest first. A replica that has no creationTimestamp yet is the youngest."""
    return replica.created or "~", replica.identity.namespace, replica.identity.name
