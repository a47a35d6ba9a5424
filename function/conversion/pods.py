"""A pod template of another workload as the template of a member, with the devices that it asks for.

Phases, in call order:

1. `_read`: the template is read as Kubernetes reads it. One that Kubernetes would not read is not converted. Fields
   that Kubernetes does not know are left out.
2. `_without_defaults`: what the API server filled in is left out, in an object that was read from one.
3. `_engine`: one container becomes the engine, by name.
4. `devices.moved`, `claims.moved`, `nodes.moved`: resources of device plugins, claims and labels of GPU nodes become
   device requests.
5. `_without_refused`: fields that Modelplane refuses, and that mean nothing to it, are left out.
6. `prerequisites`: what the pods need besides, such as Secrets and claims, is named.

Everything else stays as it is. Each step tells in notes what it did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function import podspec
from function.conversion import claims, devices, nodes
from function.conversion.notes import NotConvertible, Notes, Path
from function.podspec import reserved, security
from function.schema import without_nulls

_SERVERS = ("creationTimestamp", "name", "namespace", "generateName", "uid", "resourceVersion", "managedFields")
"""Fields of a template's metadata that say nothing about its pods."""
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_OF_TOOLS = ("kubectl.kubernetes.io/", "deployment.kubernetes.io/")
"""Prefixes of annotations that kubectl and controllers write."""
_POD_DEFAULTS: Mapping[str, Any] = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
    "serviceAccountName": "default",
}
_CONTAINER_DEFAULTS: Mapping[str, Any] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
"""What the API server fills in (k8s.io/kubernetes v1.36, pkg/apis/core/v1/defaults.go)."""


@dataclass(frozen=True, slots=True)
class MemberParts:
    """What a pod template became."""

    template: dict[str, Any]
    devices: list[dict[str, Any]]
    """Device requests. Empty if the pods ask for no device that Modelplane knows."""
    clusters: dict[str, str]
    """Labels that the cluster must have."""
    container: str
    """Name of the engine's container in the source."""


def member(raw: Any, notes: Notes, *, is_dump: bool = False) -> MemberParts:
    """Convert a pod template.

    Args:
        raw: A PodTemplateSpec: metadata and spec.
        notes: Notes whose source is the template, and whose target is the member.
        is_dump: Whether the object was read from an API server.

    Raises:
        NotConvertible: Kubernetes would not read the template.
    """
    inside = notes.at((), ("template",))
    template = _read(raw, inside)
    spec: dict[str, Any] = template["spec"]
    if is_dump:
        _without_defaults(spec)
    preferred = template.get("metadata", {}).get("annotations", {}).get(_DEFAULT_CONTAINER)
    container = _engine(spec, preferred, inside.at(("spec",), ("spec",)))
    _metadata(template, inside.at(("metadata",), ("metadata",)))
    asked = devices.moved(spec, notes.at(("spec",)))
    claimed = claims.moved(spec, notes.at(("spec",)))
    selected = nodes.moved(spec, inside.at(("spec",), ("spec",)))
    _without_refused(spec, inside.at(("spec",), ("spec",)))
    requests = devices.distinct([*devices.requests(asked, selected.devices, notes), *claimed])
    prerequisites(template, inside)
    return MemberParts(template, requests, selected.clusters, container)


def engine_of(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the engine's container of a converted template."""
    containers = template["spec"]["containers"]
    found: dict[str, Any] = containers[podspec.engine_index(containers) or 0]
    return found


def _read(raw: Any, notes: Notes) -> dict[str, Any]:
    reading = podspec.read(without_nulls(raw))
    for fault in reading.faults:
        if fault.code in ("value", "required") and _walked(reading.template, fault.path) is None:
            raise NotConvertible((*notes.source, *fault.path), fault.message)
    if "spec" not in reading.template:
        raise NotConvertible(notes.source, "must be a pod template")
    for fault in reading.unknown:
        holder = _walked(reading.template, fault.path[:-1])
        if isinstance(holder, dict) and fault.path[-1] in holder:
            del holder[fault.path[-1]]
            notes.lost(fault.path, fault.message)
    return reading.template


def _walked(value: Any, path: Path) -> Any:
    for step in path:
        is_there = step in value if isinstance(value, dict) else isinstance(value, list) and isinstance(step, int)
        if not is_there or (isinstance(value, list) and not 0 <= int(step) < len(value)):
            return None
        value = value[step]
    return value


def _without_defaults(spec: dict[str, Any]) -> None:
    """Leave out what the API server fills in. The grace period of an engine is longer by default here."""
    if spec.get("serviceAccount") == spec.get("serviceAccountName"):
        spec.pop("serviceAccount", None)
    _drop(spec, _POD_DEFAULTS)
    for field in ("containers", "initContainers"):
        for container in spec.get(field, ()):
            _drop(container, _CONTAINER_DEFAULTS)


def _drop(value: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for name, default in defaults.items():
        if value.get(name) == default:
            del value[name]


def _metadata(template: dict[str, Any], notes: Notes) -> None:
    metadata = template.get("metadata", {})
    for name in [name for name in metadata if name not in ("labels", "annotations")]:
        del metadata[name]
        if name not in _SERVERS:
            notes.lost((name,), "is not passed on to pods")
    for field in ("labels", "annotations"):
        entries = metadata.get(field, {})
        for key in [key for key in entries if key.startswith((*reserved.RESERVED_KEYS, *_OF_TOOLS))]:
            del entries[key]
            if not key.startswith(_OF_TOOLS):
                notes.lost((field, key), "is set by Modelplane or by the controller of the pods")
        if not entries:
            metadata.pop(field, None)
    if not metadata:
        template.pop("metadata", None)


def _engine(spec: dict[str, Any], preferred: str | None, notes: Notes) -> str:
    """Name the engine's container. Return the name that it had."""
    containers: list[dict[str, Any]] = spec.get("containers", [])
    if not containers:
        raise NotConvertible((*notes.source, "containers"), "must have a container")
    index, why = _chosen(containers, preferred)
    before: str = containers[index]["name"]
    if before == podspec.ENGINE:
        return before
    containers[index]["name"] = podspec.ENGINE
    _rename_references(spec, before)
    at: Path = ("containers", index, "name")
    notes.changed(at, at, f"is {podspec.ENGINE} now{why}")
    return before


def _chosen(containers: list[dict[str, Any]], preferred: str | None) -> tuple[int, str]:
    """Return the index of the engine's container, and why it is that one if there are several."""
    for number, container in enumerate(containers):
        if container["name"] == preferred:
            return number, f": annotation {_DEFAULT_CONTAINER} names it"
    index = podspec.engine_index(containers)
    if index is not None:
        return index, ": it runs a known engine" if len(containers) > 1 else ""
    for number, container in enumerate(containers):
        if devices.asks(container):
            return number, ": it is the container that asks for devices"
    return 0, ": it is the first container; check that it is the engine"


def _rename_references(spec: dict[str, Any], before: str) -> None:
    """Rename the engine's container where a container's or a volume's field refers to its resources."""
    holders: list[Any] = [spec.get("volumes", []), spec["containers"], spec.get("initContainers", [])]
    while holders:
        value = holders.pop()
        if isinstance(value, dict):
            reference = value.get("resourceFieldRef")
            if isinstance(reference, dict) and reference.get("containerName") == before:
                reference["containerName"] = podspec.ENGINE
            holders += value.values()
        elif isinstance(value, list):
            holders += value


_REFUSED = {
    "nodeName": "pins the pods to one node; Modelplane picks the pool",
    "schedulerName": "is set by Modelplane, which has Kubernetes' own scheduler place the pods",
    "activeDeadlineSeconds": "is not for pods that restart always",
    "ephemeralContainers": "is for pods that run already",
}
_DEFAULT_SCHEDULER = "default-scheduler"


def _without_refused(spec: dict[str, Any], notes: Notes) -> None:
    if spec.get("schedulerName") == _DEFAULT_SCHEDULER:
        del spec["schedulerName"]
    for name, why in _REFUSED.items():
        if name in spec:
            del spec[name]
            notes.lost((name,), why)
    if spec.get("restartPolicy", "Always") != "Always":
        del spec["restartPolicy"]
        notes.lost(("restartPolicy",), "engines restart always")
    if str(spec.get("priorityClassName", "")).startswith("system-"):
        del spec["priorityClassName"]
        spec.pop("priority", None)
        notes.lost(("priorityClassName",), "is for what a cluster cannot live without")
    elif "priorityClassName" in spec:
        spec.pop("priority", None)  # the API server derives it from the class


_ROUTING_SIDECARS = ("llm-d-routing-sidecar", "llm-d-router-disagg-sidecar")
"""Repositories of llm-d's sidecar of decode engines (llm-d v0.3 and v0.9)."""


def _routing_sidecars(template: Mapping[str, Any], notes: Notes) -> None:
    for field in ("initContainers", "containers"):
        for index, container in enumerate(template["spec"].get(field, ())):
            if any(f"/{name}" in f"/{container['image']}" for name in _ROUTING_SIDECARS):
                at = ("spec", field, index)
                notes.left(
                    at,
                    at,
                    "is llm-d's sidecar: leave it out, because requests go to the engine itself; in serving mode"
                    " PrefillDecode, Modelplane adds one",
                )


def prerequisites(template: Mapping[str, Any], notes: Notes) -> None:
    """Note what the pods need that the template does not contain, and what they have that Modelplane adds."""
    _routing_sidecars(template, notes)
    for path, claim in podspec.claims(template):
        notes.left(path, path, f"PersistentVolumeClaim {claim} must exist on the inference cluster")
    for reference in podspec.references(template):
        if not reference.optional and (reference.kind, reference.name) not in notes.beside.carried:
            what = f"{reference.kind} {reference.name}"
            notes.left(reference.path, reference.path, f"{what} must exist in the namespace of the ModelDeployment")
    for violation in security.violations(template, "baseline"):
        notes.left((), (), f"{violation} on clusters with podSecurity.enforce: baseline, the default")
    account = template["spec"].get("serviceAccountName")
    if account:
        at = ("spec", "serviceAccountName")
        notes.left(at, at, f"ServiceAccount {account} must exist on the inference cluster")
