"""Rules of volumes, by the kind of their source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.cel import quantity
from function.podspec import definitions
from function.podspec.fault import Fault, Path, must_be
from function.podspec.rules import selectors, variables

INSIDE = "a relative path without .."


def stays(path: str) -> bool:
    """Return whether a path has no part that is two dots."""
    return ".." not in path.split("/")


def stays_inside(path: str) -> bool:
    """Return whether a path is relative and leads nowhere above where it starts."""
    return not path.startswith("/") and stays(path)


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of the volumes."""
    for index, volume in enumerate(template["spec"].get("volumes", ())):
        path = ("spec", "volumes", index)
        if "gitRepo" in volume:
            yield Fault((*path, "gitRepo"), "is disabled in Kubernetes; clone in an init container", "rule")
        yield from _files(path, volume)
        yield from _projected((*path, "projected", "sources"), volume.get("projected", {}).get("sources", ()))
        host = volume.get("hostPath")
        if host and not stays(host["path"]):
            yield must_be((*path, "hostPath", "path"), "a path without ..", host["path"])
        remote = volume.get("nfs")
        if remote and not remote["path"].startswith("/"):
            yield must_be((*path, "nfs", "path"), "an absolute path", remote["path"])
        if "ephemeral" in volume:
            claim = volume["ephemeral"]["volumeClaimTemplate"]
            yield from _claim((*path, "ephemeral", "volumeClaimTemplate"), claim)


def _files(path: Path, source: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of the files of a volume, or of one source of a projected volume."""
    for at, file in _paths(path, source):
        if not stays_inside(file) or file.startswith(".."):
            yield must_be(at, INSIDE, file)
    for index, item in enumerate(source.get("downwardAPI", {}).get("items", ())):
        at = (*path, "downwardAPI", "items", index)
        if ("fieldRef" in item) == ("resourceFieldRef" in item):
            yield Fault(at, "must have exactly one of fieldRef, resourceFieldRef", "rule")
        yield from variables.of_field(at, item, in_file=True)


def _paths(path: Path, source: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield where files are named, and their paths."""
    for kind in ("configMap", "secret", "downwardAPI"):
        for index, item in enumerate(source.get(kind, {}).get("items", ())):
            yield (*path, kind, "items", index, "path"), item["path"]
    for kind in ("serviceAccountToken", "clusterTrustBundle"):
        if kind in source:
            yield (*path, kind, "path"), source[kind]["path"]


def _projected(path: Path, sources: Any) -> Iterator[Fault]:
    seen = set()
    for index, source in enumerate(sources):
        yield from _files((*path, index), source)
        for at, file in _paths((*path, index), source):
            if file in seen and "serviceAccountToken" not in at:
                yield Fault(at, f"is the path of a file above it, {file}", "key")
            seen.add(file)


_METADATA = definitions.definition("ObjectMeta").fields
_OF_CLAIMS = ("labels", "annotations")


def _claim(at: Path, template: Mapping[str, Any]) -> Iterator[Fault]:
    metadata, spec, path = template.get("metadata", {}), template["spec"], (*at, "spec")
    for field in metadata:
        if field in _METADATA and field not in _OF_CLAIMS:
            yield Fault(
                (*at, "metadata", field), f"cannot be set here, where only {' and '.join(_OF_CLAIMS)} can", "rule"
            )
    yield from selectors.labels((*at, "metadata", "labels"), metadata.get("labels", {}))
    yield from _amount(path, spec)
    yield from selectors.label_selector((*path, "selector"), spec.get("selector", {}))


def _amount(path: Path, spec: Mapping[str, Any]) -> Iterator[Fault]:
    modes = set(spec["accessModes"])
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield Fault((*path, "accessModes"), "cannot have ReadWriteOncePod beside another mode", "rule")
    amount = spec["resources"].get("requests", {}).get("storage")
    at = (*path, "resources", "requests", "storage")
    if amount is None:
        yield Fault(at, "is required", "required")
    elif quantity.parse(amount) <= quantity.parse("0"):
        yield must_be(at, "more than 0", amount)
