"""The manifests of a ModelEndpoint: a Service in front of its address, or of an egress proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.api.modelendpoint import Spec
from function.core import NamespacedName
from function.kinds.modelendpoint.target import Target, needs_proxy
from function.manifests import backends, copies, egress, envoy
from function.vocabulary import labels, names, settings

PROXY = "egress-proxy"
CONFIG = "egress-config"
SERVICE = "service"
SLICE = "slice-"
"""Prefix of the slice's key. The address type follows."""


def manifests(endpoint: NamespacedName, spec: Spec, target: Target) -> dict[str, dict[str, Any]]:
    """Return all manifests by key."""
    return _proxied(endpoint, spec, target) if needs_proxy(spec, target) else _direct(endpoint, target)


def routing(endpoint: NamespacedName, spec: Spec, target: Target) -> dict[str, Any]:
    """Return what a route to the endpoint needs. A proxy sets the Host header itself, and an IP address accepts any."""
    if needs_proxy(spec, target):
        return {"backendName": names.egress(endpoint), "rewritePath": target.rewrite_path}
    asked_for = {"hostname": target.host} if target.is_name else {}
    return {"backendName": names.backend(endpoint), "rewritePath": target.rewrite_path, **asked_for}


def _direct(endpoint: NamespacedName, target: Target) -> dict[str, dict[str, Any]]:
    """Return a Service and its slice. The slice's address type is immutable, so it is part of its name and key."""
    service, address_type = names.backend(endpoint), target.address_type.lower()
    address = backends.endpoint_slice(
        name=names.address_slice(endpoint, address_type),
        namespace=endpoint.namespace,
        service=service,
        address_type=target.address_type,
        address=target.host,
        port=target.port,
        labels=_labels(endpoint),
    )
    return {
        SERVICE: backends.service(name=service, namespace=endpoint.namespace, labels=_labels(endpoint)),
        f"{SLICE}{address_type}": address,
    }


def _proxied(endpoint: NamespacedName, spec: Spec, target: Target) -> dict[str, dict[str, Any]]:
    named: dict[str, Any] = {
        "name": names.egress(endpoint),
        "namespace": endpoint.namespace,
        "labels": _labels(endpoint),
    }
    files = _files(endpoint, spec, target)
    return {
        CONFIG: copies.config_map(**named, data=files),
        PROXY: egress.deployment(
            **named,
            image=settings.EGRESS_IMAGE,
            config_map=named["name"],
            config_hash=names.content_hash(files),
            secret=(spec.auth.secretRef.name, spec.auth.secretRef.key) if spec.auth else None,
        ),
        "egress-budget": egress.disruption_budget(**named),
        "egress-service": backends.service(**named, selector=named["labels"], target_port=envoy.PORT),
    }


def _files(endpoint: NamespacedName, spec: Spec, target: Target) -> Mapping[str, str]:
    return envoy.files(
        node=str(endpoint),
        host=target.host,
        port=target.port,
        address_type=target.address_type,
        tls=target.tls,
        credential=spec.auth is not None,
    )


def _labels(endpoint: NamespacedName) -> dict[str, str]:
    return {labels.ENDPOINT: names.label_value(endpoint.name)}
