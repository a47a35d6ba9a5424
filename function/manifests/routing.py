"""Routing to pods on an inference cluster: Service, HTTPRoute, InferencePool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.manifests.metadata import metadata
from function.vocabulary import versions

_INFERENCE_GROUP = versions.INFERENCE.partition("/")[0]

_CURRENT = '(!has(c.observedGeneration) || c.observedGeneration >= object.metadata.generation) && c.status == "True"'


def accepted_by(*, gateway: str) -> str:
    """Return CEL over an HTTPRoute or InferencePool: whether the gateway accepted it and resolved its references.

    Only conditions of its current generation count.
    """
    accepted = " && ".join(
        f'p.conditions.exists(c, c.type == "{type_}" && {_CURRENT})' for type_ in ("Accepted", "ResolvedRefs")
    )
    return (
        "has(object.status) && has(object.status.parents) && object.status.parents.exists("
        f'p, p.parentRef.name == "{gateway}" && has(p.conditions) && {accepted})'
    )


def service(
    *, name: str, namespace: str, selector: Mapping[str, str], port: Mapping[str, Any], labels: Mapping[str, str] | None
) -> dict[str, Any]:
    """Return a Service for the pods that a selector finds."""
    return {
        "apiVersion": versions.CORE,
        "kind": "Service",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {"selector": dict(selector), "ports": [dict(port)]},
    }


def service_port(*, name: str, number: int, target: str | int) -> dict[str, Any]:
    return {"name": name, "port": number, "targetPort": target, "protocol": "TCP"}


def http_route(
    *,
    name: str,
    namespace: str,
    gateway: tuple[str, str],
    prefix: str,
    backend: Mapping[str, Any],
    labels: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Route requests under a path prefix to a backend, with the prefix removed and without a time limit.

    `gateway` is its namespace and name. A request timeout of 0s means none: an answer may stream for minutes.
    """
    return {
        "apiVersion": versions.GATEWAY,
        "kind": "HTTPRoute",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {
            "parentRefs": [{"namespace": gateway[0], "name": gateway[1]}],
            "rules": [
                {
                    "matches": [{"path": {"type": "PathPrefix", "value": prefix}}],
                    "filters": [
                        {
                            "type": "URLRewrite",
                            "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}},
                        }
                    ],
                    "backendRefs": [dict(backend)],
                    "timeouts": {"request": "0s"},
                }
            ],
        },
    }


def to_service(*, name: str, port: int) -> dict[str, Any]:
    """Return a route's backend that is a Service."""
    return {"kind": "Service", "name": name, "port": port}


def to_pool(*, name: str) -> dict[str, Any]:
    """Return a route's backend that is an InferencePool."""
    return {"group": _INFERENCE_GROUP, "kind": "InferencePool", "name": name}


def inference_pool(
    *,
    name: str,
    namespace: str,
    selector: Mapping[str, str],
    target_port: int,
    picker: str,
    picker_port: int,
    labels: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Return the pods among which a picker chooses for every request.

    If the picker is down, nothing is served: a pod chosen at random might only prefill.
    """
    return {
        "apiVersion": versions.INFERENCE,
        "kind": "InferencePool",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {
            "selector": {"matchLabels": dict(selector)},
            "targetPorts": [{"number": target_port}],
            "endpointPickerRef": {
                "group": "",
                "kind": "Service",
                "name": picker,
                "port": {"number": picker_port},
                "failureMode": "FailClose",
            },
        },
    }
