"""Counts the free nodes of each pool, and settles who keeps the nodes of a pool that has too few.

Terms:

- A pool's *free nodes* are the nodes that it publishes, less those that replicas of all deployments were given. A
  replica is charged by its own spec, and not by the current spec of its deployment.
- The free nodes of a cluster are *counted* if all replicas there are known. Otherwise they are *published*: the cluster
  says how many are free, which may be out of date. If nothing usable is published, all nodes are taken for free. A
  plan must not rest on published numbers: it says which clusters would have to be counted (`Plan.stands_on`).
- A pool is *overcommitted* if its free nodes are negative. Two deployments that are reconciled at the same time may
  give away the same node, and a pool may shrink.
- A replica *grows* while its spec takes more nodes than the spec that it last served with, and it is not ready yet.
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

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from function.scheduling.fleet import Cluster, ForeignReplica, Replica, exceeds, nodes_of


class Ledger:
    """The free nodes of each pool of each cluster. Negative if a pool is overcommitted.

    The replicas of a cluster are counted when the cluster is first asked for: a large fleet has many clusters that
    nobody asks for.
    """

    def __init__(
        self,
        clusters: Mapping[str, Cluster],
        replicas: Iterable[Replica],
        others: Mapping[str, Sequence[ForeignReplica]] | None = None,
        published: Mapping[str, Mapping[str, int] | None] | None = None,
    ) -> None:
        """Charge `replicas`, and `others`: replicas of other deployments by their cluster.

        `published` has the clusters that cannot be counted, with their free nodes by pool, or None.
        """
        self._clusters = clusters
        self._others = others or {}
        self._published = published or {}
        self._replicas: dict[str, list[Replica]] = {}
        self._free: dict[str, dict[str, int]] = {}
        for replica in replicas:
            self._replicas.setdefault(replica.cluster, []).append(replica)

    def free_nodes(self, cluster: str) -> Mapping[str, int]:
        """Return the free nodes of each pool of a cluster, by name. Empty if the cluster is gone."""
        return self._account(cluster)

    def take(self, cluster: str, nodes: Mapping[str, int]) -> None:
        """Charge nodes by pool. Pools that the cluster does not have are ignored."""
        _charge(self._account(cluster), nodes)

    def is_overcommitted(self, cluster: str) -> bool:
        """Whether any pool of a cluster has negative free nodes."""
        return any(nodes < 0 for nodes in self._account(cluster).values())

    def _account(self, name: str) -> dict[str, int]:
        free = self._free.get(name)
        if free is None:
            cluster = self._clusters.get(name)
            free = self._free[name] = {pool.name: pool.nodes for pool in cluster.pools} if cluster else {}
            if name in self._published:
                free |= {pool: nodes for pool, nodes in (self._published[name] or {}).items() if pool in free}
                return free
            for foreign in self._others.get(name, ()):
                _charge(free, foreign.nodes)
            for replica in self._replicas.get(name, ()):
                _charge(free, replica.nodes())
        return free


def _charge(free: dict[str, int], nodes: Mapping[str, int]) -> None:
    for pool, count in nodes.items():
        if pool in free:
            free[pool] -= count


class Contention(NamedTuple):
    """The replicas that give way on overcommitted pools.

    Each comes with the last replica that took nodes of the pool that lacks them; None if no other took any.
    """

    preempted: dict[Replica, Replica | None]
    """Replicas that never served, and are dropped."""
    rolled_back: dict[Replica, Replica | None]
    """Replicas that have served and grow, and return to their previous spec."""


def contention(clusters: Mapping[str, Cluster], replicas: Iterable[Replica]) -> Contention:
    """Return the replicas that give way, of all deployments. Replicas on unknown clusters give way to none."""
    by_cluster: dict[str, list[Replica]] = {}
    for replica in (r for r in replicas if not r.deleting):
        by_cluster.setdefault(replica.cluster, []).append(replica)
    found = Contention({}, {})
    for name, there in by_cluster.items():
        if name in clusters and Ledger(clusters, there).is_overcommitted(name):
            _ContendedCluster(clusters[name], sorted(there, key=_seniority), found).settle()
    return found


class _ContendedCluster:
    """A cluster with an overcommitted pool."""

    def __init__(self, cluster: Cluster, replicas: list[Replica], found: Contention) -> None:
        self.replicas = replicas
        self.found = found
        self.left = {pool.name: pool.nodes for pool in cluster.pools}
        taken = Ledger({cluster.name: cluster}, replicas).free_nodes(cluster.name)
        self.short = {pool for pool, free in taken.items() if free < 0}
        self.last: dict[str, Replica] = {}

    def settle(self) -> None:
        """Add the replicas that give way to `found`."""
        growing = [r for r in self.replicas if r.is_growing]
        for replica in self.replicas:
            if replica.has_served:
                self._take(replica, nodes_of(replica.proven.engines))
        for replica in growing:
            self._grow(replica)
        for replica in self.replicas:
            if not replica.has_served and not self._fits(replica.nodes()):
                self.found.preempted[replica] = self._before(replica, replica.nodes())
            elif not replica.has_served:
                self._take(replica, replica.nodes())

    def _grow(self, replica: Replica) -> None:
        """Let a replica take the nodes that it grows into, or roll it back.

        It is rolled back only if it grows on a pool that is overcommitted: elsewhere nobody is to gain by it.
        """
        before, given = nodes_of(replica.proven.engines), replica.nodes()
        more = {pool: given[pool] - before.get(pool, 0) for pool in exceeds(given, before)}
        if more.keys() & self.short and not self._fits(more):
            self.found.rolled_back[replica] = self._before(replica, more)
            return
        _charge(self.left, {pool: -count for pool, count in before.items()})
        self._take(replica, given)

    def _fits(self, nodes: Mapping[str, int]) -> bool:
        return self._shortest(nodes) is None

    def _before(self, replica: Replica, nodes: Mapping[str, int]) -> Replica | None:
        """Return the last replica that took nodes of the first pool that lacks some; None if no other did."""
        pool = self._shortest(nodes)
        found = self.last.get(pool) if pool else None
        return None if found is replica else found

    def _shortest(self, nodes: Mapping[str, int]) -> str | None:
        """Return the first pool, by name, that has fewer nodes left than are asked for; None if all have enough."""
        return min((pool for pool, count in nodes.items() if count > self.left.get(pool, count)), default=None)

    def _take(self, replica: Replica, nodes: Mapping[str, int]) -> None:
        _charge(self.left, nodes)
        self.last.update(dict.fromkeys(nodes.keys() & self.left.keys(), replica))


def _seniority(replica: Replica) -> tuple[str, str, str]:
    """Return a key that sorts the oldest first. A replica that has no creationTimestamp yet is the youngest."""
    return replica.created or "~", replica.identity.namespace, replica.identity.name
