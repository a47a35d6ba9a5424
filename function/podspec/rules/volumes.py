"""Rules of volumes and where containers mount them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from function.core.wording import closest
from function.podspec.fault import Fault, Path


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of the volumes."""
    for index, volume in enumerate(template["spec"].get("volumes", ())):
        path = ("spec", "volumes", index)
        if "gitRepo" in volume:
            yield Fault((*path, "gitRepo"), "is disabled in Kubernetes; clone in an init container", "rule")
        for kind in ("configMap", "secret"):
            yield from _items((*path, kind), volume.get(kind, {}))
        for at, source in enumerate(volume.get("projected", {}).get("sources", ())):
            for kind in ("configMap", "secret"):
                yield from _items((*path, "projected", "sources", at, kind), source.get(kind, {}))


def _items(path: Path, source: Mapping[str, Any]) -> Iterator[Fault]:
    for index, item in enumerate(source.get("items", ())):
        if not _stays_inside(item["path"]):
            yield Fault((*path, "items", index, "path"), "must be a relative path without ..", "rule")


def mounts(template: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a container's mounts and block devices."""
    volumes = {volume["name"]: volume for volume in template["spec"].get("volumes", ())}
    for index, mount in enumerate(container.get("volumeMounts", ())):
        at = (*path, "volumeMounts", index)
        yield from _known((*at, "name"), mount["name"], volumes)
        if not mount["mountPath"] or ":" in mount["mountPath"]:
            yield Fault((*at, "mountPath"), "must be a path without a colon", "rule")
        if "subPath" in mount and "subPathExpr" in mount:
            yield Fault((*at, "subPathExpr"), "cannot be set together with subPath", "rule")
        for field in ("subPath", "subPathExpr"):
            if not _stays_inside(mount.get(field, "")):
                yield Fault((*at, field), "must be a relative path without ..", "rule")
    for index, device in enumerate(container.get("volumeDevices", ())):
        at = (*path, "volumeDevices", index)
        yield from _known((*at, "name"), device["name"], volumes)


def _known(path: Path, name: str, volumes: Mapping[str, Any]) -> Iterator[Fault]:
    if name not in volumes:
        meant = closest(name, volumes)
        hint = f"; did you mean {meant}?" if meant else ""
        yield Fault(path, f"names no volume of spec.volumes, {name}{hint}", "rule")


def _stays_inside(path: str) -> bool:
    return not path.startswith("/") and ".." not in PurePosixPath(path).parts
