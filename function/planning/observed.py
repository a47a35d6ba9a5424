"""The observer of an inference cluster, as far as a plan plays it.

A plan knows nothing of real nodes, so nothing is observed, and the declared capacity counts. An observation can be
given: the Object of a dump that has one, or the observer's ConfigMap. Then it is what the observer reports, whatever
runs on the cluster meanwhile, but for two things:

- It answers each declaration, as the observer does. The differences that were found from an earlier one are left out.
- A pool that something scales gets nodes for the replicas on it, so that these do not contradict the observation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from function.core import Manifest, dig, dig_list, dig_number, dig_objects, plain
from function.fleet import observations
from function.planning.controllers import RemoteObject
from function.sandbox.store import Ref
from function.scheduling.observed import Observation
from function.vocabulary import labels, names, versions
from function.vocabulary.observation import DECLARED_KEY, OBSERVED_KEY, NodeState

_PLENTY = {"cpu": "1024", "memory": "64Ti", "ephemeral-storage": "64Ti"}
"""What an added node has, unless the class or another node tells."""
_DIFFERENCES = ("differs", "counts", "unknown")


def is_observation(manifest: Manifest | None) -> bool:
    """Whether a manifest is the ConfigMap of an observation."""
    role = dig(manifest, "metadata", "labels", labels.OBSERVATION)
    return bool(dig(manifest, "kind") == "ConfigMap" and role == labels.OBSERVED)


def owned_by(manifest: Manifest) -> Ref | None:
    """The observation that Kubernetes deletes with a declaration; None for any other manifest."""
    if dig(manifest, "metadata", "labels", labels.OBSERVATION) != labels.DECLARATION:
        return None
    return _ref(names.observed(str(json.loads(manifest["data"][DECLARED_KEY])["cluster"])))


def write(things: dict[Ref, RemoteObject], cluster: Manifest, given: Mapping[str, Manifest]) -> bool:
    """Write the ConfigMap of an observation, if there is a declaration.

    Args:
        things: The remote objects of the cluster; changed in place.
        cluster: The InferenceCluster.
        given: The given observations, by the name of the ConfigMap.

    Returns:
        Whether anything changed.
    """
    name = cluster["metadata"]["name"]
    ref, declaration = _ref(names.observed(name)), things.get(_ref(names.declared(name)))
    there, found = things.get(ref), given.get(ref.name)
    if declaration is None or found is None:
        return False
    text = _answer(str(dig(found, "data", OBSERVED_KEY) or ""), declaration.manifest, cluster)
    if there is not None and dig(there.manifest, "data", OBSERVED_KEY) == text:
        return False
    metadata = {
        "name": ref.name,
        "namespace": ref.namespace,
        "labels": {labels.OBSERVATION: labels.OBSERVED},
        "generation": 1,
    }
    manifest = {"apiVersion": versions.CORE, "kind": ref.kind, "metadata": metadata, "data": {OBSERVED_KEY: text}}
    things[ref] = RemoteObject(manifest, version=there.version + 1 if there else 0)
    return True


def _ref(name: str) -> Ref:
    return Ref(versions.CORE, "ConfigMap", names.SYSTEM_NAMESPACE, name)


def _answer(text: str, declaration: Manifest, cluster: Manifest) -> str:
    """The observation, as it answers a declaration. One that is not believed stays as it is."""
    read = observations.parse(text)
    if not isinstance(read, Observation):
        return text
    told, declared = json.loads(text), json.loads(declaration["data"][DECLARED_KEY])["pools"]
    asked = names.content_hash(declared)
    for pool in told["pools"].values() if told["declared"] != asked else ():
        pool.update({field: [] for field in _DIFFERENCES})
    for name, pool in told["pools"].items():
        missing = _taken(cluster, name) - read.pools[name].number
        if dig(declared, name, "scales") is True and "outOfStock" not in pool and missing > 0:
            pool["nodes"].append(_added(pool, missing, _published(cluster, name)))
    return json.dumps({**told, "declared": asked}, sort_keys=True, separators=(",", ":"))


def _taken(cluster: Manifest, pool: str) -> int:
    """The nodes that replicas take of a pool."""
    stated = (one for one in dig_list(cluster, "status", "allocations") if dig(one, "pool") == pool)
    return next((int(dig_number(one, "nodes") - dig_number(one, "free")) for one in stated), 0)


def _published(cluster: Manifest, pool: str) -> Manifest:
    return next((one for one in dig_objects(cluster, "status", "gpuPools") if dig(one, "name") == pool), {})


def _added(pool: Manifest, count: int, published: Manifest) -> dict[str, Any]:
    """Nodes as the pool has them already, or as its class declares them."""
    like = plain(pool["nodes"][0]) if pool["nodes"] else {}
    claimed = (device for device in dig_objects(published, "devices") if device.get("claim") != "Synthetic")
    devices = {str(device["name"]): int(dig_number(device, "count")) for device in claimed}
    return {
        "names": [],
        "count": count,
        "state": NodeState.READY.value,
        "devices": devices,
        "allocatable": like.get("allocatable") or {**_PLENTY, **(plain(published.get("node")) or {})},
        "requested": like.get("requested") or dict.fromkeys(_PLENTY, "0"),
    }
