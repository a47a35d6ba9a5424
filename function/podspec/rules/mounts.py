"""Rules of what a container mounts: volumes, and block devices."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from function.core.wording import closest
from function.podspec.fault import Fault, Path, must_be
from function.podspec.rules import volumes

_BLOCK = ("persistentVolumeClaim", "ephemeral")
"""Sources of volumes that can be block devices."""


def faults(template: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a container's mounts and block devices."""
    known = {volume["name"]: volume for volume in template["spec"].get("volumes", ())}
    is_privileged = container.get("securityContext", {}).get("privileged", False)
    for index, mount in enumerate(container.get("volumeMounts", ())):
        at = (*path, "volumeMounts", index)
        yield from _name((*at, "name"), mount["name"], known)
        yield from _mount(at, mount, is_privileged=is_privileged)
    yield from _devices(path, container, known)


def _name(path: Path, name: str, known: Collection[str]) -> Iterator[Fault]:
    if name not in known:
        meant = closest(name, known)
        hint = f"; did you mean {meant}?" if meant else ""
        yield Fault(path, f"names no volume of spec.volumes, {name}{hint}", "rule")


def _mount(path: Path, mount: Mapping[str, Any], *, is_privileged: bool) -> Iterator[Fault]:
    if "subPath" in mount and "subPathExpr" in mount:
        yield Fault((*path, "subPathExpr"), "cannot be set together with subPath", "rule")
    for field in ("subPath", "subPathExpr"):
        if not volumes.stays_inside(mount.get(field, "")):
            yield Fault((*path, field), f"must be {volumes.INSIDE}", "rule")
    propagation = mount.get("mountPropagation", "None")
    if propagation == "Bidirectional" and not is_privileged:
        yield Fault((*path, "mountPropagation"), "can be Bidirectional only in a privileged container", "rule")
    if mount.get("recursiveReadOnly", "Disabled") != "Disabled":
        if not mount.get("readOnly"):
            yield Fault((*path, "recursiveReadOnly"), "needs readOnly: true", "rule")
        if propagation != "None":
            yield Fault((*path, "recursiveReadOnly"), "cannot be set together with mountPropagation", "rule")


def _devices(path: Path, container: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[Fault]:
    mounts = container.get("volumeMounts", ())
    mounted, places = {mount["name"] for mount in mounts}, {mount["mountPath"] for mount in mounts}
    names: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices", ())):
        at, name = (*path, "volumeDevices", index), device["name"]
        yield from _name((*at, "name"), name, known)
        if name in known and not any(kind in known[name] for kind in _BLOCK):
            yield Fault((*at, "name"), "must be a volume with a persistentVolumeClaim, or an ephemeral one", "rule")
        if name in mounted or name in names:
            yield Fault((*at, "name"), f"is mounted already, {name}", "key")
        if device["devicePath"] in places:
            yield Fault((*at, "devicePath"), "is the path of a mount", "key")
        if not volumes.stays(device["devicePath"]):
            yield must_be((*at, "devicePath"), "a path without ..", device["devicePath"])
        names.add(name)
