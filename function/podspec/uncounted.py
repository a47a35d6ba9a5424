"""What of a pod's spec may keep it off a node, besides its devices, cpu, memory and ephemeral storage.

The scheduler counts none of it. On a pool whose nodes are shared, a pod that asks for it is placed, but it is not
certain to fit.

Preferences are left out, since they keep a pod off no node. Rules about the labels of nodes are left in: a pool's nodes
may differ in labels that are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from function.core import mappings
from function.podspec.rules.affinity import REQUIRED
from function.scheduling import RESOURCES

_HUGE_PAGES = "hugepages-"
_CLAIMS = "persistentVolumeClaim", "ephemeral"
"""Sources of volumes that may be reachable from some zones or nodes only."""


def uncounted(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of a pod's spec that are not counted, in words, sorted. The spec need not be valid."""
    return tuple(sorted(set(_uncounted(spec))))


def _uncounted(spec: Mapping[str, Any]) -> Iterator[str]:
    affinity = _mapping(spec.get("affinity"))
    for field in ("nodeAffinity", "podAffinity", "podAntiAffinity"):
        if _mapping(affinity.get(field)).get(REQUIRED):
            yield f"affinity.{field}"
    for constraint in mappings(spec.get("topologySpreadConstraints")):
        if constraint.get("whenUnsatisfiable") == "DoNotSchedule":
            yield "topologySpreadConstraints"
    if spec.get("resourceClaims"):
        yield "resourceClaims"
    for volume in mappings(spec.get("volumes")):
        yield from (f"volumes[].{source}" for source in _CLAIMS if source in volume)
    containers = [c for field in ("initContainers", "containers") for c in mappings(spec.get(field))]
    yield from _ports(spec, containers)
    for resources in (spec.get("resources"), *(container.get("resources") for container in containers)):
        yield from _resources(_mapping(resources))


def _ports(spec: Mapping[str, Any], containers: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield host ports: with the host's network, every port of a container is one."""
    ports = [port for container in containers for port in mappings(container.get("ports"))]
    if spec.get("hostNetwork") is True and ports:
        yield "hostNetwork"
    yield from (f"hostPort {port['hostPort']}" for port in ports if port.get("hostPort"))


def _resources(resources: Mapping[str, Any]) -> Iterator[str]:
    for field in ("limits", "requests"):
        for name in _mapping(resources.get(field)):
            if name not in RESOURCES and ("/" in str(name) or str(name).startswith(_HUGE_PAGES)):
                yield str(name)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
