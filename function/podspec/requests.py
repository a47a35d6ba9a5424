"""What a pod requests of its node, as kube-scheduler sums it.

Terms:

- A *container* runs while the pod does. A *sidecar* is an init container with restartPolicy Always: it is started like
  an init container, and runs while the pod does.
- An *init container* runs alone, beside the sidecars that were started before it.

Phases, for each resource (k8s.io/kubernetes v1.36, pkg/apis/core/v1/defaults.go, SetDefaults_Pod; then
k8s.io/component-helpers v0.36, resource.PodRequests):

1. Each amount is rounded up to thousandths. A container requests its limit, if it gives no request.
2. The pod requests the sum of its containers and sidecars, or what an init container needs with the sidecars before it,
   if that is more.
3. A request of cpu or memory by the pod itself (`spec.resources`) replaces the sum. So does a limit of the pod itself
   if none of its containers gives a request or limit.
4. The overhead of a runtime class comes on top. The sum is rounded up to millicores of cpu, and bytes of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from function import cel
from function.core import dig, mappings
from function.scheduling import RESOURCES, Resources

_OF_PODS = RESOURCES[:2]
"""Those that a pod itself can request."""
_DIGITS = 3
"""Digits that the API server keeps of an amount (SetDefaults_ResourceList)."""
_THOUSAND = 10**_DIGITS
_LONGEST = 64
"""Characters of an amount that is remembered."""


def quantity(resource: str, value: Any) -> int | None:
    """Return an amount of a resource: millicores of cpu, bytes of the others, rounded up; None if it cannot be read."""
    milli = _milli(value)
    return None if milli is None else _rounded(resource, milli)


def requested(spec: Mapping[str, Any]) -> Resources:
    """Return what a pod with this spec requests. Values that cannot be read count as not given."""
    cpu, memory, storage = (_rounded(name, _of_pod(spec, name)) for name in RESOURCES)
    return cpu, memory, storage


def _rounded(resource: str, milli: int) -> int:
    return milli if resource == "cpu" else -(-milli // _THOUSAND)


def _of_pod(spec: Mapping[str, Any], name: str) -> int:
    running = [_of(container, name) for container in mappings(spec.get("containers"))]
    starting = [(_of(c, name), c.get("restartPolicy") == "Always") for c in mappings(spec.get("initContainers"))]
    total = _sum(running, starting)
    if name in _OF_PODS and isinstance(spec.get("resources"), Mapping):
        given = _amount(spec, "requests", name)
        limit = _amount(spec, "limits", name)
        is_told = any(amount is not None for amount in (*running, *(amount for amount, _ in starting)))
        total = given if given is not None else total if is_told or limit is None else limit
    return total + (_milli(dig(spec, "overhead", name)) or 0)


def _sum(running: list[int | None], starting: list[tuple[int | None, bool]]) -> int:
    sidecars = highest = 0
    for amount, is_sidecar in starting:
        highest = max(highest, sidecars + (amount or 0))
        sidecars += (amount or 0) if is_sidecar else 0
    return max(sum(amount or 0 for amount in running) + sidecars, highest)


def _of(container: Mapping[str, Any], name: str) -> int | None:
    """Return what a container requests of a resource; None if it gives neither a request nor a limit."""
    if not container.get("resources"):
        return None
    request = _amount(container, "requests", name)
    return _amount(container, "limits", name) if request is None else request


def _amount(of: Mapping[str, Any], field: str, name: str) -> int | None:
    return _milli(dig(of, "resources", field, name))


def _milli(value: Any) -> int | None:
    """Return thousandths of an amount, and 0 for a negative one; None if it cannot be read."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    return _remembered(text) if len(text) <= _LONGEST else _parsed(text)


@lru_cache(maxsize=4_096)
def _remembered(text: str) -> int | None:
    return _parsed(text)


def _parsed(text: str) -> int | None:
    try:
        return max(0, cel.quantity.parse(text).rounded_up(digits=_DIGITS))
    except ValueError:
        return None
