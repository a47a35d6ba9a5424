"""Small fleets at random, to simulate: everything in them can be valid at once, and most is scarce.

A fleet depends on its seed only. It has one to four clusters of one to three classes, with whole and shared nodes, and
two or three tenants whose objects have the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from function.vocabulary import labels, versions

_MEMORY = {"small": 24, "middle": 40, "large": 80}
"""Classes, with the memory of each device in Gi."""
_CLUSTERS = ("oslo", "bergen", "turku", "malmo")
_TENANTS = ("alpha", "beta", "gamma")
_DEPLOYMENTS = ("chat", "code", "embed")
_MAINTENANCE = {"key": "maintenance", "effect": "NoSchedule"}
_IMAGE = "vllm/vllm-openai:v0.23.0"


def fleet(seed: int) -> list[dict[str, Any]]:
    """Return the objects of a fleet."""
    random = Random(seed)
    classes = random.sample(sorted(_MEMORY), random.randint(1, 3))
    made: list[dict[str, Any]] = [_class(random, name) for name in classes]
    made += [_cluster(random, name, classes) for name in _CLUSTERS[: random.randint(1, 4)]]
    made.append(_object("InferenceGateway", "default", "", {"backend": "Traefik"}))
    for tenant in _TENANTS[: random.randint(2, 3)]:
        made += _tenant(random, tenant)
    return made


def _object(kind: str, name: str, namespace: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    where = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": kind,
        "metadata": {"name": name, **where, **metadata},
        "spec": spec,
    }


def _class(random: Random, name: str) -> dict[str, Any]:
    device = {
        "name": "gpu",
        "driver": "gpu.nvidia.com",
        "deviceClassName": "gpu.nvidia.com",
        "count": random.choice((1, 2, 4)),
        "attributes": {"productName": {"string": name}},
        "capacity": {"memory": {"value": f"{_MEMORY[name]}Gi"}},
    }
    return _object("InferenceClass", name, "", {"devices": [device], "node": {"cpu": 64, "memory": "512Gi"}})


def _cluster(random: Random, name: str, classes: list[str]) -> dict[str, Any]:
    existing: dict[str, Any] = {"secretRef": {"name": f"{name}-kubeconfig"}}
    if random.random() < 0.7:
        existing["cache"] = {"storageClassName": "shared"}
    pools = [
        {
            "name": f"{class_}-{number}",
            "className": class_,
            "nodeCount": random.randint(1, 4),
            **({"sharing": "Devices"} if random.random() < 0.4 else {}),
        }
        for number, class_ in enumerate(random.choices(classes, k=random.randint(1, 3)))
    ]
    spec: dict[str, Any] = {"cluster": {"source": "Existing", "existing": existing}, "nodePools": pools}
    if random.random() < 0.2:
        spec["taints"] = [_MAINTENANCE]
    return _object("InferenceCluster", name, "", spec, labels={"region": random.choice(("north", "south"))})


def _tenant(random: Random, tenant: str) -> Iterator[dict[str, Any]]:
    caches = random.random() < 0.4
    if caches:
        source = {"repo": "example/model", "sizeGiB": 10}
        yield _object("ModelCache", "weights", tenant, {"source": "HuggingFace", "huggingFace": source})
    names = _DEPLOYMENTS[: random.randint(1, 3)]
    for name in names:
        yield _deployment(random, tenant, name, caches=caches)
    outside = random.random() < 0.4
    if outside:
        spec = {"url": "https://api.provider.example.com/v1", "auth": {"secretRef": {"name": "provider"}}}
        yield _object("ModelEndpoint", "provider", tenant, spec, labels={"tier": "outside"})
    has_callers = random.random() < 0.3
    if has_callers:
        keys = [{"secretRef": {"name": "caller"}}]
        yield _object("ModelCaller", "app", tenant, {"keys": keys}, labels={"may-use": "models"})
    yield _service(random, tenant, names, outside=outside, has_callers=has_callers)


def _deployment(random: Random, tenant: str, name: str, *, caches: bool) -> dict[str, Any]:
    spec: dict[str, Any] = {"replicas": random.choice((1, 1, 2, 3)), "engines": _engines(random)}
    if len(spec["engines"]) == 2:
        spec["serving"] = {"mode": "PrefillDecode"}
    if random.random() < 0.25:
        spec["clusterSelector"] = {"matchLabels": {"region": random.choice(("north", "south"))}}
    if random.random() < 0.25:
        spec["tolerations"] = [{**_MAINTENANCE, "operator": "Exists"}]
    if caches and random.random() < 0.6:
        spec["modelCacheRef"] = {"name": "weights"}
    return _object("ModelDeployment", name, tenant, spec)


def _engines(random: Random) -> list[dict[str, Any]]:
    roll = random.random()
    if roll < 0.2:
        leader = {"role": "Leader", **_member(random)}
        worker = {**leader, "role": "Worker", "worker": {"nodes": random.randint(1, 2)}}
        return [{"name": "gang", "members": [leader, worker]}]
    if roll < 0.35:
        prefill = {"name": "prefill", "phase": "Prefill", "members": [_member(random)]}
        return [prefill, {"name": "decode", "phase": "Decode", "members": [_member(random)]}]
    return [{"name": "vllm", "copies": random.choice((1, 1, 2)), "members": [_member(random)]}]


def _member(random: Random) -> dict[str, Any]:
    least = random.choice((20, 20, 30, 60))
    cel = f'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{least}Gi")) >= 0'
    device = {"name": "gpu", "count": random.choice((1, 1, 2)), "selectors": [{"cel": cel}]}
    container = {
        "name": "engine",
        "image": _IMAGE,
        "args": ["--model=example/model", "--served-model-name=model"],
        "resources": {"requests": {"cpu": 4, "memory": "16Gi"}},
    }
    return {"nodeSelector": {"devices": [device]}, "template": {"spec": {"containers": [container]}}}


def _service(
    random: Random, tenant: str, names: tuple[str, ...], *, outside: bool, has_callers: bool
) -> dict[str, Any]:
    is_weighted = len(names) > 1
    endpoints: list[dict[str, Any]] = [
        {
            **({"weight": random.randint(1, 9)} if is_weighted else {}),
            "selector": {"matchLabels": {labels.DEPLOYMENT: name}},
        }
        for name in names
    ]
    if outside:
        endpoints.append({"priority": 1, "selector": {"matchLabels": {"tier": "outside"}}, "model": "model"})
    spec: dict[str, Any] = {"endpoints": endpoints}
    if outside or random.random() < 0.3:
        spec["retry"] = {"attempts": 2, "budget": "20%"}
    if has_callers:
        spec["callers"] = {"selector": {"matchLabels": {"may-use": "models"}}}
    return _object("ModelService", "models", tenant, spec)
