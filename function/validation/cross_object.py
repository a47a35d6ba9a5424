"""Checks between objects: duplicates, and what does not go together.

Checks of one kind against the others have modules of their own: caches.py, clusters.py, engines.py and others.
References are checked in dangling.py, selectors.py and attributes.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function import gateways
from function.api import inferencegateway, modelcache, modeldeployment, modelendpoint, modelservice
from function.core import Manifest, NamespacedName, identity
from function.kinds.modelendpoint import permission, target
from function.validation import (
    caches,
    callers,
    clusters,
    endpoints,
    engines,
    gangs,
    handover,
    model_names,
    selection,
    services,
    shared_nodes,
)
from function.validation.finding import Finding
from function.vocabulary.egress import Policy

Indexed = tuple[int, Manifest]


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
    cached = engines.caches(objects)
    manifests = [manifest for _, manifest in objects]
    given = selection.clusters(manifests)
    yield from clusters.findings(objects, others)
    yield from shared_nodes.findings(objects)
    yield from callers.findings(objects)
    gateway = next((m for _, m in objects if m["kind"] == inferencegateway.KIND), None)
    policy = inferencegateway.policy(gateway)
    around = services.Around(
        servers=selection.servers(manifests),
        clusters=given,
        caches=cached,
        gateway=gateways.of(gateway),
    )
    for index, manifest in objects:
        match manifest["kind"]:
            case modelendpoint.KIND:
                yield from _denied(index, manifest, policy) or endpoints.findings(index, manifest)
            case modelcache.KIND:
                yield from caches.findings(index, manifest, given)
            case modeldeployment.KIND:
                yield from _uncached(index, manifest)
                yield from engines.warnings(index, manifest)
                yield from gangs.warnings(index, manifest)
                yield from handover.warnings(index, manifest)
                for path, problem, code in model_names.of_engines(manifest, cached):
                    yield Finding(index, path, problem, code)
            case modelservice.KIND:
                yield from services.findings(index, manifest, around)


def _denied(index: int, endpoint: Manifest, policy: Policy) -> list[Finding]:
    """Return what is wrong with a host that the built-in lists deny, or the InferenceGateway among the objects."""
    where = target.parse(modelendpoint.parse(endpoint))
    lists = Policy() if permission.is_replicas(endpoint) else policy
    denial = lists.denial(where.host, identity(endpoint).namespace)
    if denial is None:
        return []
    refusal = permission.refusal(where, denial)
    return [Finding(index, ("spec", "url"), str(refusal.condition.facts["problem"]), "refused")]


def _uncached(index: int, manifest: Manifest) -> Iterator[Finding]:
    if "modelCacheRef" in manifest["spec"]:
        return
    for position, engine in enumerate(manifest["spec"]["engines"]):
        if any(member.get("role") == "Worker" for member in engine["members"]):
            problem = "is a gang without a ModelCache: each of its nodes downloads the weights itself"
            yield Finding(index, ("spec", "engines", position), problem, "cache")
