"""What is carried from the control cluster to another: namespaces, and what tenants put in Secrets and ConfigMaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.manifests.metadata import metadata
from function.vocabulary import versions


def namespace(*, name: str) -> dict[str, Any]:
    """The same for whoever composes it: several Objects may hold one namespace."""
    return {"apiVersion": versions.CORE, "kind": "Namespace", "metadata": metadata(name=name)}


def secret(
    *,
    name: str,
    namespace: str,
    type_: str,
    data: Mapping[str, str],
    labels: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Immutable; values in base64, as the API server gave them."""
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
) -> dict[str, Any]:
    return {
        "apiVersion": versions.CORE,
        "kind": "ConfigMap",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        **({"immutable": True} if immutable else {}),
        **({"data": dict(data)} if data else {}),
        **({"binaryData": dict(binary_data)} if binary_data else {}),
    }
