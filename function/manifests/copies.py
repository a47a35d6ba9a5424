"""Objects copied from the control cluster to another one: namespaces, and tenants' Secrets and ConfigMaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.manifests.metadata import metadata
from function.vocabulary import versions


def namespace(*, name: str) -> dict[str, Any]:
    """Return a namespace. Every caller gets the same manifest, so several Objects may hold one namespace."""
    return {"apiVersion": versions.CORE, "kind": "Namespace", "metadata": metadata(name=name)}


def secret(
    *,
    name: str,
    namespace: str,
    type_: str,
    data: Mapping[str, str],
    labels: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return an immutable Secret. Its values are base64, as the API server returned them."""
    return {
        "apiVersion": versions.CORE,
        "kind": "Secret",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "type": type_,
        "immutable": True,
        "data": dict(data),
    }


def config_map(
    *,
    name: str,
    namespace: str,
    data: Mapping[str, str],
    binary_data: Mapping[str, str] | None = None,
    immutable: bool = False,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    return {
        "apiVersion": versions.CORE,
        "kind": "ConfigMap",
        "metadata": metadata(name=name, namespace=namespace, labels=labels, annotations=annotations),
        **({"immutable": True} if immutable else {}),
        **({"data": dict(data)} if data else {}),
        **({"binaryData": dict(binary_data)} if binary_data else {}),
    }
