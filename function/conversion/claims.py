"""Resource claims of a pod: those of ResourceClaimTemplates beside it as device requests, the others as they are.

A pod claims devices through a ResourceClaimTemplate, which says what a device request of Modelplane says: a count, a
class and selectors. So a template that stands beside the workload becomes device requests of the member, by which the
scheduler finds a pool. A claim of a template that is not there stays, beside Modelplane's own.

Source: resource.k8s.io/v1, and v1beta1, whose requests have the fields of `exactly` themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.conversion.notes import NotConvertible, Notes, Path, items, mapping, text, whole
from function.podspec import reserved
from function.schema import format_path

VERSIONS = ("resource.k8s.io/v1", "resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2")
_CLASSES: Mapping[str, str] = {
    "gpu.nvidia.com": 'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].type == "gpu"',
    "mig.nvidia.com": 'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].type == "mig"',
    "gpu.amd.com": 'device.driver == "gpu.amd.com"',
    "gpu.intel.com": 'device.driver == "gpu.intel.com"',
}
"""Selectors of the DeviceClasses that DRA drivers bring (dra-driver-nvidia-gpu v0.4, k8s-gpu-dra-driver v1.0,
intel-resource-drivers-for-kubernetes v0.8)."""


def moved(spec: dict[str, Any], notes: Notes) -> list[dict[str, Any]]:
    """Take the claims of templates beside the workload out of a sound pod spec, and return device requests for them.

    Claims that stay are renamed if their names are Modelplane's.
    """
    requests: list[dict[str, Any]] = []
    kept = []
    for index, claim in enumerate(spec.pop("resourceClaims", [])):
        at: Path = ("resourceClaims", index)
        name = claim.get("resourceClaimTemplateName", "")
        found = _found(name, notes.at(at))
        if found:
            target = ("nodeSelector", "devices", len(requests))
            notes.changed(at, target, f"is a device request, from ResourceClaimTemplate {name}")
            requests += found
            _drop(spec, claim["name"])
        else:
            kept.append(_renamed(spec, claim, notes.at(at)))
    if kept:
        spec["resourceClaims"] = kept
    return requests


def _found(name: str, notes: Notes) -> list[dict[str, Any]]:
    """Return the device requests of a template beside the workload; none if it is not there, or cannot be said."""
    template = notes.beside.claim_templates.get(name)
    if template is None:
        return []
    try:
        return list(_requests(template))
    except NotConvertible as problem:
        at = format_path(problem.path)
        notes.left((), None, f"ResourceClaimTemplate {name} cannot be a device request: {at}: {problem}")
        return []


def _requests(template: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the device requests of a template. Raises NotConvertible."""
    at: Path = ("spec", "spec", "devices", "requests")
    for index, request in enumerate(items(template, *at)):
        here = (*at, index)
        name = text(request, "name", at=here)
        exactly = mapping(request, "exactly", at=here) or mapping(request, at=here)
        count = whole(exactly, "count", at=here)
        selectors = list(_selectors(exactly, here))
        if not name or not selectors:
            raise NotConvertible(here, "has no name, or no class and selectors that are known")
        yield {"name": name, "count": 1 if count is None else count, "selectors": [{"cel": one} for one in selectors]}


def _selectors(request: Mapping[str, Any], at: Path) -> Iterator[str]:
    class_name = text(request, "deviceClassName", at=at) or ""
    if class_name in _CLASSES:
        yield _CLASSES[class_name]
    for index, selector in enumerate(items(request, "selectors", at=at)):
        expression = text(selector, "cel", "expression", at=(*at, "selectors", index))
        if expression:
            yield expression


def _drop(spec: dict[str, Any], name: str) -> None:
    """Drop a claim from the containers. Modelplane gives its own to the engine."""
    for container in _containers(spec):
        resources = container.get("resources", {})
        claims = [one for one in resources.get("claims", []) if one["name"] != name]
        if claims:
            resources["claims"] = claims
        else:
            resources.pop("claims", None)
        if not resources:
            container.pop("resources", None)


def _renamed(spec: dict[str, Any], claim: dict[str, Any], notes: Notes) -> dict[str, Any]:
    before: str = claim["name"]
    if not reserved.is_own_claim(before):
        return claim
    after = f"own-{before}"
    for container in _containers(spec):
        for one in container.get("resources", {}).get("claims", []):
            if one["name"] == before:
                one["name"] = after
    notes.changed(("name",), None, f"is {after}: claims named {before} are Modelplane's")
    return {**claim, "name": after}


def _containers(spec: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for field in ("initContainers", "containers"):
        yield from spec.get(field, [])
