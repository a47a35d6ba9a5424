"""Free nodes: what each pool publishes, less what every replica was given, whoever's it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from function.scheduling.fleet import Cluster, Replica, Standing


class Ledger:
    """Nodes free on each pool of each cluster. May be negative: a pool can shrink under what stands on it."""

    def __init__(
        self, clusters: Mapping[str, Cluster], replicas: Iterable[Replica], others: Iterable[Standing] = ()
    ) -> None:
        self._free = {name: {pool.name: pool.nodes for pool in c.pools} for name, c in clusters.items()}
        for _, cluster, nodes in others:
            self.take(cluster, nodes)
        for replica in replicas:
            self.take(replica.cluster, replica.nodes())

    def on(self, cluster: str) -> Mapping[str, int]:
        return self._free.get(cluster, {})

    def take(self, cluster: str, nodes: Mapping[str, int]) -> None:
        """Nodes of a pool that is gone are nobody's."""
        free = self._free.get(cluster)
        for pool, count in nodes.items():
            if free is not None and pool in free:
                free[pool] -= count

    def overcommitted(self) -> set[str]:
        """The clusters with a pool that has less than what stands on it."""
        return {name for name, free in self._free.items() if any(nodes < 0 for nodes in free.values())}

    def give_back(self, cluster: str, nodes: Mapping[str, int]) -> None:
        self.take(cluster, {pool: -count for pool, count in nodes.items()})


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
        if name in clusters and _is_overcommitted(clusters[name], standing):
            giving |= _yielding_on(clusters[name], standing)
    return giving


def _is_overcommitted(cluster: Cluster, standing: list[Replica]) -> bool:
    free = Ledger({cluster.name: cluster}, standing).on(cluster.name)
    return any(nodes < 0 for nodes in free.values())


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
