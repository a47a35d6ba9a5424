"""How many nodes of each pool the replicas on a cluster take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from function.core import Manifest, dig


def allocations(pools: Iterable[Mapping[str, Any]], replicas: Iterable[Manifest]) -> list[dict[str, Any]]:
    """For each pool the nodes that it can have and those that no replica takes: below 0 when the pool shrank."""
    taken = _taken(replicas)
    return [
        {"pool": pool["name"], "nodes": pool["nodes"], "free": pool["nodes"] - taken[pool["name"]]} for pool in pools
    ]


def _taken(replicas: Iterable[Manifest]) -> Counter[str]:
    taken: Counter[str] = Counter()
    for replica in replicas:
        for engine in dig(replica, "spec", "engines") or ():
            copies = dig(engine, "copies")
            for member in dig(engine, "members") or ():
                taken[str(dig(member, "nodePoolName"))] += _pods(member) * (1 if copies is None else int(copies))
    return taken


def _pods(member: Manifest) -> int:
    """Pods that need a node of their own: those that claim a device. The others ride along."""
    if not dig(member, "deviceRequests"):
        return 0
    if dig(member, "role") != "Worker":
        return 1
    nodes = dig(member, "worker", "nodes")
    return 1 if nodes is None else int(nodes)
