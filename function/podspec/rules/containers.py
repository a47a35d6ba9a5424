"""Rules of containers: which there are, their names, ports and restarts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec.engine_container import ENGINE, engine_index
from function.podspec.fault import Fault, Path

SIDECAR = "Always"
"""The restartPolicy of an init container that runs beside the containers."""


def each(template: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield every container of a template with its path, init containers first."""
    for field in ("initContainers", "containers"):
        for index, container in enumerate(template["spec"].get(field, ())):
            yield ("spec", field, index), container


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of the containers together."""
    given = template["spec"]["containers"]
    index = engine_index(given)
    if index is None:
        named = ", ".join(str(container["name"]) for container in given)
        which = f"must have one container named {ENGINE}, or one that runs a known engine: which of {named} is it?"
        yield Fault(("spec", "containers"), which, "rule")
    seen: dict[str, Path] = {}
    for path, container in each(template):
        first = seen.setdefault(container["name"], path)
        if first[1] != path[1]:
            yield Fault((*path, "name"), f"is the name of an init container too, {container['name']}", "key")
        elif index is not None and container["name"] == ENGINE != given[index]["name"]:
            problem = f"is {ENGINE}, the name that container {given[index]['name']} gets; choose another name"
            yield Fault((*path, "name"), problem, "reserved")
    yield from _host_ports(template)


def of_container(_: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of one container."""
    names = set()
    for index, port in enumerate(container.get("ports", ())):
        if (name := port.get("name")) in names:
            yield Fault((*path, "ports", index, "name"), f"is the name of a port above it, {name}", "key")
        names.add(name or index)
    resized = set()
    for index, policy in enumerate(container.get("resizePolicy", ())):
        if (name := policy["resourceName"]) in resized:
            at = (*path, "resizePolicy", index, "resourceName")
            yield Fault(at, f"is the resource of a policy above it, {name}", "key")
        resized.add(name)
    yield from _restarts(path, container)


_NOT_OF_INIT = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def _restarts(path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a container's own restart policy, which Kubernetes 1.35 and later know for every container."""
    policy, has_rules = container.get("restartPolicy"), "restartPolicyRules" in container
    if path[1] != "initContainers":
        if has_rules and policy is None:
            yield Fault((*path, "restartPolicy"), "is required with restartPolicyRules", "required")
        return
    if has_rules and policy == SIDECAR:
        yield Fault(
            (*path, "restartPolicyRules"), f"is not for a sidecar, which restartPolicy: {SIDECAR} makes of it", "rule"
        )
    for field in _NOT_OF_INIT:
        if field in container and policy != SIDECAR:
            problem = (
                f"is not for an init container without restartPolicy: {SIDECAR}, which ends before the others start"
            )
            yield Fault((*path, field), problem, "rule")


def _host_ports(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of ports of the node that two containers take. Init containers run one after the other."""
    taken: set[tuple[Any, ...]] = set()
    for path, container in each(template):
        if path[1] == "initContainers":
            taken = set()
        for index, port in enumerate(container.get("ports", ())):
            key = (port.get("protocol", "TCP"), port.get("hostIP"), port.get("hostPort"))
            if key in taken:
                at = (*path, "ports", index, "hostPort")
                yield Fault(at, f"is the port of the node that a port above it takes, {port['hostPort']}", "key")
            if port.get("hostPort"):
                taken.add(key)
