"""Building blocks of a pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.vocabulary import drivers

POD_IP: Mapping[str, Any] = {"fieldRef": {"fieldPath": "status.podIP"}}


STAYS: Mapping[str, str] = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
}
"""Annotations of a pod whose node no autoscaler may take away while the pod runs.

Without them, an autoscaler evicts pods to empty a node of which little is used. For a node with GPUs that may well be
one that serves: the cluster autoscaler counts the extended resource of a GPU, of which pods with claims take nothing,
or else devices in a ResourceSlice, of which half may be free (kubernetes/autoscaler,
simulator/utilization/info.go). The first annotation is read by the cluster autoscaler, also where a cloud runs it
(its simulator/drainability/rules/notsafetoevict; rules/terminal lets go of pods that have ended), the second by
Karpenter (its docs, "Well-Known Annotations").
"""


OUR_USER = 2000
"""The user in our image."""


def env(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value}


def env_from(name: str, source: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "valueFrom": dict(source)}


def http_probe(*, path: str, port: int, period: int, timeout: int, failures: int, tls: bool = False) -> dict[str, Any]:
    """Return an HTTP probe. `period` and `timeout` are in seconds. With `tls`, any certificate is accepted."""
    return {
        "httpGet": {"path": path, "port": port, **({"scheme": "HTTPS"} if tls else {})},
        "periodSeconds": period,
        "timeoutSeconds": timeout,
        "failureThreshold": failures,
    }


def tcp_probe(*, port: int, period: int, failures: int) -> dict[str, Any]:
    """Return a probe that tests whether a port is open. `period` is in seconds."""
    return {"tcpSocket": {"port": port}, "periodSeconds": period, "failureThreshold": failures}


def grpc_probe(*, port: int, service: str, period: int, failures: int) -> dict[str, Any]:
    """Return a probe that asks a gRPC health service about `service`. `period` is in seconds."""
    return {"grpc": {"port": port, "service": service}, "periodSeconds": period, "failureThreshold": failures}


def stop_later(*, seconds: int) -> dict[str, Any]:
    """Keep a terminating container running for a while, until traffic goes elsewhere.

    `seconds` must be less than the pod's grace period: the API server requires it.
    """
    return {"preStop": {"sleep": {"seconds": seconds}}}


def beside(*, label: Mapping[str, str]) -> dict[str, Any]:
    """Return a term of a preferred pod affinity: nodes on which pods with a label run, of any namespace.

    The weight is the least. It counts in full if the pod has no other term, since kube-scheduler scales the sums of all
    nodes to the same range; beside terms of the user, theirs count more (k8s.io/kubernetes v1.36,
    pkg/scheduler/framework/plugins/interpodaffinity/scoring.go, NormalizeScore).
    """
    term = {
        "labelSelector": {"matchLabels": dict(label)},
        "namespaceSelector": {},
        "topologyKey": "kubernetes.io/hostname",
    }
    return {"weight": 1, "podAffinityTerm": term}


def port(*, name: str, number: int) -> dict[str, Any]:
    return {"name": name, "containerPort": number, "protocol": "TCP"}


def memory_volume(*, name: str) -> dict[str, Any]:
    """Return a file system in memory. The container's memory limit bounds its size."""
    return {"name": name, "emptyDir": {"medium": "Memory"}}


def claim_volume(*, name: str, claim: str, read_only: bool = False) -> dict[str, Any]:
    """Mount a claim. Some drivers attach a volume that many nodes read only if the whole volume is read-only."""
    source = {"claimName": claim, **({"readOnly": True} if read_only else {})}
    return {"name": name, "persistentVolumeClaim": source}


def config_volume(*, name: str, config_map: str) -> dict[str, Any]:
    return {"name": name, "configMap": {"name": config_map}}


def mount(*, volume: str, path: str, directory: str = "", read_only: bool = False) -> dict[str, Any]:
    """Mount a volume, or one directory of it, at a path."""
    return {
        "name": volume,
        "mountPath": path,
        **({"subPath": directory} if directory else {}),
        **({"readOnly": True} if read_only else {}),
    }


def toleration(*, key: str, value: str | None, effect: str | None) -> dict[str, Any]:
    """Tolerate one taint. A value of None tolerates any value, an effect of None every effect."""
    return {
        "key": key,
        **({"operator": "Exists"} if value is None else {"operator": "Equal"}),
        **({"value": value} if value else {}),
        **({"effect": effect} if effect else {}),
    }


def taint_toleration(*, key: str, value: str, effect: str) -> dict[str, Any]:
    """Tolerate exactly one taint of a node, or any value of one by which a device keeps off pods that do not use it.

    An InferenceCluster publishes the taint of a device without a value: clouds choose different ones.
    """
    is_any = key in drivers.TAINTS.values() and not value
    return toleration(key=key, value=None if is_any else value, effect=effect)


CONFINED: Mapping[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""The security context of our own containers: Kubernetes' restricted pod security standard."""
