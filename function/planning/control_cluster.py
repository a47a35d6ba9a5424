"""What runs on the control cluster itself: the gateway there accepts routes, and Deployments come up."""

from __future__ import annotations

from typing import Any

from function.core import Manifest
from function.planning import statuses
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import versions

_ADDRESS = "198.18.0.1"
"""Of the control cluster's gateway (of the range for benchmarks, RFC 2544)."""


def tend(store: Store) -> None:
    """Give a status to whatever a controller of the control cluster would give one."""
    there = {ref[1:] for ref in store.refs(versions.CORE, "Service")}
    for manifest in store.of_kind(versions.APPS, "Deployment"):
        wanted = int(manifest["spec"].get("replicas", 1))
        _write(store, manifest, statuses.deployment(manifest, wanted, ""))
    for manifest in store.of_kind(versions.GATEWAY, "HTTPRoute"):
        _write(store, manifest, statuses.accepted(manifest, there))
    for manifest in store.of_kind(versions.GATEWAY, "Gateway"):
        _write(store, manifest, statuses.gateway(manifest, _ADDRESS))
    for kind in statuses.SAID:
        for manifest in store.of_kind(_API_VERSIONS[kind], kind):
            _write(store, manifest, statuses.said(manifest))


_API_VERSIONS = {
    "GatewayClass": versions.GATEWAY,
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
}


def _write(store: Store, manifest: Manifest, status: dict[str, Any]) -> None:
    def write(written: dict[str, Any]) -> None:
        written["status"] = status

    store.update(_ref(manifest), write, status=True)


def _ref(manifest: Manifest) -> Ref:
    return ref_of(manifest)
