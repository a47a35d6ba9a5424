"""Rules of requests and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.cel import quantity
from function.podspec.fault import Fault, Path
from function.vocabulary import patterns

_NATIVE = ("cpu", "memory", "ephemeral-storage")
_OF_PODS = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"
_NATIVE_DOMAIN = "kubernetes.io/"
_OF_QUOTAS = "requests."
"""Beginning of the name by which a ResourceQuota counts an extended resource. Such names must be label keys as well."""
_ACCEPTED = "must be cpu, memory, ephemeral-storage, hugepages-SIZE or an extended resource with a domain"


def faults(template: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a container's resources."""
    resources, at = container.get("resources", {}), (*path, "resources")
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    for name in sorted({*requests, *limits}):
        yield from _amount(at, name, requests.get(name), limits.get(name))
    names = {*requests, *limits}
    if any(name.startswith(_HUGE_PAGES) for name in names) and names.isdisjoint(("cpu", "memory")):
        yield Fault(at, "must have cpu or memory beside huge pages", "rule")
    yield from _claims((*at, "claims"), template, resources.get("claims", ()))
    of_all = template["spec"].get("resources", {}).get("limits", {}) if path[1] == "containers" else {}
    for name in sorted({*of_all} & {*limits}):
        if quantity.parse(limits[name]) > quantity.parse(of_all[name]):
            problem = f"cannot be more than the pod's limit, {of_all[name]}, and is {limits[name]}"
            yield Fault((*at, "limits", name), problem, "rule")


def of_pod(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a pod's own resources, apart from their sums over containers."""
    resources, at = template["spec"].get("resources", {}), ("spec", "resources")
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    for name in sorted({*requests, *limits}):
        if name in _OF_PODS or name.startswith(_HUGE_PAGES):
            yield from _amount(at, name, requests.get(name), limits.get(name))
        else:
            field = "limits" if name in limits else "requests"
            yield Fault((*at, field, name), "must be cpu, memory or hugepages-SIZE", "key")
    if "claims" in resources:
        yield Fault((*at, "claims"), "is only for containers", "rule")


def _amount(at: Path, name: str, request: str | None, limit: str | None) -> Iterator[Fault]:
    field = "limits" if limit is not None else "requests"
    if not _is_resource(name):
        yield Fault((*at, field, name), _ACCEPTED, "key")
        return
    for kind, amount in (("requests", request), ("limits", limit)):
        if amount is not None:
            yield from _whole((*at, kind, name), name, amount)
    if _may_be_overcommitted(name):
        if request is not None and limit is not None and quantity.parse(request) > quantity.parse(limit):
            problem = f"cannot be more than the limit, {limit}, and is {request}"
            yield Fault((*at, "requests", name), problem, "rule")
    elif limit is None:
        yield Fault((*at, "requests", name), "needs a limit of the same amount: it cannot be overcommitted", "rule")
    elif request is not None and quantity.parse(request) != quantity.parse(limit):
        yield Fault((*at, "requests", name), f"must be equal to its limit, {limit}, not {request}", "rule")


def _is_resource(name: str) -> bool:
    if "/" not in name:
        return name in _NATIVE or (name.startswith(_HUGE_PAGES) and patterns.is_key(name))
    if _NATIVE_DOMAIN in name:
        return patterns.is_key(name)
    return patterns.is_key(f"{_OF_QUOTAS}{name}") and not name.startswith(_OF_QUOTAS)


def _may_be_overcommitted(name: str) -> bool:
    return name in _NATIVE or _NATIVE_DOMAIN in name


def _whole(path: Path, name: str, amount: str) -> Iterator[Fault]:
    """Yield the fault of a fraction of what comes in pieces: pages of a size, or devices."""
    if name.startswith(_HUGE_PAGES):
        size, pieces = name.removeprefix(_HUGE_PAGES), _pieces(amount)
        page = _pieces(size)
        if not page or pieces is None or pieces % page:
            yield Fault(path, f"must be a multiple of {size}, not {amount}", "rule")
    elif not _may_be_overcommitted(name) and _pieces(amount) is None:
        yield Fault(path, f"must be a whole number, not {amount}", "rule")


def _pieces(amount: str) -> int | None:
    """Return an amount as a whole number, or None if it is no amount, or has a fraction."""
    try:
        number = quantity.parse(amount)
        whole = int(number)
    except ValueError:
        return None
    return whole if quantity.parse(str(whole)) == number else None


def _claims(path: Path, template: Mapping[str, Any], claims: Any) -> Iterator[Fault]:
    known = sorted(claim["name"] for claim in template["spec"].get("resourceClaims", ()))
    for index, claim in enumerate(claims):
        if claim["name"] not in known:
            problem = f"names no claim of spec.resourceClaims, {claim['name']}"
            yield Fault((*path, index, "name"), problem, "rule")
