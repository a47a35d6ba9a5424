"""The gateway of the cluster: its load balancer, its listeners, and the policies of its proxies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function import clouds
from function.api.servingstack import Gateway, Spec
from function.core import InvalidSpec
from function.manifests import gateway as manifests
from function.vocabulary import charts, names, versions
from function.vocabulary import conditions as c

NAME = names.CLUSTER_GATEWAY
NAMESPACE = names.SYSTEM_NAMESPACE
_REPLICAS = 2
_STREAM_IDLE_TIMEOUT = "600s"
"""The longest pause between two tokens, or before the first. A route's timeout of 0s removes Envoy's default, unless a
policy sets one (gateway v1.8)."""
_MOST_REQUESTS = 65536
"""Requests at a time. Envoy's default of 1,024 is less than the queue of one replica."""
_BUFFER_LIMIT = "50Mi"
"""The largest request body. The endpoint picker reads whole prompts; Envoy Gateway's default is 32Ki."""


def check(spec: Spec) -> None:
    """Raises InvalidSpec for an internal load balancer where it is not known how the source makes one."""
    if spec.gateway and spec.gateway.internal and clouds.BY_NAME[spec.source].internal_load_balancer is None:
        problem = f"how a load balancer stays inside is not known for {spec.source}"
        problem = f"{problem}; give annotations that keep it inside, or allowedSources"
        raise InvalidSpec(c.INVALID_STACK(field="spec.gateway.internal", problem=problem))


def envoy_proxy(spec: Spec) -> dict[str, Any]:
    """Return the EnvoyProxy: replicas, and the Service by which they are reached."""
    wanted = spec.gateway or Gateway()
    source = clouds.BY_NAME[spec.source]
    inside = (source.internal_load_balancer or {}) if wanted.internal else {}
    return manifests.envoy_proxy(
        name=NAME,
        namespace=NAMESPACE,
        replicas=_REPLICAS,
        annotations={**source.load_balancer, **inside, **wanted.annotations},
        sources=wanted.allowedSources,
        service=NAME if source.is_provisioned else None,
    )


def service() -> dict[str, Any]:
    """Return as much of the Service of the load balancer as says which one it is: Envoy Gateway makes it."""
    metadata = {"name": NAME, "namespace": charts.ENVOY_GATEWAY.namespace}
    return {"apiVersion": versions.CORE, "kind": "Service", "metadata": metadata}


def gateway_class(_: Spec) -> dict[str, Any]:
    """Return the GatewayClass of Envoy Gateway."""
    return manifests.gateway_class(
        name=NAME,
        controller=manifests.ENVOY_CONTROLLER,
        parameters={
            "group": versions.ENVOY_GATEWAY.partition("/")[0],
            "kind": "EnvoyProxy",
            "name": NAME,
            "namespace": NAMESPACE,
        },
    )


def gateway(spec: Spec) -> dict[str, Any]:
    """Return the Gateway."""
    return manifests.gateway(name=NAME, namespace=NAMESPACE, class_name=NAME, listeners=list(_listeners(spec)))


def _listeners(spec: Spec) -> Iterator[dict[str, Any]]:
    """Plain http for the ModelEndpoints of the fleet, and https for clients that know the name in the certificate."""
    yield manifests.http_listener(port=80)
    tls = spec.gateway.tls if spec.gateway else None
    if tls:
        yield manifests.https_listener(port=443, secret=tls.secretRef.name, hostname=tls.hostname)


def backend_policy(_: Spec) -> dict[str, Any]:
    """Return the BackendTrafficPolicy of every route: timeouts, and how many requests are taken."""
    return manifests.backend_traffic_policy(
        name=NAME,
        namespace=NAMESPACE,
        gateway=NAME,
        stream_idle_timeout=_STREAM_IDLE_TIMEOUT,
        most_requests=_MOST_REQUESTS,
    )


def client_policy(_: Spec) -> dict[str, Any]:
    """Return the ClientTrafficPolicy of the Gateway: how large a request may be."""
    return manifests.client_traffic_policy(name=NAME, namespace=NAMESPACE, gateway=NAME, buffer_limit=_BUFFER_LIMIT)
