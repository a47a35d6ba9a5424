"""A fleet of two tenants that do not trust each other, and the objects that a tenant can write.

The victim has one object of each kind, all of which serve. There is room for everybody: what the attacker takes, the
victim does not miss.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from function.core import Manifest
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.errors import Refused
from function.vocabulary import versions

ATTACKER, VICTIM = "mallory", "victim"
SECRET = "victims-key"
DEVICES = [{"name": "gpu", "selectors": [{"cel": 'device.driver == "gpu.nvidia.com"'}]}]


def of(kind: str, name: str, namespace: str = ATTACKER, /, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": versions.MODELPLANE, "kind": kind, "metadata": metadata, "spec": spec}


def template(container: Mapping[str, Any] | None = None, **pod: Any) -> dict[str, Any]:
    """A pod template with one engine. `container` has further fields of it, and `pod` fields of the pod's spec."""
    engine = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "args": ["--model=Qwen/Qwen3-8B"]}
    return {"spec": {"containers": [{**engine, **(container or {})}], **pod}}


def deployment(
    name: str, namespace: str = ATTACKER, /, pods: Mapping[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    member = {"role": "Standalone", "nodeSelector": {"devices": DEVICES}, "template": dict(pods or template())}
    return of("ModelDeployment", name, namespace, engines=[{"name": "main", "members": [member]}], **spec)


def endpoint(name: str, namespace: str = ATTACKER, /, url: str = "http://203.0.113.7/v1", **spec: Any) -> Manifest:
    made = of("ModelEndpoint", name, namespace, url=url, **spec)
    made["metadata"]["labels"] = {"app": name[:63].rstrip("-.")}
    return made


def service(name: str, namespace: str = ATTACKER, /, labels: Mapping[str, str] | None = None, **spec: Any) -> Manifest:
    selector = {"selector": {"matchLabels": dict(labels or {"app": name[:63]})}}
    return of("ModelService", name, namespace, **{"endpoints": [selector], **spec})


def caller(name: str, namespace: str = ATTACKER, /, secret: str = "key") -> Manifest:
    return of("ModelCaller", name, namespace, keys=[{"secretRef": {"name": secret}}])


def cache(name: str, namespace: str = ATTACKER, /, **hub: Any) -> Manifest:
    hugging_face = {"repo": "Qwen/Qwen3-8B", "sizeGiB": 20, **hub}
    return of("ModelCache", name, namespace, source="HuggingFace", huggingFace=hugging_face)


def secret(name: str, namespace: str, /, *keys: str) -> Manifest:
    value = base64.b64encode(f"secret of {namespace}".encode()).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "data": dict.fromkeys(keys or ("api-key",), value),
    }


def with_metadata(manifest: Manifest, **metadata: Any) -> dict[str, Any]:
    made: dict[str, Any] = deepcopy(dict(manifest))
    made["metadata"].update(metadata)
    return made


PLATFORM: tuple[Manifest, ...] = (
    of(
        "InferenceClass",
        "l4",
        "",
        devices=[
            {"name": "gpu", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com", "count": 1}
            | {"capacity": {"memory": {"value": "23034Mi"}}}
        ],
    ),
    of(
        "InferenceCluster",
        "west",
        "",
        cluster={
            "source": "Existing",
            "existing": {"secretRef": {"name": "west-kubeconfig"}, "cache": {"storageClassName": "shared"}},
        },
        nodePools=[{"name": "l4", "className": "l4", "nodeCount": 90}],
    ),
    of("InferenceGateway", "default", "", backend="Traefik"),
)

_FROM_SECRET = [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": SECRET, "key": "api-key"}}}]
VICTIMS: tuple[Manifest, ...] = (
    secret(SECRET, VICTIM),
    cache("weights", VICTIM),
    deployment("chat", VICTIM, pods=template({"env": _FROM_SECRET}), modelCacheRef={"name": "weights"}),
    endpoint("spare", VICTIM, url="https://provider.example.org/v1", auth={"secretRef": {"name": SECRET}}),
    caller("app", VICTIM, secret=SECRET),
    service("chat", VICTIM, labels={"modelplane.ai/deployment": "chat"}, callers={}),
    service("spare", VICTIM),
)


def world(*rounds: tuple[Manifest, ...], admitting: bool = True) -> tuple[ControlPlane, dict[str, str]]:
    """A control plane at rest, after each round of objects; and what the API server said to those that it refused.

    Args:
        rounds: Objects that are written together.
        admitting: Whether the API server checks objects of our kinds.

    Returns:
        The control plane, and the refusals by kind, namespace and name.
    """
    control = ControlPlane()
    if not admitting:
        control.store.admit = lambda _kind, _manifest, _old: None
    return control, add(control, *rounds)


def add(control: ControlPlane, *rounds: tuple[Manifest, ...]) -> dict[str, str]:
    refused = {}
    for manifests in rounds:
        there = [*control.store.all(), *manifests]
        for manifest in (*manifests, *stubs.objects(there)):
            try:
                control.store.load(manifest)
            except Refused as refusal:
                refused[key(manifest)] = str(refusal)
        control.loop.settle()
    return refused


def key(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    return f"{manifest['kind']} {metadata.get('namespace', '')}/{metadata.get('name')}"
