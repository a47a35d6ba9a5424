"""Counts the nodes of each pool that the replicas on a cluster take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from function.core import Manifest, dig
from function.fleet.engines import nodes_taken


def allocations(pools: Iterable[Mapping[str, Any]], replicas: Iterable[Manifest]) -> list[dict[str, Any]]:
    """Return status.allocations: of each pool its nodes, and those that no replica takes.

    The latter are below 0 when a pool shrank under its replicas.
    """
    taken: Counter[str] = Counter()
    for replica in replicas:
        taken.update(nodes_taken(dig(replica, "spec", "engines")))
    return [
        {"pool": pool["name"], "nodes": pool["nodes"], "free": pool["nodes"] - taken[pool["name"]]} for pool in pools
    ]
