"""The Gateway of a cluster."""

from __future__ import annotations

from typing import Any

from function import versions

HAS_ADDRESS = "has(object.status) && has(object.status.addresses) && object.status.addresses.size() > 0"
"""CEL over a Gateway: whether traffic can be sent to it."""


def reference(*, name: str, namespace: str) -> dict[str, Any]:
    """A Gateway that someone else writes."""
    return {"apiVersion": versions.GATEWAY, "kind": "Gateway", "metadata": {"name": name, "namespace": namespace}}
