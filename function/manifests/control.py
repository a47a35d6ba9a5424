"""Objects for the providers and the gateway on the control cluster itself."""

from __future__ import annotations

from typing import Any

from function.core import Manifest
from function.manifests.metadata import metadata
from function.vocabulary import labels as key
from function.vocabulary import versions


def provider_config(*, name: str, api_version: str) -> dict[str, Any]:
    """Return a ClusterProviderConfig for the cluster that the provider runs on. It uses its own service account."""
    return {
        "apiVersion": api_version,
        "kind": "ClusterProviderConfig",
        "metadata": metadata(name=name),
        "spec": {"credentials": {"source": "InjectedIdentity"}},
    }


def definition(crd: Manifest) -> dict[str, Any]:
    """Return a CRD with our managed-by label, which tells it from one that a user installed."""
    marked = {**crd["metadata"], "labels": {**crd["metadata"].get("labels", {}), key.MANAGED_BY: key.OURS}}
    return {**crd, "metadata": marked}


def privileged_namespace(*, name: str) -> dict[str, Any]:
    """Return a namespace whose pods may use the host's network."""
    return {
        "apiVersion": versions.CORE,
        "kind": "Namespace",
        "metadata": metadata(name=name, labels={"pod-security.kubernetes.io/enforce": "privileged"}),
    }


def address_pool(*, name: str, namespace: str, addresses: str) -> dict[str, Any]:
    """Return the addresses that MetalLB may assign to load balancers: a range or a network."""
    return {
        "apiVersion": versions.METALLB,
        "kind": "IPAddressPool",
        "metadata": metadata(name=name, namespace=namespace),
        "spec": {"addresses": [addresses]},
    }


def layer_2(*, name: str, namespace: str, pool: str) -> dict[str, Any]:
    """Make MetalLB announce a pool's addresses on the local network (ARP and NDP)."""
    return {
        "apiVersion": versions.METALLB,
        "kind": "L2Advertisement",
        "metadata": metadata(name=name, namespace=namespace),
        "spec": {"ipAddressPools": [pool]},
    }


def gateway_class(*, name: str, controller: str) -> dict[str, Any]:
    return {
        "apiVersion": versions.GATEWAY,
        "kind": "GatewayClass",
        "metadata": metadata(name=name),
        "spec": {"controllerName": controller},
    }
