"""What the providers do on the control cluster itself."""

from __future__ import annotations

from typing import Any

from function.core import Manifest
from function.manifests.metadata import metadata
from function.vocabulary import labels as key
from function.vocabulary import versions


def provider_config(*, name: str, api_version: str) -> dict[str, Any]:
    """The provider reaches the cluster that it runs on, as itself: by its own service account."""
    return {
        "apiVersion": api_version,
        "kind": "ClusterProviderConfig",
        "metadata": metadata(name=name),
        "spec": {"credentials": {"source": "InjectedIdentity"}},
    }


def definition(crd: Manifest) -> dict[str, Any]:
    """A CRD, marked as ours: whoever brings their own brings it unmarked."""
    marked = {**crd["metadata"], "labels": {**crd["metadata"].get("labels", {}), key.MANAGED_BY: key.OURS}}
    return {**crd, "metadata": marked}


def privileged_namespace(*, name: str) -> dict[str, Any]:
    """A namespace whose pods may use the host's network."""
    return {
        "apiVersion": versions.CORE,
        "kind": "Namespace",
        "metadata": metadata(name=name, labels={"pod-security.kubernetes.io/enforce": "privileged"}),
    }


def address_pool(*, name: str, namespace: str, addresses: str) -> dict[str, Any]:
    """What MetalLB may give to load balancers: a range or a network."""
    return {
        "apiVersion": versions.METALLB,
        "kind": "IPAddressPool",
        "metadata": metadata(name=name, namespace=namespace),
        "spec": {"addresses": [addresses]},
    }


def layer_2(*, name: str, namespace: str, pool: str) -> dict[str, Any]:
    """MetalLB answers for a pool's addresses on the local network (ARP and NDP)."""
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
