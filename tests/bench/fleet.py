"""Fleets and requests of any size, as Crossplane sends them: managedFields, a third of the bytes, included."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Container
from typing import Any

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import json_format

from function.core import NamespacedName
from function.vocabulary import crossplane, labels, names
from tests.bench import shuffled

MODELPLANE = "modelplane.ai/v1alpha1"
OWNER = NamespacedName("ml-team", "target")
_SINCE = "2026-08-01T12:00:00Z"
_GPUS = (
    ("H100", "Hopper", "81559Mi", 8),
    ("H200", "Hopper", "143771Mi", 8),
    ("B200", "Blackwell", "183359Mi", 8),
    ("A100", "Ampere", "81920Mi", 8),
    ("L40S", "Ada Lovelace", "46068Mi", 4),
    ("L4", "Ada Lovelace", "23034Mi", 1),
)
_POOLS, _NODES = 4, 64
SELECTORS = (
    'device.driver == "gpu.nvidia.com"',
    'device.attributes["gpu.nvidia.com"].architecture == "Hopper"',
    'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0',
)
SHAPES = {"single": 1, "gang": 1, "prefill-decode": 2}
"""Engines of a replica."""

Object = dict[str, Any]


def clusters(count: int) -> list[Object]:
    pick = random.Random(1)
    return [_cluster(i, pick) for i in range(count)]


def _cluster(i: int, pick: random.Random) -> Object:
    pools = [
        {"name": f"pool-{n}", "nodes": _NODES, "devices": [_gpu(*pick.choice(_GPUS)), _nic()]} for n in range(_POOLS)
    ]
    return _stored(
        {
            "apiVersion": MODELPLANE,
            "kind": "InferenceCluster",
            "metadata": {"name": f"cluster-{i:05}", "labels": {"modelplane.ai/region": pick.choice(("eu", "us"))}},
            "spec": {
                "cluster": {"source": "Existing", "existing": {"secretRef": {"name": f"kubeconfig-{i}"}}},
                "nodePools": [{"name": p["name"], "className": "class", "nodeCount": _NODES} for p in pools],
            },
            "status": {
                "conditions": _conditions("Synced", "Ready", "ClusterReady", "BackendReady"),
                "namespace": "modelplane-system",
                "gateway": {"address": f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}"},
                "providerConfigRef": {"name": f"cluster-{i:05}"},
                "clusterID": f"923e4a70-91c2-5ae3-b31d-{i:012}",
                "nodes": _POOLS * _NODES,
                "gpuPools": pools,
                "allocations": [{"pool": p["name"], "nodes": _NODES, "free": _NODES} for p in pools],
                "podSecurity": {"enforce": "baseline"},
                "serving": True,
            },
        }
    )


def publish(clusters: list[Object], replicas: list[Object]) -> None:
    """Let clusters publish the free nodes that these replicas leave, as the composer of InferenceClusters does."""
    taken = _taken(replicas)
    for cluster in clusters:
        name, status = cluster["metadata"]["name"], cluster["status"]
        status["allocations"] = [
            {"pool": p["name"], "nodes": p["nodes"], "free": p["nodes"] - taken[name, p["name"]]}
            for p in status["gpuPools"]
        ]


def fill(clusters: list[Object], replicas: list[Object], *, left: Container[str], nodes: int) -> None:
    """Shrink the pools of clusters to what these replicas take, except for some nodes on those that are left."""
    taken = _taken(replicas)
    for cluster in clusters:
        name, pools = cluster["metadata"]["name"], cluster["status"]["gpuPools"]
        for pool in pools:
            pool["nodes"] = taken[name, pool["name"]] + (nodes if name in left else 0)
        for written, pool in zip(cluster["spec"]["nodePools"], pools, strict=True):
            written["nodeCount"] = pool["nodes"]
        cluster["status"]["nodes"] = sum(pool["nodes"] for pool in pools)


def _taken(replicas: list[Object]) -> Counter[tuple[str, str]]:
    """Nodes by cluster and pool. All members of these fleets have one pod."""
    return Counter(
        (replica["spec"]["clusterName"], member["nodePoolName"])
        for replica in replicas
        for engine in replica["spec"]["engines"]
        for member in engine["members"]
    )


def _gpu(product: str, architecture: str, memory: str, count: int) -> Object:
    return {
        "name": "gpu",
        "claim": "DRA",
        "driver": "gpu.nvidia.com",
        "deviceClassName": "gpu.nvidia.com",
        "count": count,
        "attributes": {
            "architecture": {"string": architecture},
            "brand": {"string": "Nvidia"},
            "cudaComputeCapability": {"version": "9.0.0"},
            "driverVersion": {"version": "580.95.5"},
            "ecc": {"bool": True},
            "numaNodes": {"int": 2},
            "productName": {"string": f"NVIDIA {product}"},
            "type": {"string": "gpu"},
        },
        "capacity": {"memory": {"value": memory}, "multiprocessors": {"value": "132"}},
    }


def _nic() -> Object:
    return {
        "name": "nic",
        "claim": "DRA",
        "driver": "dra.net",
        "deviceClassName": "nic.example.com",
        "count": 8,
        "attributes": {"rdma": {"bool": True}, "linkType": {"string": "infiniband"}, "speedGbps": {"int": 400}},
        "capacity": {"bandwidth": {"value": "400G"}},
    }


def replicas(count: int, over: int, shape: str) -> list[Object]:
    """Of other deployments, spread over that many clusters."""
    return [_replica(i, over, shape) for i in range(count)]


def _replica(i: int, over: int, shape: str) -> Object:
    owner = NamespacedName(f"team-{i % 20:02}", f"model-{i // 4:05}")
    cluster, index = f"cluster-{i * 7 % over:05}", i // over
    return _stored(
        {
            "apiVersion": MODELPLANE,
            "kind": "ModelReplica",
            "metadata": {
                "name": names.replica(owner, cluster, index),
                "namespace": owner.namespace,
                "labels": {
                    labels.DEPLOYMENT: owner.name,
                    labels.CLUSTER: cluster,
                    labels.REPLICA_INDEX: str(index),
                    "crossplane.io/composite": owner.name,
                },
                "annotations": {crossplane.COMPOSITION_KEY: names.replica_key(cluster, index)},
                "ownerReferences": [
                    {"apiVersion": MODELPLANE, "kind": "ModelDeployment", "name": owner.name, "uid": f"{i // 4:032}",
                     "controller": True, "blockOwnerDeletion": True},
                ],
            },
            "spec": {
                "clusterName": cluster,
                "serving": {"mode": "Unified"},
                "engines": [_engine(n, shape, pool=f"pool-{(i + n) % _POOLS}") for n in range(SHAPES[shape])],
            },
            "status": {
                "conditions": _conditions("Synced", "Ready", "ModelAccepted", "ModelReady"),
                "served": True,
                "workloads": [{"engine": "e0", "kind": "Deployment", "name": "w", "namespace": "t", "ready": True}],
            },
        }
    )  # fmt: skip


def deployment(shape: str, wanted: int) -> Object:
    engines = [_engine(n, shape, pool=None) for n in range(SHAPES[shape])]
    split = shape == "prefill-decode"
    for engine, phase in zip(engines, ("Prefill", "Decode"), strict=False):
        engine.update({"phase": phase} if split else {})
    return _stored(
        {
            "apiVersion": MODELPLANE,
            "kind": "ModelDeployment",
            "metadata": {"name": OWNER.name, "namespace": OWNER.namespace},
            "spec": {
                "replicas": wanted,
                "serving": {"mode": "PrefillDecode" if split else "Unified"},
                "engines": engines,
            },
            "status": {"conditions": _conditions("Synced")},
        }
    )


def _engine(n: int, shape: str, pool: str | None) -> Object:
    roles = ("Leader", "Worker") if shape == "gang" else ("Standalone",)
    return {"name": f"e{n}", "copies": 1, "members": [_member(role, pool) for role in roles]}


def _member(role: str, pool: str | None) -> Object:
    selectors = [{"cel": text} for text in SELECTORS]
    asked = {"name": "gpu", "count": 4, "selectors": selectors}
    placed = {"nodePoolName": pool, "deviceRequests": [{**asked, "deviceClassName": "gpu.nvidia.com"}]}
    engine = {
        "name": "engine",
        "image": "vllm/vllm-openai:v0.23.0",
        "args": [
            "--model=org/model",
            "--served-model-name=model",
            "--tensor-parallel-size=4",
            "--max-model-len=131072",
        ],
        "env": [{"name": "HF_HUB_ENABLE_HF_TRANSFER", "value": "1"}, {"name": "VLLM_LOGGING_LEVEL", "value": "INFO"}],
    }
    return {
        "role": role,
        **({"worker": {"nodes": 1}} if role == "Worker" else {}),
        **(placed if pool else {"nodeSelector": {"devices": [asked]}}),
        "template": {"spec": {"containers": [engine]}},
    }


def _conditions(*types: str) -> list[Object]:
    return [
        {"type": t, "status": "True", "reason": "Available", "lastTransitionTime": _SINCE, "observedGeneration": 1}
        for t in types
    ]


def _stored(manifest: Object) -> Object:
    """As the API server keeps it."""
    metadata = manifest["metadata"]
    uid = names.content_hash([manifest["kind"], metadata.get("namespace"), metadata["name"]])
    metadata |= {"uid": uid, "resourceVersion": "12345678", "generation": 1, "creationTimestamp": _SINCE}
    metadata["managedFields"] = [
        {"manager": f"apiextensions.crossplane.io/composed/{uid}", "operation": "Apply",
         "apiVersion": manifest["apiVersion"], "time": _SINCE, "fieldsType": "FieldsV1",
         "fieldsV1": {"f:metadata": _tree(metadata), "f:spec": _tree(manifest["spec"])}},
        {"manager": "crossplane", "operation": "Update", "subresource": "status", "apiVersion": manifest["apiVersion"],
         "time": _SINCE, "fieldsType": "FieldsV1", "fieldsV1": {"f:status": _tree(manifest["status"])}},
    ]  # fmt: skip
    return manifest


def _tree(value: Any) -> Object:
    return {f"f:{key}": _tree(child) for key, child in value.items()} if isinstance(value, dict) else {}


def request(xr: Object, fleet: list[Object], others: list[Object], observed: dict[str, Object] | None = None) -> bytes:
    """The call in which all that may be asked for is answered. Its bytes are others each time, as Crossplane's are."""
    composed = observed or {}
    replicas = [*others, *(m for m in composed.values() if m["kind"] != "ModelEndpoint")]
    return shuffled.request(xr, composed, answers(fleet, replicas), tag="bench")


def answers(fleet: list[Object], replicas: list[Object]) -> dict[str, list[Object]]:
    """All that a ModelDeployment without a cache may ask for, in any stage and in any revision."""
    on: dict[str, list[Object]] = {cluster["metadata"]["name"]: [] for cluster in fleet}
    for replica in replicas:
        on[replica["spec"]["clusterName"]].append(replica)
    return {
        "clusters": fleet,
        "all-replicas": replicas,
        "own-replicas": [r for r in replicas if r["metadata"]["labels"][labels.DEPLOYMENT] == OWNER.name],
        "services": [],
        **{f"cluster-{cluster['metadata']['name']}": [cluster] for cluster in fleet},
        **{f"replicas-on-{name}": there for name, there in on.items()},
    }


def reported(xr: Object, rsp: fnv1.RunFunctionResponse) -> Object:
    """The XR as the API server keeps it once Crossplane has written the status that was reported."""
    status = json_format.MessageToDict(rsp.desired.composite.resource).get("status", {})
    own = {c.type: c for c in rsp.conditions}
    conditions = [
        {
            "type": type_,
            "status": fnv1.Status.Name(c.status).removeprefix("STATUS_CONDITION_").capitalize(),
            "reason": c.reason,
            "message": c.message,
            "lastTransitionTime": _SINCE,
        }
        for type_, c in own.items()
    ]
    return {**xr, "status": {**status, "conditions": [*_conditions("Synced", "Ready"), *conditions]}}


def carried_out(rsp: fnv1.RunFunctionResponse) -> dict[str, Object]:
    """What was composed, as it is observed once everything is ready."""
    composed = {key: json_format.MessageToDict(r.resource) for key, r in rsp.desired.resources.items()}
    ready = {"conditions": _conditions("Synced", "Ready", "ModelAccepted", "ModelReady"), "served": True}
    for key, manifest in composed.items():
        manifest["metadata"].setdefault("annotations", {})[crossplane.COMPOSITION_KEY] = key
        manifest["status"] = ready
        _stored(manifest)
    return composed
