"""Warnings about ModelCaches: claims that no cluster gets, clusters without storage, patterns that take each other's
files away, tokens in clear text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function import clouds
from function.api.weights import SOURCES
from function.core import Manifest, dig, dig_fields, dig_objects, dig_text_fields, enumerate_names, identity
from function.validation.finding import Finding
from function.validation.selection import Labelled

_CLAIMS = ("spec", "persistentVolumeClaim", "claims")


def findings(index: int, manifest: Manifest, clusters: Labelled) -> Iterator[Finding]:
    """Return the warnings about one valid cache, among the clusters that are validated with it."""
    yield from _claims(index, manifest, clusters)
    yield from _storage(index, manifest, clusters)
    for source in SOURCES:
        block = dig_fields(manifest, "spec", source.field)
        yield from _patterns(index, source.field, block)
        yield from _clear_text(index, source.field, block)


def _claims(index: int, manifest: Manifest, clusters: Labelled) -> Iterator[Finding]:
    wanted = [_labels(claim) for claim in dig_objects(manifest, *_CLAIMS)]
    cached = {identity(one).name for one in clusters.matching("", _labels(manifest["spec"]))} if wanted else set()
    for position, selector in enumerate(wanted):
        path = (*_CLAIMS, position)
        before = next((at for at in range(position) if wanted[at].items() <= selector.items()), None)
        if before is not None:
            problem = f"is never chosen: claims[{before}] selects every cluster that it selects"
            yield Finding(index, path, problem, "claims")
        elif clusters and cached.isdisjoint(identity(one).name for one in clusters.matching("", selector)):
            names = enumerate_names(sorted(identity(one).name for one in clusters.matching("", {})))
            yield Finding(index, path, f"selects none of the clusters that are given: {names}", "claims")


def _storage(index: int, manifest: Manifest, clusters: Labelled) -> Iterator[Finding]:
    """Weights that need a volume, where every cluster that is selected is in a cloud without such storage."""
    if dig(manifest, *_CLAIMS):
        return
    chosen = clusters.matching("", _labels(manifest["spec"]))
    if chosen and all(_source(cluster).no_storage for cluster in chosen):
        without = {identity(cluster).name: _source(cluster).no_storage for cluster in chosen}
        names, why = enumerate_names(sorted(without)), without[min(without)]
        problem = f"selects only clusters without storage for ModelCaches: {names}. {why}"
        path = ("spec", "clusterSelector") if "clusterSelector" in manifest["spec"] else ("spec",)
        yield Finding(index, path, problem, "no-storage")


def _source(cluster: Manifest) -> clouds.Source:
    return clouds.BY_NAME[cluster["spec"]["cluster"]["source"]]


def _labels(selecting: Mapping[str, Any]) -> dict[str, str]:
    return dig_text_fields(selecting, "clusterSelector", "matchLabels")


def _patterns(index: int, field: str, block: Mapping[str, Any]) -> Iterator[Finding]:
    excluded = set(block.get("exclude") or ())
    for position, pattern in enumerate(block.get("include") or ()):
        if pattern in excluded or "*" in excluded:
            problem = "includes only files that exclude takes away again"
            yield Finding(index, ("spec", field, "include", position), problem, "patterns")


def _clear_text(index: int, field: str, block: Mapping[str, Any]) -> Iterator[Finding]:
    if field == "huggingFace" and block.get("authSecret") and str(block.get("endpoint") or "").startswith("http:"):
        problem = "is http, so the token of authSecret would be sent unencrypted"
        yield Finding(index, ("spec", field, "endpoint"), problem, "clear-text")
