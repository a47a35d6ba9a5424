"""Small random worlds of manifests: clusters, what they publish, other deployments' replicas, and one deployment.

Few names and few nodes, so that things collide. A world is drawn with a `random.Random`, so that a property can also
draw how the published numbers are wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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


def world(random: Random, most_clusters: int = 9, *, sharing: bool = False) -> World:
    """A world whose clusters publish what is true. With `sharing`, the nodes of most pools are shared."""
    clusters = [_cluster(random, f"c{i:02}") for i in range(random.randint(1, most_clusters))]
    others = [_other(random, i, random.choice(clusters)) for i in range(random.randint(0, 3 * len(clusters)))]
    ours = [_own(random, i, random.choice(clusters)) for i in range(random.randint(0, 3))]
    selector = {"clusterSelector": {"matchLabels": {"zone": "1"}}} if random.random() < 0.2 else {}
    engine = _engine(None, random.choice(sorted(_SIZES))) | {"copies": random.choice((1, 1, 2))}
    if sharing:
        _share(random, clusters)
        _vary(random, engine, *(replica["spec"]["engines"][0] for replica in (*others, *ours)))
    return made(deployment(random.randint(0, 5), engines=[engine], **selector), clusters, ours, others)


def _share(random: Random, clusters: Iterable[Any]) -> None:
    for pool in (pool for cluster in clusters for pool in cluster["status"]["gpuPools"]):
        if random.random() < 0.8:
            pool["sharing"] = "Devices"
        if random.random() < 0.3:
            pool["node"] = {"cpu": "8"}
        if random.random() < 0.3:
            pool["devices"] = [_device(memory) | {"name": memory.lower()} for memory in sorted(_SIZES)]


def _vary(random: Random, *engines: Any) -> None:
    for engine in engines:
        [member] = engine["members"]
        [asked] = member.get("deviceRequests") or member["nodeSelector"]["devices"]
        asked["count"] = random.choice((1, 1, 2, 3, 4, 8))
        container = member["template"]["spec"]["containers"][0]
        container["resources"] = {"requests": {"cpu": random.choice(("0", "1", "3", "5"))}}


def made(
    xr: Manifest, clusters: Sequence[Manifest], ours: Iterable[Manifest] = (), others: Iterable[Manifest] = ()
) -> World:
    """A world whose clusters publish what is true. `ours` are observed."""
    observed = {r["metadata"]["annotations"][crossplane.COMPOSITION_KEY]: r for r in ours}
    replicas = (*others, *observed.values())
    there_is = World(Request(xr=xr, observed=observed), tuple(clusters), replicas)
    return there_is.publishing(lambda cluster: _true(cluster, replicas))


def _true(cluster: Manifest, replicas: Iterable[Manifest]) -> Any:
    there = [r for r in replicas if r["spec"]["clusterName"] == cluster["metadata"]["name"]]
    return allocations(cluster["status"]["gpuPools"], filter(takes_nodes, there))


def cluster(name: str, **nodes: int) -> dict[str, Any]:
    """A cluster that serves, with pools of nodes of eight large devices."""
    pools = [{"name": pool, "nodes": count, "devices": [_device("80Gi")]} for pool, count in nodes.items()]
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "labels": {}},
        "spec": {},
        "status": {"serving": True, "gateway": {"address": "198.18.0.2"}, "gpuPools": pools},
    }


def deployment(replicas: int, **spec: Any) -> dict[str, Any]:
    """A deployment each of whose replicas takes one node."""
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelDeployment",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "uid": UID},
        "spec": {"replicas": replicas, "engines": [_engine(None, "80Gi")], **spec},
    }


def replica(
    on: str, index: int = 0, *, of: str = NAME, pool: str = "a", serves: bool = True, namespace: str = NAMESPACE
) -> dict[str, Any]:
    """A replica that takes one node."""
    conditions = [{"type": t, "status": "True", "reason": "Available"} for t in ("Ready", "ModelReady")]
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelReplica",
        "metadata": {
            "name": f"{of}-{on}-{index}",
            "namespace": namespace,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {
                labels.DEPLOYMENT: of,
                labels.CLUSTER: names.label_value(on),
                labels.REPLICA_INDEX: str(index),
            },
            "annotations": {
                crossplane.COMPOSITION_KEY: names.replica_key(on, index),
                labels.RENDERING: str(versions.RENDERING),
            },
            "ownerReferences": [_owner(of)],
        },
        "spec": {"clusterName": on, "engines": [_engine(pool, "80Gi")]},
        "status": {"served": serves, "conditions": conditions if serves else []},
    }


def _owner(name: str) -> dict[str, Any]:
    uid = UID if name == NAME else f"uid-{name}"
    return {
        "apiVersion": versions.MODELPLANE, "kind": "ModelDeployment", "name": name, "uid": uid, "controller": True
    }  # fmt: skip


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


# At random


def _cluster(random: Random, name: str) -> dict[str, Any]:
    found = cluster(name, **{pool: random.randint(0, 4) for pool in random.sample(_POOLS, random.randint(0, 2))})
    for pool in found["status"]["gpuPools"]:
        pool["devices"] = [_device(random.choice(sorted(_SIZES)))]
    found["metadata"]["labels"]["zone"] = random.choice("12")
    found["spec"]["taints"] = [{"key": "drain", "effect": "NoExecute"}] if random.random() < 0.1 else []
    found["status"]["serving"] = random.random() < 0.9
    return found


def _other(random: Random, number: int, there: Manifest) -> dict[str, Any]:
    return _placed(random, there, number, of=f"other-{number % 4}", namespace=random.choice(("ml", "hr")))


def _own(random: Random, number: int, there: Manifest) -> dict[str, Any]:
    return _placed(random, there, number, of=NAME, namespace=NAMESPACE)


def _placed(random: Random, there: Manifest, number: int, *, of: str, namespace: str) -> dict[str, Any]:
    pools = [pool["name"] for pool in there["status"]["gpuPools"]] or ["a"]
    pool, serves = random.choice(pools), random.random() < 0.6
    found = replica(there["metadata"]["name"], number, of=of, pool=pool, serves=serves, namespace=namespace)
    found["metadata"]["creationTimestamp"] = f"2026-01-0{random.randint(1, 3)}T00:00:00Z"
    found["spec"]["engines"] = [_engine(pool, "40Gi") | {"copies": random.choice((1, 1, 2))}]
    return found


def told(random: Random, cluster: Manifest) -> Any:
    """Allocations that may be wrong in any way: stale, negative, of pools that are gone, of another shape, missing."""
    true = deepcopy(list(cluster["status"]["allocations"]))
    kind = random.randrange(9)
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
    return [_mistold(random, entry) if "devices" in entry else entry for entry in true]


def _mistold(random: Random, entry: Any) -> Any:
    """What may be said of the devices of a shared pool, as its true numbers change or are lost."""
    rows = [*entry.get("atMost", ()), *(row for device in entry["devices"] for row in device.get("guaranteed", ()))]
    kind = random.randrange(5)
    for row in rows if kind < 3 else ():
        row["pods"] = (0, row["pods"] + random.randint(1, 3), random.choice((None, "1", -1, 1.5)))[kind]
    if kind == 3:
        entry.pop(random.choice(("devices", "atMost", "free")), None)
    return entry
