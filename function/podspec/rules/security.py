"""Rules of security contexts: settings that contradict one another. What a cluster admits is another question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec.fault import Fault, Path
from function.podspec.rules.volumes import INSIDE, stays_inside

_HOST = ("hostNetwork", "hostPID", "hostIPC")
_NETWORK, _IPC = ("net.",), ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")
"""Beginnings of the sysctls of a network namespace, and of an IPC namespace (k8s.io/component-helpers v0.34,
node/util/sysctl)."""


def of_pod(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a pod's security context, and of the namespaces that it shares with the node."""
    spec, at = template["spec"], ("spec",)
    context = spec.get("securityContext", {})
    yield from _profiles((*at, "securityContext"), context)
    yield from _sysctls((*at, "securityContext", "sysctls"), spec, context.get("sysctls", ()))
    if spec.get("hostPID") and spec.get("shareProcessNamespace"):
        yield Fault((*at, "shareProcessNamespace"), "cannot be set together with hostPID", "rule")
    if spec.get("hostUsers") is False:
        for field in _HOST:
            if spec.get(field):
                yield Fault((*at, field), "cannot be set together with hostUsers: false", "rule")
    if spec.get("os") and "windowsOptions" in context:
        yield Fault((*at, "securityContext", "windowsOptions"), "is not for a Linux pod", "rule")


def of_container(template: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a container's security context."""
    context, at = container.get("securityContext", {}), (*path, "securityContext")
    spec = template["spec"]
    yield from _profiles(at, context)
    if context.get("allowPrivilegeEscalation") is False:
        field = (*at, "allowPrivilegeEscalation")
        if context.get("privileged"):
            yield Fault(field, "cannot be false for a privileged container", "rule")
        if "CAP_SYS_ADMIN" in context.get("capabilities", {}).get("add", ()):
            yield Fault(field, "cannot be false for a container with CAP_SYS_ADMIN", "rule")
    shares_users = spec.get("hostUsers") is not False
    if context.get("procMount") == "Unmasked" and shares_users:
        yield Fault((*at, "procMount"), "can be Unmasked only with hostUsers: false in the pod", "rule")
    if container.get("volumeDevices") and not shares_users:
        yield Fault((*path, "volumeDevices"), "cannot be set together with hostUsers: false", "rule")
    if spec.get("os") and "windowsOptions" in context:
        yield Fault((*at, "windowsOptions"), "is not for a Linux pod", "rule")


def _profiles(path: Path, context: Mapping[str, Any]) -> Iterator[Fault]:
    for kind in ("seccompProfile", "appArmorProfile"):
        profile = context.get(kind)
        if profile is None:
            continue
        at, name = (*path, kind, "localhostProfile"), profile.get("localhostProfile")
        is_local = profile["type"] == "Localhost"
        if is_local and name is None:
            yield Fault(at, "is required with type Localhost", "required")
        elif not is_local and name is not None:
            yield Fault(at, "is only for type Localhost", "rule")
        elif name is not None and kind == "seccompProfile" and not stays_inside(name):
            yield Fault(at, f"must be {INSIDE}", "rule")
        elif name is not None and kind == "appArmorProfile" and (not name or name != name.strip()):
            yield Fault(at, "must be the name of a profile, without blanks around it", "rule")


def _sysctls(path: Path, spec: Mapping[str, Any], sysctls: Any) -> Iterator[Fault]:
    seen = set()
    for index, sysctl in enumerate(sysctls):
        name = sysctl["name"].replace("/", ".")
        if sysctl["name"] in seen:
            yield Fault((*path, index, "name"), f"is the name of a sysctl above it, {sysctl['name']}", "key")
        seen.add(sysctl["name"])
        for field, beginnings in (("hostNetwork", _NETWORK), ("hostIPC", _IPC)):
            if spec.get(field) and name.startswith(beginnings):
                yield Fault((*path, index, "name"), f"is of the node with {field}: true", "rule")
