"""Free nodes: what each pool publishes, less what every replica was given, whoever's it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from function.scheduling.fleet import Cluster, Replica, Standing


class Ledger:
    """Nodes free on each pool of each cluster. May be negative: a pool can shrink under what stands on it.

    A cluster's account is opened when somebody asks for it.
    """

    def __init__(
        self,
        clusters: Mapping[str, Cluster],
        replicas: Iterable[Replica],
        others: Mapping[str, Sequence[Standing]] | None = None,
    ) -> None:
        self._clusters = clusters
        self._others = others or {}
        self._standing: dict[str, list[Replica]] = {}
        self._free: dict[str, dict[str, int]] = {}
        for replica in replicas:
            self._standing.setdefault(replica.cluster, []).append(replica)

    def on(self, cluster: str) -> Mapping[str, int]:
        return self._account(cluster)

    def take(self, cluster: str, nodes: Mapping[str, int]) -> None:
        """Nodes of a pool that is gone are nobody's."""
        _charge(self._account(cluster), nodes)

    def give_back(self, cluster: str, nodes: Mapping[str, int]) -> None:
        self.take(cluster, {pool: -count for pool, count in nodes.items()})

    def is_overcommitted(self, cluster: str) -> bool:
        return any(nodes < 0 for nodes in self._account(cluster).values())

    def _account(self, name: str) -> dict[str, int]:
        free = self._free.get(name)
        if free is None:
            cluster = self._clusters.get(name)
            free = self._free[name] = {pool.name: pool.nodes for pool in cluster.pools} if cluster else {}
            for standing in self._others.get(name, ()):
                _charge(free, standing.nodes)
            for replica in self._standing.get(name, ()):
                _charge(free, replica.nodes())
        return free


def _charge(free: dict[str, int], nodes: Mapping[str, int]) -> None:
    for pool, count in nodes.items():
        if pool in free:
            free[pool] -= count


def yielding(clusters: Mapping[str, Cluster], replicas: Iterable[Replica]) -> dict[Replica, Replica | None]:
    """Who gives way on overcommitted pools, and to whom. Every reconcile sees the same, whoever's it is.

    A replica that has served stays, whatever that costs. Of the others the older stay, each where it still fits in what
    those before it leave.
    """
    by_cluster: dict[str, list[Replica]] = {}
    for replica in replicas:
        by_cluster.setdefault(replica.cluster, []).append(replica)
    giving: dict[Replica, Replica | None] = {}
    for name, standing in by_cluster.items():
        if name in clusters and Ledger(clusters, standing).is_overcommitted(name):
            giving |= _yielding_on(clusters[name], standing)
    return giving


def _yielding_on(cluster: Cluster, standing: list[Replica]) -> dict[Replica, Replica | None]:
    left = {pool.name: pool.nodes for pool in cluster.pools}
    last: dict[str, Replica] = {}
    giving: dict[Replica, Replica | None] = {}
    for replica in sorted(standing, key=_seniority):
        nodes = {pool: count for pool, count in replica.nodes().items() if pool in left}
        short = sorted(pool for pool, count in nodes.items() if count > left[pool])
        if short and not has_served(replica):
            giving[replica] = last.get(short[0])
            continue
        for pool, count in nodes.items():
            left[pool] -= count
            last[pool] = replica
    return giving


def has_served(replica: Replica) -> bool:
    return replica.served or replica.serving


def _seniority(replica: Replica) -> tuple[bool, str, str, str]:
    return not has_served(replica), replica.created or "~", replica.identity.namespace, replica.identity.name
