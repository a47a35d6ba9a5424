"""Checks between objects: duplicates, and references that find nothing.

Checks of one kind against the others have modules of their own: caches.py, clusters.py, engines.py and others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from function import gateways
from function.api import inferencecluster, inferencegateway, modelcache, modeldeployment, modelendpoint, modelservice
from function.core import Manifest, NamespacedName, dig, identity
from function.validation import (
    caches,
    callers,
    clusters,
    endpoints,
    engines,
    gangs,
    handover,
    secrets,
    services,
    shared_nodes,
)
from function.validation.finding import Finding

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
    given = [m for _, m in objects if m["kind"] == inferencecluster.KIND]
    yield from clusters.findings(objects, others)
    yield from shared_nodes.findings(objects)
    yield from callers.findings(objects, others)
    held = secrets.given(others)
    around = services.Around(
        servers=tuple(m for _, m in objects if m["kind"] in (modeldeployment.KIND, modelendpoint.KIND)),
        clusters=tuple(given),
        caches=cached,
        gateway=gateways.of(next((m for _, m in objects if m["kind"] == inferencegateway.KIND), None)),
    )
    for index, manifest in objects:
        match manifest["kind"]:
            case modelendpoint.KIND:
                yield from endpoints.findings(index, manifest, held)
            case modelcache.KIND:
                yield from caches.findings(index, manifest, given)
            case modeldeployment.KIND:
                yield from _cache(index, manifest, cached.keys())
                yield from engines.warnings(index, manifest)
                yield from gangs.warnings(index, manifest)
                yield from handover.warnings(index, manifest)
            case modelservice.KIND:
                yield from services.findings(index, manifest, around)


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
