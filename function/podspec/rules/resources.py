"""Rules of requests and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.cel import quantity
from function.podspec.fault import Fault, Path

_NATIVE = ("cpu", "memory", "ephemeral-storage")
_HUGE_PAGES = "hugepages-"


def faults(template: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a container's resources."""
    resources = container.get("resources", {})
    at = (*path, "resources")
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    for name in sorted({*requests, *limits}):
        yield from _amount(at, name, requests.get(name), limits.get(name))
    claimed = {claim["name"] for claim in template["spec"].get("resourceClaims", ())}
    for index, claim in enumerate(resources.get("claims", ())):
        if claim["name"] not in claimed:
            problem = f"names no claim of spec.resourceClaims, {claim['name']}"
            yield Fault((*at, "claims", index, "name"), problem, "rule")


def _amount(at: Path, name: str, request: str | None, limit: str | None) -> Iterator[Fault]:
    both = request is not None and limit is not None
    if name in _NATIVE:
        if both and quantity.parse(request or "") > quantity.parse(limit or ""):
            problem = f"a request cannot be more than its limit: {request} of {name}, limited to {limit}"
            yield Fault((*at, "requests", name), problem, "rule")
        return
    if "/" not in name and not name.startswith(_HUGE_PAGES):
        field = "limits" if limit is not None else "requests"
        accepted = "must be cpu, memory, ephemeral-storage, hugepages-SIZE or an extended resource with a domain"
        yield Fault((*at, field, name), accepted, "key")
        return
    if limit is None:
        yield Fault((*at, "requests", name), "needs a limit of the same amount: it cannot be overcommitted", "rule")
    elif both and quantity.parse(request or "") != quantity.parse(limit):
        yield Fault((*at, "requests", name), f"must be equal to its limit, {limit}, not {request}", "rule")
