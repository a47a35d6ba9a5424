"""Counts the nodes of each pool that the replicas on a cluster take.

Deployments choose among clusters by these numbers before they read any replica, so the numbers are published whatever
becomes of the rest of the status. Pools and replicas may be older than their XRDs: a number that cannot be read counts
as `fleet.engines` says, and sums are bounded, since an API server refuses a status with an integer that it cannot
store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from function.core import Manifest, dig
from function.fleet.engines import nodes_taken
from function.fleet.values import mappings, whole

_MOST = 2**31 - 1
"""Nodes. No pool has more, and no sum is given as more."""


def allocations(pools: Iterable[Mapping[str, Any]], replicas: Iterable[Manifest]) -> list[dict[str, Any]]:
    """Return status.allocations: of each pool its nodes, and those that no replica takes.

    The latter are below 0 when a pool shrank under its replicas.
    """
    taken: Counter[str] = Counter()
    for replica in replicas:
        taken.update(nodes_taken(dig(replica, "spec", "engines")))
    return [_allocation(pool, taken[pool["name"]]) for pool in pools]


def _allocation(pool: Mapping[str, Any], taken: int) -> dict[str, Any]:
    nodes = bounded(pool.get("nodes"))
    return {"pool": pool["name"], "nodes": nodes, "free": nodes - min(taken, _MOST)}


def bounded(nodes: Any) -> int:
    """Return a number of nodes that was published."""
    return min(max(0, whole(nodes)), _MOST)


def are_taken(published: Any) -> bool:
    """Return whether replicas take nodes according to a published status.allocations."""
    return any(whole(entry.get("free")) < whole(entry.get("nodes")) for entry in mappings(published))
