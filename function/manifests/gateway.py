"""A cluster's Gateway, and the configuration of Envoy Gateway for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.manifests.metadata import metadata
from function.vocabulary import versions

HAS_ADDRESS = "has(object.status) && has(object.status.addresses) && object.status.addresses.size() > 0"
"""CEL over a Gateway: whether traffic can be sent to it."""
IS_ACCEPTED = (
    "has(object.status) && has(object.status.conditions)"
    " && object.status.conditions.exists(c, c.type == 'Accepted' && c.status == 'True')"
)
"""CEL over a GatewayClass: whether a controller has accepted it."""
ENVOY_CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
"""Name of Envoy Gateway's controller (gateway v1.8, api/v1alpha1)."""


def reference(*, name: str, namespace: str) -> dict[str, Any]:
    """Identify a Gateway that another composer writes."""
    return {"apiVersion": versions.GATEWAY, "kind": "Gateway", "metadata": metadata(name=name, namespace=namespace)}


def gateway_class(*, name: str, controller: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": versions.GATEWAY,
        "kind": "GatewayClass",
        "metadata": metadata(name=name),
        "spec": {"controllerName": controller, "parametersRef": dict(parameters)},
    }


def gateway(*, name: str, namespace: str, class_name: str, listeners: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a Gateway that accepts routes from every namespace."""
    return {
        "apiVersion": versions.GATEWAY,
        "kind": "Gateway",
        "metadata": metadata(name=name, namespace=namespace),
        "spec": {
            "gatewayClassName": class_name,
            "listeners": [{**one, "allowedRoutes": {"namespaces": {"from": "All"}}} for one in listeners],
        },
    }


def http_listener(*, port: int) -> dict[str, Any]:
    return {"name": "http", "protocol": "HTTP", "port": port}


def https_listener(*, port: int, secret: str, hostname: str | None) -> dict[str, Any]:
    return {
        "name": "https",
        "protocol": "HTTPS",
        "port": port,
        **({"hostname": hostname} if hostname else {}),
        "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}]},
    }


def envoy_proxy(
    *,
    name: str,
    namespace: str,
    replicas: int,
    annotations: Mapping[str, str],
    sources: Sequence[str],
    service: str | None = None,
) -> dict[str, Any]:
    """Configure the proxies, and the Service that exposes them. It gets a name of Envoy Gateway's, unless `service` is
    given; then only one Gateway can have this configuration."""
    return {
        "apiVersion": versions.ENVOY_GATEWAY,
        "kind": "EnvoyProxy",
        "metadata": metadata(name=name, namespace=namespace),
        "spec": {
            "provider": {
                "type": "Kubernetes",
                "kubernetes": {
                    "envoyDeployment": {"replicas": replicas},
                    "envoyPDB": {"minAvailable": 1},
                    "envoyService": {
                        **({"name": service} if service else {}),
                        "type": "LoadBalancer",
                        # The default, Local, is refused by Nebius and drops traffic on nodes without a proxy.
                        "externalTrafficPolicy": "Cluster",
                        **({"annotations": dict(annotations)} if annotations else {}),
                        **({"loadBalancerSourceRanges": list(sources)} if sources else {}),
                    },
                },
            }
        },
    }


def backend_traffic_policy(
    *, name: str, namespace: str, gateway: str, stream_idle_timeout: str, most_requests: int
) -> dict[str, Any]:
    """Set Envoy's limits for the backends of a Gateway's routes."""
    return {
        "apiVersion": versions.ENVOY_GATEWAY,
        "kind": "BackendTrafficPolicy",
        "metadata": metadata(name=name, namespace=namespace),
        "spec": {
            "targetRefs": [_target(gateway)],
            "timeout": {"http": {"streamIdleTimeout": stream_idle_timeout}},
            "circuitBreaker": {
                "maxConnections": most_requests,
                "maxPendingRequests": most_requests,
                "maxParallelRequests": most_requests,
            },
        },
    }


def client_traffic_policy(*, name: str, namespace: str, gateway: str, buffer_limit: str) -> dict[str, Any]:
    """Set Envoy's limits for a Gateway's clients."""
    return {
        "apiVersion": versions.ENVOY_GATEWAY,
        "kind": "ClientTrafficPolicy",
        "metadata": metadata(name=name, namespace=namespace),
        "spec": {"targetRefs": [_target(gateway)], "connection": {"bufferLimit": buffer_limit}},
    }


def _target(gateway: str) -> dict[str, str]:
    return {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": gateway}
