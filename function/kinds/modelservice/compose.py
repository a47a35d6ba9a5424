"""The manifests of a ModelService: one route, a placeholder that it leads to while no endpoint is ready, and a proxy if
the service asks for what a route cannot do.

The route changes over to the proxy once the proxy can take all traffic, and back before the proxy goes, so that neither
costs a request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.core import Manifest, NamespacedName, dig, dig_list
from function.kinds.modelservice.decide import Decision
from function.manifests import backends, service_routes
from function.vocabulary import names

ROUTE = "route"
GATEWAY = (names.SYSTEM_NAMESPACE, names.CONTROL_GATEWAY)


def manifests(service: NamespacedName, references: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the manifests by key. `references` are what the route leads to, if there is anything.

    The placeholder always exists, so that the route can switch to it at once when the last endpoint goes.
    """
    unready = placeholder(service)
    whose: dict[str, Any] = {"namespace": service.namespace, "labels": {}}
    return {
        "placeholder": backends.service(name=unready, **whose),
        "placeholder-slice": backends.unready_slice(name=unready, service=unready, **whose),
        ROUTE: service_routes.route(
            name=names.route(service),
            namespace=service.namespace,
            gateway=GATEWAY,
            prefix=f"{path(service)}/",
            backend_refs=references or [service_routes.backend_ref(service=unready, weight=1)],
        ),
    }


def to_proxy(service: NamespacedName) -> list[Mapping[str, Any]]:
    """Return the references of a route that leads to the service's proxy, which sees paths as an endpoint does."""
    return [service_routes.backend_ref(service=names.proxy(service), weight=1, rewrite_path="/")]


def to_endpoints(decision: Decision) -> list[Mapping[str, Any]]:
    """Return the references of a route that leads to the endpoints themselves."""
    return [
        service_routes.backend_ref(
            service=endpoint.service, weight=weight, rewrite_path=endpoint.rewrite_path, hostname=endpoint.hostname
        )
        for endpoint, weight in decision.chosen
    ]


def placeholder(service: NamespacedName) -> str:
    """Return the Service that the route leads to while no endpoint is ready."""
    return names.route(service)


def path(service: NamespacedName) -> str:
    """Return the path of a service. It is unique, because names contain no slashes."""
    return f"/{service.namespace}/{service.name}"


def routed(route: Manifest | None) -> frozenset[str]:
    """Return the Services that a route leads to."""
    rules = dig_list(route, "spec", "rules")
    return frozenset(str(dig(ref, "name")) for rule in rules for ref in dig_list(rule, "backendRefs"))
