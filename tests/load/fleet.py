"""The fleet of the replay, as users write it: clusters, deployments of several shapes, and what they are used with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.vocabulary import labels, versions

NAMESPACES = tuple(f"team-{i}" for i in range(8))
CLASSES = ("l4", "h100", "h200", "a100")
IMAGE = "vllm/vllm-openai:v0.23.0"
Object = dict[str, Any]

_HARDWARE = {
    "l4": ("NVIDIA L4", "Ada Lovelace", "23034Mi", 1),
    "h100": ("NVIDIA H100 80GB HBM3", "Hopper", "81559Mi", 8),
    "h200": ("NVIDIA H200", "Hopper", "143771Mi", 8),
    "a100": ("NVIDIA A100-SXM4-80GB", "Ampere", "81920Mi", 8),
}
"""Product, architecture, memory and devices of a node."""
_SHAPES = ("one GPU",) * 6 + ("tensor parallel",) * 2 + ("gang", "prefill and decode")
"""Of ten deployments."""
_CACHED, _SERVED, _REGIONS = 20, 5, ("eu", "us", "ap")
"""One deployment of so many mounts a ModelCache, and one of so many has a ModelService."""


def manifests(clusters: int, deployments: int) -> list[Object]:
    """A fleet from nothing, in which every deployment finds room."""
    share = deployments // clusters + 1
    return [
        *map(_inference_class, CLASSES),
        _object("InferenceGateway", "default", "", {"backend": "Traefik"}),
        *(cluster(i, nodes=4 * share + 4) for i in range(clusters)),
        *(one for i in range(deployments) for one in _with_its_own(i)),
        *(_outside(namespace) for namespace in NAMESPACES),
    ]


def _with_its_own(i: int) -> Iterator[Object]:
    """A deployment, with the ModelCache that it mounts and the ModelService that leads to it."""
    namespace = NAMESPACES[i % len(NAMESPACES)]
    yield deployment(i)
    if i % _CACHED == 0:
        source = {"source": "HuggingFace", "huggingFace": {"repo": f"org/model-{i}", "sizeGiB": 45}}
        yield _object("ModelCache", f"weights-{i}", namespace, source)
    if i % _SERVED == 0:
        own = {"priority": 0, "selector": {"matchLabels": {labels.DEPLOYMENT: f"model-{i}"}}}
        last = {"priority": 1, "selector": {"matchLabels": {"tier": "outside"}}}
        yield _object("ModelService", f"model-{i}", namespace, {"endpoints": [own, last]})


def cluster(i: int, nodes: int) -> Object:
    """A cluster with a pool of each of two classes."""
    existing = {"secretRef": {"name": f"c{i}-kubeconfig"}, "cache": {"storageClassName": "shared"}}
    pools = [{"name": name, "className": name, "nodeCount": nodes} for name in ("l4", CLASSES[1 + i % 3])]
    made = _object("InferenceCluster", f"c{i}", "", {"cluster": {"source": "Existing", "existing": existing}})
    made["metadata"]["labels"] = {"modelplane.ai/region": _REGIONS[i % len(_REGIONS)]}
    made["spec"]["nodePools"] = pools
    return made


def deployment(i: int, *, replicas: int | None = None, image: str = IMAGE) -> Object:
    """A deployment whose shape, replicas and region follow from its number."""
    shape = _SHAPES[i % len(_SHAPES)]
    spec: Object = {"replicas": 1 + i % 3 if replicas is None else replicas, "engines": _engines(shape, image)}
    if shape == "prefill and decode":
        spec["serving"] = {"mode": "PrefillDecode"}
    if i % _CACHED == 0:
        spec["modelCacheRef"] = {"name": f"weights-{i}"}
    if i % 4 == 0:
        spec["clusterSelector"] = {"matchLabels": {"modelplane.ai/region": _REGIONS[i % len(_REGIONS)]}}
    return _object("ModelDeployment", f"model-{i}", NAMESPACES[i % len(NAMESPACES)], spec)


def _engines(shape: str, image: str) -> list[Object]:
    if shape == "one GPU":
        return [{"name": "vllm", "members": [_member("Standalone", image, 1, 'architecture == "Ada Lovelace"')]}]
    if shape == "tensor parallel":
        return [{"name": "vllm", "members": [_member("Standalone", image, 4, 'architecture == "Hopper"')]}]
    if shape == "gang":
        leader, worker = (_member(role, image, 8, 'architecture != "Ada Lovelace"') for role in ("Leader", "Worker"))
        return [{"name": "vllm", "members": [leader, {**worker, "worker": {"nodes": 1}}]}]
    member = _member("Standalone", image, 2, 'architecture == "Hopper"')
    return [
        {"name": phase.lower(), "phase": phase, "copies": 2, "members": [member]} for phase in ("Prefill", "Decode")
    ]


def _member(role: str, image: str, count: int, hardware: str) -> Object:
    memory = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("20971520Ki")) >= 0'
    selectors = [{"cel": f'device.attributes["gpu.nvidia.com"].{hardware}'}, {"cel": memory}]
    engine = {"name": "engine", "image": image, "args": ["--model=org/model", f"--tensor-parallel-size={count}"]}
    if role != "Standalone":
        engine = {"name": "engine", "image": image, "command": ["/bin/sh", "-c"], "args": [_gang(role)]}
    return {
        "role": role,
        "nodeSelector": {"devices": [{"name": "gpu", "count": count, "selectors": selectors}]},
        "template": {"spec": {"containers": [engine]}},
    }


def _gang(role: str) -> str:
    ends = "" if role == "Leader" else " --headless"
    return (
        "exec vllm serve org/model --tensor-parallel-size=8 --pipeline-parallel-size=2 --nnodes=2 "
        f"--node-rank=$(MODELPLANE_RANK) --master-addr=$(MODELPLANE_LEADER_ADDRESS){ends}"
    )


def _inference_class(name: str) -> Object:
    product, architecture, memory, count = _HARDWARE[name]
    attributes = {"productName": product, "architecture": architecture, "type": "gpu"}
    gpu = {
        "name": "gpu",
        "driver": "gpu.nvidia.com",
        "deviceClassName": "gpu.nvidia.com",
        "count": count,
        "attributes": {key: {"string": value} for key, value in attributes.items()},
        "capacity": {"memory": {"value": memory}},
    }
    return _object("InferenceClass", name, "", {"devices": [gpu]})


def _outside(namespace: str) -> Object:
    spec = {"url": "https://api.provider.example.com/v1", "auth": {"secretRef": {"name": "provider"}}, "model": "m"}
    made = _object("ModelEndpoint", "provider", namespace, spec)
    made["metadata"]["labels"] = {"tier": "outside"}
    return made


def _object(kind: str, name: str, namespace: str, spec: Object) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": versions.MODELPLANE, "kind": kind, "metadata": metadata, "spec": spec}
