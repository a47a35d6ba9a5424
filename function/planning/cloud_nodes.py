"""The nodes that a cloud has made for an InferenceCluster.

They are those that its composite asks for, which are more than the scheduler may use: the nodes of a pool that is
removed, or shrinks, are there until the replicas on them have moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import clouds
from function.core import Manifest, controller, dig, dig_list
from function.sandbox import fields
from function.sandbox.store import Store

Pools = Mapping[str, Mapping[str, Any]]
"""Entries of status.gpuPools, by pool."""
_KINDS = frozenset((model.API_VERSION, model.KIND) for model in clouds.kinds())


def is_composite(api_version: str, kind: str) -> bool:
    """Return whether a kind is one by which a cloud makes clusters."""
    return (api_version, kind) in _KINDS


def owner(composite: Manifest) -> str:
    """Return the name of the InferenceCluster that a composite belongs to."""
    return str(dig(controller(composite["metadata"]), "name") or "")


def there(store: Store, cluster: Manifest, before: Pools) -> Pools | None:
    """Return the pools that have nodes, with their number.

    Args:
        store: The control cluster.
        cluster: The InferenceCluster.
        before: What this returned the last time: nobody publishes the devices of a pool that is removed.

    Returns:
        None for a cluster that no cloud makes, whose pools are those that it publishes.
    """
    dependents = store.having(fields.OWNER, cluster["metadata"]["uid"])
    composite = next((m for m in dependents if is_composite(m["apiVersion"], m["kind"])), None)
    if composite is None:
        return None
    known = {**before, **{pool["name"]: pool for pool in dig_list(cluster, "status", "gpuPools")}}
    made = known.keys() & set(dig_list(composite, "status", "pools"))
    asked = {pool["name"]: _count(pool) for pool in dig_list(composite, "spec", "nodePools")}
    return {name: {**known[name], "nodes": nodes} for name, nodes in asked.items() if name in made}


def _count(pool: Mapping[str, Any]) -> int:
    """The nodes that a pool can have: as many as it is scaled to, where something scales it."""
    return int(pool.get("nodeCount", 1) if pool.get("maxNodeCount") is None else pool["maxNodeCount"])
