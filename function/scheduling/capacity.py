"""Free nodes: what each pool publishes, less what every replica was given, whoever's it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from function.scheduling.fleet import Cluster, ForeignReplica, Replica, exceeds, nodes_of


class Ledger:
    """Nodes free on each pool of each cluster. May be negative: a pool can shrink under what stands on it.

    A cluster's account is opened when somebody asks for it.
    """

    def __init__(
        self,
        clusters: Mapping[str, Cluster],
        replicas: Iterable[Replica],
        others: Mapping[str, Sequence[ForeignReplica]] | None = None,
    ) -> None:
        self._clusters = clusters
        self._others = others or {}
        self._replicas: dict[str, list[Replica]] = {}
        self._free: dict[str, dict[str, int]] = {}
        for replica in replicas:
            self._replicas.setdefault(replica.cluster, []).append(replica)

    def free_nodes(self, cluster: str) -> Mapping[str, int]:
        return self._account(cluster)

    def take(self, cluster: str, nodes: Mapping[str, int]) -> None:
        """Charge nodes. Those of a pool that is gone are nobody's."""
        _charge(self._account(cluster), nodes)

    def is_overcommitted(self, cluster: str) -> bool:
        return any(nodes < 0 for nodes in self._account(cluster).values())

    def _account(self, name: str) -> dict[str, int]:
        free = self._free.get(name)
        if free is None:
            cluster = self._clusters.get(name)
            free = self._free[name] = {pool.name: pool.nodes for pool in cluster.pools} if cluster else {}
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
    """Who gives way on overcommitted pools, each with the one that it gives way to. Every reconcile sees the same."""

    preempted: dict[Replica, Replica | None]
    """They never served, and go."""
    rolled_back: dict[Replica, Replica | None]
    """They served, grew, and go back to what they had."""


def contention(clusters: Mapping[str, Cluster], replicas: Iterable[Replica]) -> Contention:
    """What two deployments have done that looked at the same moment, undone.

    A replica that has served stays, whatever that costs, with what it had. Then come those that grow, each where the
    difference fits in what is left, and then those that never served; of either the older come first. One that is being
    deleted gives way by itself.
    """
    by_cluster: dict[str, list[Replica]] = {}
    for replica in (r for r in replicas if not r.deleting):
        by_cluster.setdefault(replica.cluster, []).append(replica)
    found = Contention({}, {})
    for name, there in by_cluster.items():
        if name in clusters and Ledger(clusters, there).is_overcommitted(name):
            _ContendedCluster(clusters[name], sorted(there, key=_seniority), found).settle()
    return found


class _ContendedCluster:
    """A cluster on which more nodes are taken than there are."""

    def __init__(self, cluster: Cluster, replicas: list[Replica], found: Contention) -> None:
        self.replicas = replicas
        self.found = found
        self.left = {pool.name: pool.nodes for pool in cluster.pools}
        taken = Ledger({cluster.name: cluster}, replicas).free_nodes(cluster.name)
        self.short = {pool for pool, free in taken.items() if free < 0}
        self.last: dict[str, Replica] = {}

    def settle(self) -> None:
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
        """From what it had to what it was given. Where pools are not short nobody goes back."""
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
        """The last that took of what it lacks."""
        pool = self._shortest(nodes)
        found = self.last.get(pool) if pool else None
        return None if found is replica else found

    def _shortest(self, nodes: Mapping[str, int]) -> str | None:
        return min((pool for pool, count in nodes.items() if count > self.left.get(pool, count)), default=None)

    def _take(self, replica: Replica, nodes: Mapping[str, int]) -> None:
        _charge(self.left, nodes)
        self.last.update(dict.fromkeys(nodes.keys() & self.left.keys(), replica))


def _seniority(replica: Replica) -> tuple[str, str, str]:
    return replica.created or "~", replica.identity.namespace, replica.identity.name
