"""Rules of containers: their names, variables, ports, and security contexts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec import field_paths
from function.podspec.engine_container import ENGINE, engine_index
from function.podspec.fault import Fault, Path, must_be

SIDECAR = "Always"
"""The restartPolicy of an init container that runs beside the containers."""


def each(template: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield every container of a template with its path, init containers first."""
    for field in ("initContainers", "containers"):
        for index, container in enumerate(template["spec"].get(field, ())):
            yield ("spec", field, index), container


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of the containers together."""
    given = template["spec"].get("containers", ())
    at: Path = ("spec", "containers")
    if not given:
        yield Fault(at, "must have at least 1 item, not 0", "rule")
    elif engine_index(given) is None:
        named = ", ".join(str(container["name"]) for container in given)
        yield Fault(
            at,
            f"must have one container named {ENGINE}, or one that runs a known engine: which of {named} is it?",
            "rule",
        )
    seen: dict[str, Path] = {}
    for path, container in each(template):
        first = seen.setdefault(container["name"], path)
        if first[1] != path[1]:
            yield Fault((*path, "name"), f"is the name of another container, {container['name']}", "key")


def of_container(_: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of one container."""
    yield from _variables(path, container)
    yield from _port_names(path, container)
    yield from _privileges(path, container.get("securityContext", {}))
    if path[1] == "initContainers":
        yield from _init(path, container)
    for hook, handler in container.get("lifecycle", {}).items():
        if hook in ("postStart", "preStop") and "grpc" in handler:
            yield Fault((*path, "lifecycle", hook), "cannot be grpc", "rule")


def _variables(path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    for index, variable in enumerate(container.get("env", ())):
        if variable.get("value") and "valueFrom" in variable:
            yield Fault((*path, "env", index), "has a value or a valueFrom, not both", "rule")
        field = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        if field is not None and not field_paths.is_field_path(field):
            yield must_be((*path, "env", index, "valueFrom", "fieldRef", "fieldPath"), field_paths.WORDS, field)


def _port_names(path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    seen = set()
    for index, port in enumerate(container.get("ports", ())):
        if (name := port.get("name")) is None:
            continue
        if name in seen:
            yield Fault((*path, "ports", index, "name"), f"is the name of a port above it, {name}", "key")
        seen.add(name)


def _privileges(path: Path, context: Mapping[str, Any]) -> Iterator[Fault]:
    at = (*path, "securityContext", "allowPrivilegeEscalation")
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            yield Fault(at, "cannot be false for a privileged container", "rule")
        if "CAP_SYS_ADMIN" in context.get("capabilities", {}).get("add", ()):
            yield Fault(at, "cannot be false for a container with CAP_SYS_ADMIN", "rule")


_NOT_OF_INIT = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def _init(path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    restarts = container.get("restartPolicy", SIDECAR)
    if restarts != SIDECAR:
        yield Fault((*path, "restartPolicy"), f"must be {SIDECAR}, which makes a sidecar of it", "value")
    if "restartPolicy" in container:
        return
    for field in _NOT_OF_INIT:
        if field in container:
            problem = "is not for an init container without restartPolicy: Always, which ends before the others start"
            yield Fault((*path, field), problem, "rule")
