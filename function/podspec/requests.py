"""What a pod requests of its node, as kube-scheduler sums it (k8s.io/component-helpers v0.36, resource.PodRequests).

Terms:

- A *container* runs while the pod does. A *sidecar* is an init container with restartPolicy Always: it is started like
  an init container, and runs while the pod does.
- An *init container* runs alone, beside the sidecars that were started before it.

The pod requests the sum of its containers and sidecars, or what an init container needs with the sidecars before it, if
that is more. A request that is not given is the limit, as the API server sets it. Requests of the pod itself
(`spec.resources`) replace the sum, and the overhead of a runtime class comes on top.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import cel
from function.scheduling import Resources

RESOURCES = "cpu", "memory", "ephemeral-storage"
"""The resources that are summed, in the order of `scheduling.Resources`."""


def quantity(resource: str, value: Any) -> int | None:
    """Return an amount of a resource: millicores of cpu, bytes of the others, rounded up; None if it cannot be read."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return max(0, cel.quantity.parse(str(value)).rounded_up(digits=3 if resource == "cpu" else 0))
    except ValueError:
        return None


def requested(spec: Mapping[str, Any]) -> Resources:
    """Return what a pod with this spec requests. Values that cannot be read count as 0."""
    cpu, memory, storage = (_of_pod(spec, name) for name in RESOURCES)
    return cpu, memory, storage


def _of_pod(spec: Mapping[str, Any], name: str) -> int:
    running = sum(_of(container, name) for container in _mappings(spec.get("containers")))
    sidecars = highest = 0
    for container in _mappings(spec.get("initContainers")):
        if container.get("restartPolicy") == "Always":
            sidecars += _of(container, name)
            highest = max(highest, sidecars)
        else:
            highest = max(highest, sidecars + _of(container, name))
    total = max(running + sidecars, highest)
    of_itself = _of(spec, name)
    return (of_itself or total) + (quantity(name, _dig(spec, "overhead", name)) or 0)


def _of(container: Mapping[str, Any], name: str) -> int:
    requests = quantity(name, _dig(container, "resources", "requests", name))
    limits = quantity(name, _dig(container, "resources", "limits", name))
    return (requests if requests is not None else limits) or 0


def _dig(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
