"""The controllers of the control cluster itself: its gateway accepts routes, and its Deployments become available."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from function.core import Manifest, controller, dig
from function.planning import statuses
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import versions

_ADDRESS = "198.18.0.1"
"""Address of the control cluster's gateway (from the benchmarking range of RFC 2544), unless the input has one."""


def reconcile(store: Store, news: Iterable[Ref]) -> None:
    """Write the status of every object that a controller of the control cluster handles and that may need another.

    Args:
        store: The control cluster.
        news: The objects that changed. A status follows from the object alone, except for a route's, which tells
            whether its Services exist.
    """
    changed = set(news)
    services = any(ref[:2] == (versions.CORE, "Service") for ref in changed)
    there = {ref[1:] for ref in store.refs(versions.CORE, "Service")} if services or _any(changed, "HTTPRoute") else ()
    routes = store.refs(versions.GATEWAY, "HTTPRoute") if services else ()
    for ref in sorted({*changed, *routes}):
        manifest = store.get(ref)
        status = _status(store, manifest, there) if manifest is not None else None
        if manifest is not None and status is not None:
            _write(store, manifest, status)


def _any(refs: Iterable[Ref], kind: str) -> bool:
    return any(ref.kind == kind for ref in refs)


def _status(store: Store, manifest: Manifest, services: Collection[tuple[str, str, str]]) -> dict[str, Any] | None:
    """The status that an object's controller writes; None for an object without one."""
    match manifest["apiVersion"], manifest["kind"]:
        case versions.APPS, "Deployment":
            return statuses.deployment(manifest, int(manifest["spec"].get("replicas", 1)), "")
        case versions.GATEWAY, "HTTPRoute":
            return statuses.accepted(manifest, services)
        case versions.GATEWAY, "Gateway":
            return statuses.gateway(manifest, _address(store, manifest))
        case api_version, kind if _API_VERSIONS.get(kind) == api_version:
            return statuses.unconditional(manifest)
    return None


def _address(store: Store, gateway: Manifest) -> str:
    """The address of a Gateway: its own, that of its InferenceGateway, or one that is made up."""
    owner = controller(gateway["metadata"]) or {}
    publisher = store.get(Ref(str(owner.get("apiVersion")), str(owner.get("kind")), "", str(owner.get("name"))))
    given = dig(gateway, "status", "addresses", 0, "value") or dig(publisher, "status", "address")
    if not given:
        store.invented.note(_ADDRESS)
    return str(given or _ADDRESS)


_API_VERSIONS = {
    "GatewayClass": versions.GATEWAY,
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
}


def _write(store: Store, manifest: Manifest, status: dict[str, Any]) -> None:
    def write(written: dict[str, Any]) -> None:
        written["status"] = status

    store.update(ref_of(manifest), write, status=True)
