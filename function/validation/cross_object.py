"""Checks between objects: duplicates, references that find nothing, services that leave their region.

Checks of one kind against the others have modules of their own: caches.py, clusters.py, engines.py and others.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Collection, Iterator, Mapping, Sequence

from function import gateways
from function.api import inferencecluster, inferencegateway, modelcache, modeldeployment, modelendpoint, modelservice
from function.core import Manifest, NamespacedName, dig, identity
from function.kinds.modelendpoint import permission, target
from function.validation import caches, callers, clusters, engines, gangs, handover, shared_nodes
from function.validation.finding import Finding
from function.vocabulary import labels
from function.vocabulary.egress import Policy

Indexed = tuple[int, Manifest]

_CLUSTER_NAMES = (".svc", ".cluster.local", ".localhost")


def duplicates(objects: Sequence[Indexed]) -> Iterator[Finding]:
    """Report objects that appear twice."""
    seen: dict[tuple[str, NamespacedName], int] = {}
    for index, manifest in objects:
        who = manifest["kind"], identity(manifest)
        first = seen.setdefault(who, index)
        if first != index:
            yield Finding(index, ("metadata", "name"), f"appears twice: {who[0]} {who[1]}", "duplicate", other=first)


def lint(objects: Sequence[Indexed], others: Sequence[Manifest] = ()) -> Iterator[Finding]:
    """Warn about valid objects that probably do not mean what they say, among objects of other kinds."""
    servers = [m for _, m in objects if m["kind"] in (modeldeployment.KIND, modelendpoint.KIND)]
    cached = engines.caches(objects)
    given = [m for _, m in objects if m["kind"] == inferencecluster.KIND]
    yield from clusters.findings(objects, others)
    yield from shared_nodes.findings(objects)
    yield from callers.findings(objects, others)
    given_gateway = next((m for _, m in objects if m["kind"] == inferencegateway.KIND), None)
    gateway, policy = gateways.of(given_gateway), inferencegateway.policy(given_gateway)
    for index, manifest in objects:
        match manifest["kind"]:
            case modelendpoint.KIND:
                yield from _denied(index, manifest, policy) or _endpoint(index, manifest)
            case modelcache.KIND:
                yield from caches.findings(index, manifest, given)
            case modeldeployment.KIND:
                yield from _cache(index, manifest, cached.keys())
                yield from engines.warnings(index, manifest)
                yield from gangs.warnings(index, manifest)
                yield from handover.warnings(index, manifest)
            case modelservice.KIND:
                chosen = _chosen(manifest, servers)
                yield from _selectors(index, manifest, servers)
                yield from _too_many(index, sum(map(_backends, chosen)), gateway.most_backends)
                yield from _residency(index, chosen)
                yield from engines.differing_names(index, chosen, cached)


def _endpoint(index: int, manifest: Manifest) -> Iterator[Finding]:
    spec = manifest["spec"]
    parts = urllib.parse.urlsplit(spec["url"])
    if spec.get("auth") and parts.scheme == "http":
        yield Finding(
            index, ("spec", "url"), "is http, so the key of spec.auth would be sent unencrypted", "clear-text"
        )
    if (parts.hostname or "").endswith(_CLUSTER_NAMES):
        yield Finding(index, ("spec", "url"), "points into the control cluster or its own network", "in-cluster")


def _denied(index: int, endpoint: Manifest, policy: Policy) -> list[Finding]:
    """Return what is wrong with a host that the built-in lists deny, or the InferenceGateway among the objects."""
    where = target.parse(modelendpoint.parse(endpoint))
    lists = Policy() if permission.is_replicas(endpoint) else policy
    denial = lists.denial(where.host, identity(endpoint).namespace)
    if denial is None:
        return []
    refusal = permission.refusal(where, denial)
    return [Finding(index, ("spec", "url"), str(refusal.condition.facts["problem"]), "refused")]


def _cache(index: int, manifest: Manifest, cached: Collection[NamespacedName]) -> Iterator[Finding]:
    name = dig(manifest, "spec", "modelCacheRef", "name")
    if name is None:
        yield from _uncached(index, manifest)
        return
    wanted = NamespacedName(identity(manifest).namespace, name)
    elsewhere = sorted(cache.namespace for cache in cached if cache.name == name)
    if elsewhere and wanted not in cached:
        problem = f"names a ModelCache of its own namespace, but {name} is only in {', '.join(elsewhere)}"
        yield Finding(index, ("spec", "modelCacheRef", "name"), problem, "tenancy")


def _uncached(index: int, manifest: Manifest) -> Iterator[Finding]:
    for position, engine in enumerate(manifest["spec"]["engines"]):
        if any(member.get("role") == "Worker" for member in engine["members"]):
            problem = "is a gang without a ModelCache: each of its nodes downloads the weights itself"
            yield Finding(index, ("spec", "engines", position), problem, "cache")


def _chosen(service: Manifest, servers: Sequence[Manifest]) -> list[Manifest]:
    """Return the endpoints and deployments that a service selects, in its own namespace."""
    namespace = identity(service).namespace
    selectors = [entry["selector"]["matchLabels"] for entry in service["spec"]["endpoints"]]
    ours = [server for server in servers if identity(server).namespace == namespace]
    return [server for server in ours if any(_selects(selector, server) for selector in selectors)]


def _selectors(index: int, service: Manifest, servers: Sequence[Manifest]) -> Iterator[Finding]:
    namespace = identity(service).namespace
    for position, entry in enumerate(service["spec"]["endpoints"]):
        found = {identity(server).namespace for server in servers if _selects(entry["selector"]["matchLabels"], server)}
        if found and namespace not in found:
            problem = (
                f"selects only endpoints of its own namespace, but those it matches are in {', '.join(sorted(found))}"
            )
            yield Finding(index, ("spec", "endpoints", position, "selector"), problem, "tenancy")


def _too_many(index: int, backends: int, most: int) -> Iterator[Finding]:
    if backends > most:
        problem = f"match {backends} endpoints, but a route has at most {most}; the others get no traffic"
        yield Finding(index, ("spec", "endpoints"), problem, "endpoints")


def _residency(index: int, servers: Sequence[Manifest]) -> Iterator[Finding]:
    regions = {_region(server) for server in servers} - {""}
    free = sorted(identity(server).name for server in servers if not _region(server))
    if regions and free:
        problem = (
            f"mix endpoints in {', '.join(sorted(regions))} with endpoints that may be anywhere: {', '.join(free)}"
        )
        yield Finding(index, ("spec", "endpoints"), problem, "residency")


def _backends(server: Manifest) -> int:
    return int(server["spec"].get("replicas", 1)) if server["kind"] == modeldeployment.KIND else 1


def _selects(wanted: Mapping[str, str], manifest: Manifest) -> bool:
    """Return whether a selector matches an endpoint, or the endpoints that a deployment will have."""
    metadata = manifest["metadata"]
    has = dict(metadata.get("labels") or {})
    if manifest["kind"] == modeldeployment.KIND:
        has = labels.users(has) | {labels.DEPLOYMENT: metadata["name"]}
    return all(has.get(key) == value for key, value in wanted.items())


def _region(manifest: Manifest) -> str:
    """Return the region to which an endpoint, or a deployment's endpoints, are bound. Empty if they may be anywhere."""
    selector = dig(manifest, "spec", "clusterSelector", "matchLabels") or {}
    return str(selector.get(labels.REGION, ""))
