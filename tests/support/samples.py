"""One object of every kind that uses as many of its fields as go together, and edits of it."""

from __future__ import annotations

import copy
import json
from typing import Any

from function.vocabulary import names

Object = dict[str, Any]

GROUP = "modelplane.ai/v1alpha1"
SELECTOR = {"cel": "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0"}
DEVICES = {"devices": [{"name": "gpu", "count": 2, "selectors": [SELECTOR]}]}
CONTAINER = {
    "name": "engine",
    "image": "vllm/vllm-openai:v0.23.0",
    "command": ["vllm", "serve"],
    "args": ["--port=8000"],
    "env": [
        {"name": "PLAIN", "value": "1"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token", "optional": True}}},
        {"name": "CONF", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": "a.yaml"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
    ],
    "resources": {"requests": {"cpu": 4, "memory": "16Gi"}, "limits": {"ephemeral-storage": "1.5e9"}},
    "startupProbe": {"httpGet": {"path": "/health", "port": 8000}, "failureThreshold": 360},
    "readinessProbe": {"tcpSocket": {"port": 8000}, "successThreshold": 2},
    "livenessProbe": {"exec": {"command": ["true"]}, "timeoutSeconds": 30},
}
TEMPLATE = {
    "metadata": {"labels": {"example.org/team": "a"}, "annotations": {"note": "any text, of any form"}},
    "spec": {
        "containers": [CONTAINER],
        "imagePullSecrets": [{"name": "registry.example.org"}],
        "terminationGracePeriodSeconds": 0,
        "priorityClassName": "serving",
        "serviceAccountName": "engines",
    },
}


def of(
    kind: str,
    spec: Object,
    name: str = "sample",
    namespace: str | None = "ml-team",
    group: str = GROUP,
    *,
    owner: Object | None = None,
) -> Object:
    metadata: Object = {"name": name} | ({"namespace": namespace} if namespace else {})
    metadata |= {"ownerReferences": [owner]} if owner else {}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec}


def controller(kind: str, name: str) -> Object:
    """The reference to whoever composed an object."""
    return {"apiVersion": GROUP, "kind": kind, "name": name, "uid": f"{kind}-{name}", "controller": True}


DEPLOYMENT = of(
    "ModelDeployment",
    {
        "replicas": 2,
        "clusterSelector": {"matchLabels": {"modelplane.ai/region": "us-central"}},
        "modelCacheRef": {"name": "weights"},
        "serving": {"mode": "Unified"},
        "tolerations": [{"key": "old", "operator": "Exists", "effect": "NoExecute"}, {"key": "new", "value": "x"}],
        "engines": [
            {"name": "alone", "copies": 2, "members": [{"nodeSelector": DEVICES, "template": TEMPLATE}]},
            {
                "name": "gang",
                "members": [
                    {"role": "Leader", "template": TEMPLATE},
                    {"role": "Worker", "worker": {"nodes": 3}, "nodeSelector": DEVICES, "template": TEMPLATE},
                ],
            },
        ],
    },
)
REPLICA = of(
    "ModelReplica",
    {
        "clusterName": "eks-l4",
        "serving": {"mode": "PrefillDecode"},
        "engines": [
            {
                "name": phase.lower(),
                "phase": phase,
                "members": [
                    {
                        "nodePoolName": "gpu-l4",
                        "deviceRequests": [
                            {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "selectors": [SELECTOR]}
                        ],
                        "template": TEMPLATE,
                    }
                ],
            }
            for phase in ("Prefill", "Decode")
        ],
    },
    owner=controller("ModelDeployment", "sample"),
)
SERVICE = of(
    "ModelService", {"endpoints": [{"weight": 95, "selector": {"matchLabels": {"modelplane.ai/deployment": "qwen"}}}]}
)
ENDPOINT = of(
    "ModelEndpoint",
    {
        "url": "https://api.example.org/v1",
        "rewritePath": "/inference/",
        "auth": {"secretRef": {"name": "provider", "key": "api-key"}},
    },
)
CACHE = of(
    "ModelCache",
    {
        "source": "HuggingFace",
        "huggingFace": {
            "repo": "Qwen/Qwen3-8B",
            "revision": "refs/pr/1",
            "authSecret": {"name": "hub"},
            "sizeGiB": 20,
        },
        "clusterSelector": {"matchLabels": {"tier": "gold"}},
    },
)
CALLER = of(
    "ModelCaller",
    {
        "keys": [{"secretRef": {"name": "eval-key", "key": "next"}}, {"secretRef": {"name": "eval-key"}}],
        "limits": [{"tokens": "1.5M", "per": "Hour"}, {"tokens": 20000000, "per": "Day"}],
    },
)
CLASS = of(
    "InferenceClass",
    {
        "description": "One node with eight H100s.",
        "devices": [
            {
                "name": "gpu",
                "driver": "gpu.nvidia.com",
                "deviceClassName": "gpu.nvidia.com",
                "count": 8,
                "attributes": {
                    "architecture": {"string": "Hopper"},
                    "cudaComputeCapability": {"version": "9.0.0"},
                    "resource.kubernetes.io/pcieRoot": {"string": "pci0000:10"},
                    "mig": {"bool": False},
                    "numa": {"int": -1},
                },
                "capacity": {"memory": {"value": "81559Mi"}},
            },
            {"name": "nic", "claim": "Synthetic", "driver": "dra.net"},
        ],
        "provisioning": {"provider": "EKS", "eks": {"instanceType": "p5.48xlarge", "diskSizeGb": 200}},
    },
    namespace=None,
)
CLUSTER = of(
    "InferenceCluster",
    {
        "cluster": {"source": "EKS", "eks": {"region": "us-east-1", "zones": ["us-east-1a", "us-east-1b"]}},
        "taints": [{"key": "draining", "effect": "NoExecute"}],
        "nodePools": [
            {
                "name": "gpu-h100",
                "className": "eks-h100-8x",
                "taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}],
                "nodeCount": 0,
                "minNodeCount": 0,
                "maxNodeCount": 4,
                "zones": ["us-east-1a"],
                "capacityBlock": {"capacityReservationId": "cr-0123456789abcdef0"},
                "fabric": {"type": "InfiniBand", "infiniband": {"fabric": "fabric-2"}},
            }
        ],
        "servingStack": {
            "components": {"certManager": {"enabled": False}, "prometheus": {"version": "88.5.3"}},
            "gateway": {"internal": True, "annotations": {"example.org/lb": "a"}, "allowedSources": ["10.0.0.0/8"]},
        },
    },
    namespace=None,
)
GATEWAY = of(
    "InferenceGateway",
    {
        "backend": "Traefik",
        "traefik": {"loadBalancer": "MetalLB", "metallb": {"addressPool": "192.0.2.10-192.0.2.20"}},
        "tls": {"secretRef": {"name": "cert"}, "hostname": "models.example.org"},
        "egress": {
            "allow": ["10.1.0.0/16", "192.0.2.7", "*.ml-shared.svc", "fd00:1::/32"],
            "deny": ["10.0.0.0/8", "*.corp.example.com", "git.example.com"],
        },
    },
    name="default",
    namespace=None,
)
STACK = of(
    "ServingStack",
    {
        "clusterName": "eks-l4",
        "providerConfigRef": {"name": names.provider_config("eks-l4")},
        "source": "Existing",
        "components": {"envoyGateway": {"version": "v1.8.3"}},
    },
    namespace=names.SYSTEM_NAMESPACE,
    group="infrastructure.modelplane.ai/v1alpha1",
    owner=controller("InferenceCluster", "eks-l4"),
)
ALL = (DEPLOYMENT, REPLICA, SERVICE, ENDPOINT, CACHE, CALLER, CLASS, CLUSTER, GATEWAY, STACK)

_GONE = object()


def edited(sample: Object, path: str, value: Any = _GONE) -> Object:
    """A copy of an object with another value at a dotted path (numbers index lists); without a value, without it."""
    edit = json.loads(json.dumps(sample))  # nothing in it is shared
    *way, last = (int(step) if step.isdigit() else step for step in path.split("."))
    place: Any = edit
    for step in way:
        place = place[step] if isinstance(step, int) else place.setdefault(step, {})
    if value is _GONE:
        del place[last]
    else:
        place[last] = copy.deepcopy(value)
    return edit
