"""Backends of routes on the control cluster: Services, and EndpointSlices for addresses that no pod has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.manifests.metadata import metadata
from function.vocabulary import labels as key
from function.vocabulary import versions

PORT = 80
"""Port of every Service that a ModelService's route leads to, whatever port is behind it."""
PORT_NAME = "http"
"""Port name of both Service and slice: gateways match a slice's port to its Service's by name."""
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_UNREACHABLE = "192.0.2.1"
"""An address that nobody has (RFC 5737)."""


def service(
    *,
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    selector: Mapping[str, str] | None = None,
    target_port: int | None = None,
) -> dict[str, Any]:
    """Return a headless Service: gateways read its slices, and nothing needs a cluster IP.

    Without a selector, its addresses are in slices of ours. The protocol is explicit, because a gateway may infer https
    from the port's number (traefik v3.7).
    """
    target = {"targetPort": target_port} if target_port else {}
    return {
        "apiVersion": versions.CORE,
        "kind": "Service",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {
            "clusterIP": "None",
            **({"selector": dict(selector)} if selector else {}),
            "ports": [{"name": PORT_NAME, "port": PORT, **target, "protocol": "TCP", "appProtocol": "http"}],
        },
    }


def endpoint_slice(
    *,
    name: str,
    namespace: str,
    service: str,
    address_type: str,
    address: str,
    port: int,
    labels: Mapping[str, str],
    ready: bool = True,
) -> dict[str, Any]:
    """Return an EndpointSlice with one address of a Service. `address_type` is IPv4, IPv6 or FQDN."""
    whose = {**labels, key.SERVICE_NAME: service, _MANAGED_BY: key.PREFIX.rstrip("/")}
    return {
        "apiVersion": versions.DISCOVERY,
        "kind": "EndpointSlice",
        "metadata": metadata(name=name, namespace=namespace, labels=whose),
        "addressType": address_type,
        "endpoints": [{"addresses": [address], "conditions": {"ready": ready}}],
        "ports": [{"name": PORT_NAME, "port": port, "protocol": "TCP", "appProtocol": "http"}],
    }


def unready_slice(*, name: str, namespace: str, service: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a slice with no ready address, so that its Service answers 503. Without any slice it would answer 500."""
    return endpoint_slice(
        name=name,
        namespace=namespace,
        service=service,
        address_type="IPv4",
        address=_UNREACHABLE,
        port=PORT,
        labels=labels,
        ready=False,
    )
