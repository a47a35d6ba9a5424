"""Small random worlds of manifests: clusters, what they publish, other deployments' replicas, and one deployment.

Few names and few nodes, so that things collide. A world is drawn with a `random.Random`, so that a property can also
draw how the published numbers are wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from function.core import Manifest, Request, Requirement, dig
from function.fleet.replicas import takes_nodes
from function.kinds.inferencecluster.allocations import allocations
from function.kinds.modeldeployment import stages
from function.sandbox.settle import resolve
from function.vocabulary import crossplane, labels, names, versions

NAMESPACE, NAME, UID = "ml", "me", "9f0d8c1e-2f55-4d3c-9a64-5f6f2f0b9d11"
_POOLS = "abc"
_SIZES = {"40Gi": 1, "80Gi": 8}
"""Memory of a device, and how many a node has."""


@dataclass(frozen=True, slots=True)
class World:
    """What there is to find, and the request of a deployment."""

    request: Request
    clusters: tuple[Manifest, ...]
    replicas: tuple[Manifest, ...]

    def find(self, asked: Iterable[Requirement]) -> Mapping[str, tuple[Manifest, ...]]:
        """The answers to requirements."""
        return resolve(asked, (*self.clusters, *self.replicas))

    def answered(self, stage: stages.Stage) -> Request:
        """The request with everything of a stage answered."""
        return replace(self.request, required=self.find(stage.requirements(self.request.xr)))

    def publishing(self, wrong: Callable[[Manifest], Any]) -> World:
        """The same world, in which each cluster publishes the allocations that a function returns."""
        clusters = deepcopy(self.clusters)
        for cluster in clusters:
            cluster["status"]["allocations"] = wrong(cluster)
        return replace(self, clusters=clusters)


def world(random: Random, most_clusters: int = 9) -> World:
    """A world whose clusters publish what is true."""
    clusters = [_cluster(random, f"c{i:02}") for i in range(random.randint(1, most_clusters))]
    others = [_replica(random, i, clusters) for i in range(random.randint(0, 3 * len(clusters)))]
    wanted = random.randint(0, 5)
    ours = _own(random, clusters)
    for cluster in clusters:
        there = [r for r in (*others, *ours) if r["spec"]["clusterName"] == cluster["metadata"]["name"]]
        cluster["status"]["allocations"] = allocations(cluster["status"]["gpuPools"], filter(takes_nodes, there))
    observed = {r["metadata"]["annotations"][crossplane.COMPOSITION_KEY]: r for r in ours}
    return World(Request(xr=_deployment(random, wanted), observed=observed), tuple(clusters), (*others, *ours))


def _cluster(random: Random, name: str) -> dict[str, Any]:
    pools = [
        {"name": pool, "nodes": random.randint(0, 4), "devices": [_device(random.choice(sorted(_SIZES)))]}
        for pool in random.sample(_POOLS, random.randint(0, 2))
    ]
    taints = [{"key": "drain", "effect": "NoExecute"}] if random.random() < 0.1 else []
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "labels": {"zone": random.choice("12")}},
        "spec": {"taints": taints},
        "status": {
            "serving": random.random() < 0.9,
            "gateway": {"address": "198.18.0.2"},
            "gpuPools": pools,
        },
    }


def _device(memory: str) -> dict[str, Any]:
    return {
        "name": "gpu",
        "claim": "DRA",
        "driver": "gpu.nvidia.com",
        "deviceClassName": "gpu.nvidia.com",
        "count": _SIZES[memory],
        "capacity": {"memory": {"value": memory}},
    }


def _engine(pool: str | None, memory: str) -> dict[str, Any]:
    selector = f'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{memory}")) >= 0'
    asked = {"name": "gpu", "count": 1, "selectors": [{"cel": selector}]}
    template = {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}]}}
    if pool is None:
        where: dict[str, Any] = {"nodeSelector": {"devices": [asked]}}
    else:
        where = {"nodePoolName": pool, "deviceRequests": [{**asked, "deviceClassName": "gpu.nvidia.com"}]}
    return {"name": "e", "copies": 1, "members": [{"role": "Standalone", **where, "template": template}]}


def _deployment(random: Random, wanted: int) -> dict[str, Any]:
    selector = {"clusterSelector": {"matchLabels": {"zone": "1"}}} if random.random() < 0.2 else {}
    engine = _engine(None, random.choice(sorted(_SIZES))) | {"copies": random.choice((1, 1, 2))}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelDeployment",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "uid": UID},
        "spec": {"replicas": wanted, **selector, "engines": [engine]},
    }


def _replica(random: Random, number: int, clusters: list[dict[str, Any]]) -> dict[str, Any]:
    owner = f"other-{number % 4}"
    return _placed(random, owner, f"uid-{owner}", random.choice(clusters), number)


def _own(random: Random, clusters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = [_placed(random, NAME, UID, random.choice(clusters), i) for i in range(random.randint(0, 3))]
    for replica in found:
        replica["metadata"]["namespace"] = NAMESPACE
    return found


def _placed(random: Random, owner: str, uid: str, cluster: dict[str, Any], index: int) -> dict[str, Any]:
    name, serves = cluster["metadata"]["name"], random.random() < 0.6
    pools = [pool["name"] for pool in cluster["status"]["gpuPools"]] or ["a"]
    conditions = [{"type": t, "status": "True", "reason": "Available"} for t in ("Ready", "ModelReady")]
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelReplica",
        "metadata": {
            "name": f"{owner}-{name}-{index}",
            "namespace": random.choice(("ml", "hr")),
            "creationTimestamp": f"2026-01-0{random.randint(1, 3)}T00:00:00Z",
            "labels": {
                labels.DEPLOYMENT: owner,
                labels.CLUSTER: names.label_value(name),
                labels.REPLICA_INDEX: str(index),
            },
            "annotations": {
                crossplane.COMPOSITION_KEY: names.replica_key(name, index),
                labels.RENDERING: str(versions.RENDERING),
            },
            "ownerReferences": [
                {
                    "apiVersion": versions.MODELPLANE,
                    "kind": "ModelDeployment",
                    "name": owner,
                    "uid": uid,
                    "controller": True,
                }
            ],
        },
        "spec": {
            "clusterName": name,
            "engines": [_engine(random.choice(pools), "40Gi") | {"copies": random.choice((1, 1, 2))}],
        },
        "status": {"served": serves, "conditions": conditions if serves else []},
    }


def told(random: Random, cluster: Manifest) -> Any:
    """Allocations that may be wrong in any way: stale, negative, of pools that are gone, of another shape, missing."""
    true = deepcopy(list(cluster["status"]["allocations"]))
    kind = random.randrange(8)
    if kind == 0:
        return None
    if kind == 1:
        return random.choice(("free", 7, [], {}, [[]], [{"pool": {}, "free": 1}], [None]))
    if kind == 2:
        return [{"pool": "gone", "nodes": 4, "free": 4}]
    for entry in true:
        if kind == 3:
            entry["free"] = random.choice((None, "1", 1.5, True, float("inf"), float("nan"), [1], {}))
        elif kind in (4, 5):
            entry["free"] = random.choice((-3, 0, 1, 2, 99))
        elif kind == 6:
            entry["free"] = dig(entry, "nodes")
    return true
