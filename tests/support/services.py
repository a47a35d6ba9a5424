"""A ModelService, and what it may read: its gateway, endpoints, and the probes and Objects of their clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from function import registry
from function.core import Manifest, NamespacedName, Request, Requirement, Result, dig, plain
from function.kinds.modelservice import compose
from function.sandbox.settle import resolve, settle_with
from function.vocabulary import labels, names, versions

NAMESPACE = "ml-team"
FAULT = "connection refused"
GATEWAY: Manifest = {
    "apiVersion": versions.MODELPLANE,
    "kind": "InferenceGateway",
    "metadata": {"name": "default"},
    "spec": {"backend": "Traefik"},
    "status": {"address": "192.0.2.80"},
}


def service(*selectors: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelService",
        "metadata": {"name": "qwen", "namespace": NAMESPACE, "generation": 1},
        "spec": {"endpoints": [{"weight": 1, "selector": {"matchLabels": dict(match)}} for match in selectors]},
    }


def of_deployment(deployment: str) -> dict[str, str]:
    return {labels.DEPLOYMENT: deployment}


def endpoint(
    name: str,
    cluster: str = "",
    *,
    deployment: str = "qwen",
    ready: bool = True,
    leaving: bool = False,
    **more: str,
) -> dict[str, Any]:
    """An endpoint of a replica that is named like it; without a cluster, of an outside provider."""
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelEndpoint",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {**of_replica(name, cluster, deployment), **more},
            "annotations": {labels.LEAVING: "-"} if leaving else {},
        },
        "status": {"serving": ready, "routing": {"backendName": f"{name}-backend", "rewritePath": f"/{name}/"}},
    }


def of_replica(name: str, cluster: str, deployment: str) -> dict[str, str]:
    """The labels of a replica; an empty one is left out."""
    index = name if cluster else ""
    values = zip(labels.OF_REPLICA, (deployment, cluster, index), strict=True)
    return {key: value for key, value in values if value}


def probe(cluster: str, *, lost: bool = False) -> dict[str, Any]:
    return _object(
        names.probe(cluster),
        names.SYSTEM_NAMESPACE,
        {labels.CLUSTER: cluster, labels.PROBE: labels.PROBE_OF_GATEWAY},
        lost=lost,
    )


def object_of(endpoint: Manifest, *, lost: bool = False, part: str = "route") -> dict[str, Any]:
    """An Object of the replica behind an endpoint."""
    given = dig(endpoint, "metadata", "labels") or {}
    shared = {key: given[key] for key in labels.OF_REPLICA if key in given}
    return _object(f"{endpoint['metadata']['name']}-{part}", NAMESPACE, shared, lost=lost)


def _object(name: str, namespace: str, given: Mapping[str, str], *, lost: bool) -> dict[str, Any]:
    told = {"status": "False", "message": f"cannot get object: dial tcp: {FAULT}"} if lost else {"status": "True"}
    return {
        "apiVersion": versions.PROVIDER_KUBERNETES,
        "kind": "Object",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(given)},
        "status": {"conditions": [{"type": "Synced", **told}]},
    }


def reconciled(
    request: Request, world: list[Manifest], *, missing: str = "", asked: tuple[Requirement, ...] | None = None
) -> Result:
    """The answer of a reconcile in which the requirement `missing` finds nothing, and everything else is found.

    `asked` is what the last reconcile asked for.
    """

    def find(wanted: tuple[Requirement, ...]) -> dict[str, tuple[Manifest, ...]]:
        found = resolve(wanted, world)
        return {**found, missing: ()} if missing in found else found

    return settle_with(registry.compose, request, find, asked)


def after(request: Request, result: Result) -> Request:
    """The request of the next reconcile: what was composed is observed."""
    return replace(request, observed={key: plain(one.manifest) for key, one in result.resources.items()})


def routing_to(*endpoints: Manifest, xr: Manifest) -> Request:
    """The request of a service whose route leads to some endpoints."""
    refs = [{"kind": "Service", "name": f"{one['metadata']['name']}-backend", "weight": 1} for one in endpoints]
    who = NamespacedName(NAMESPACE, xr["metadata"]["name"])
    route = {
        "apiVersion": versions.GATEWAY,
        "kind": "HTTPRoute",
        "metadata": {"name": names.route(who), "namespace": NAMESPACE},
        "spec": {"rules": [{"backendRefs": refs or [{"kind": "Service", "name": compose.placeholder(who)}]}]},
    }
    return Request(xr=xr, observed={compose.ROUTE: route})


def routed(result: Result) -> set[str]:
    """The endpoints that the route of an answer leads to."""
    found = compose.routed(result.resources[compose.ROUTE].manifest)
    return {name.removesuffix("-backend") for name in found if name.endswith("-backend")}


def asked(result: Result) -> set[str]:
    return {requirement.name for requirement in result.requirements}
