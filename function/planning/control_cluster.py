"""The controllers of the control cluster itself: its gateway accepts routes, and its Deployments become available."""

from __future__ import annotations

from typing import Any

from function.core import Manifest
from function.planning import statuses
from function.sandbox.store import Store, ref_of
from function.vocabulary import versions

_ADDRESS = "198.18.0.1"
"""Address of the control cluster's gateway (from the benchmarking range of RFC 2544)."""


def reconcile(store: Store) -> None:
    """Write the status of every object that a controller of the control cluster handles."""
    there = {ref[1:] for ref in store.refs(versions.CORE, "Service")}
    for manifest in store.of_kind(versions.APPS, "Deployment"):
        wanted = int(manifest["spec"].get("replicas", 1))
        _write(store, manifest, statuses.deployment(manifest, wanted, ""))
    for manifest in store.of_kind(versions.GATEWAY, "HTTPRoute"):
        _write(store, manifest, statuses.accepted(manifest, there))
    for manifest in store.of_kind(versions.GATEWAY, "Gateway"):
        _write(store, manifest, statuses.gateway(manifest, _ADDRESS))
    for kind in statuses.CONDITIONS:
        for manifest in store.of_kind(_API_VERSIONS[kind], kind):
            _write(store, manifest, statuses.unconditional(manifest))


_API_VERSIONS = {
    "GatewayClass": versions.GATEWAY,
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
}


def _write(store: Store, manifest: Manifest, status: dict[str, Any]) -> None:
    def write(written: dict[str, Any]) -> None:
        written["status"] = status

    store.update(ref_of(manifest), write, status=True)
