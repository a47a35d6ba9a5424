"""The pieces of a pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

POD_IP: Mapping[str, Any] = {"fieldRef": {"fieldPath": "status.podIP"}}


def env(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value}


def env_from(name: str, source: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "valueFrom": dict(source)}


def http_probe(*, path: str, port: int, period: int, timeout: int, failures: int) -> dict[str, Any]:
    """Times in seconds."""
    return {
        "httpGet": {"path": path, "port": port},
        "periodSeconds": period,
        "timeoutSeconds": timeout,
        "failureThreshold": failures,
    }


def tcp_probe(*, port: int, period: int, failures: int) -> dict[str, Any]:
    """Whether a port is listened on. Times in seconds."""
    return {"tcpSocket": {"port": port}, "periodSeconds": period, "failureThreshold": failures}


def grpc_probe(*, port: int, service: str, period: int, failures: int) -> dict[str, Any]:
    """What a gRPC health service says of a service. Times in seconds."""
    return {"grpc": {"port": port, "service": service}, "periodSeconds": period, "failureThreshold": failures}


def stop_later(*, seconds: int) -> dict[str, Any]:
    """A lifecycle in which a container that is to end goes on for a while: long enough for traffic to go elsewhere.

    Less than the pod's grace period, which the API server asks for.
    """
    return {"preStop": {"sleep": {"seconds": seconds}}}


def port(*, name: str, number: int) -> dict[str, Any]:
    return {"name": name, "containerPort": number, "protocol": "TCP"}


def memory_volume(*, name: str) -> dict[str, Any]:
    """A file system in memory, as large as the container's memory limit lets it grow."""
    return {"name": name, "emptyDir": {"medium": "Memory"}}


def claim_volume(*, name: str, claim: str) -> dict[str, Any]:
    return {"name": name, "persistentVolumeClaim": {"claimName": claim}}


def config_volume(*, name: str, config_map: str) -> dict[str, Any]:
    return {"name": name, "configMap": {"name": config_map}}


def mount(*, volume: str, path: str, directory: str = "", read_only: bool = False) -> dict[str, Any]:
    """A volume, or one directory of it, at a path."""
    return {
        "name": volume,
        "mountPath": path,
        **({"subPath": directory} if directory else {}),
        **({"readOnly": True} if read_only else {}),
    }


def toleration(*, key: str, value: str | None, effect: str | None) -> dict[str, Any]:
    """Of one taint, and of no other. A value of None tolerates any, an effect of None all."""
    return {
        "key": key,
        **({"operator": "Exists"} if value is None else {"operator": "Equal"}),
        **({"value": value} if value else {}),
        **({"effect": effect} if effect else {}),
    }


CONFINED: Mapping[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""The security context of containers that are ours: as Kubernetes' restricted pod security standard asks."""
