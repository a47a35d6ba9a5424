"""Who leaves, leaves in turn: traffic first, then the endpoint and the replica behind it.

Not every Crossplane wakes a ModelService when an endpoint goes (2.3 watches nothing that is only read), and a route to
what is gone answers 500. So an endpoint that is to go is marked first, services lead nobody to it any more and say so,
and only then it is left out.

A service that is not found may be missing for a moment. The mark notes who led to the endpoint, and an endpoint is let
go only when a second pass finds the same: each of them leads elsewhere, or is missing still.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from function.api import modelendpoint, modelreplica, modelservice
from function.core import (
    ComposedResource,
    Condition,
    Manifest,
    Request,
    Requirement,
    Result,
    condition,
    dig,
    enumerate_names,
    identity,
    is_ready,
    restate,
    serves,
)
from function.core.manifest import is_list
from function.vocabulary import conditions as c
from function.vocabulary import labels

_MOST_NAMED = 3
_NOBODY = "-"
"""The mark of an endpoint to which no service led."""

Resources = Mapping[str, ComposedResource]


def services(xr: Manifest) -> Requirement:
    """Those that may lead to a deployment's endpoints."""
    return Requirement("services", modelservice.API_VERSION, modelservice.KIND, namespace=identity(xr).namespace)


def drain(request: Request, decided: Result) -> Result:
    """A decision, with what it leaves out kept for as long as traffic may come to it."""
    staying = {key: _unmarked(resource) for key, resource in decided.resources.items()}
    leaving = dict(_endpoints(request, staying))
    if not leaving:
        return replace(decided, resources=staying)
    names = sorted(identity(resource.manifest).name for resource in leaving.values())
    return replace(
        decided,
        resources={**staying, **leaving, **dict(_replicas(request, staying, names))},
        conditions=tuple(_remarked(said, names) for said in decided.conditions),
        waiting=True,
    )


def _endpoints(request: Request, staying: Resources) -> Iterator[tuple[str, ComposedResource]]:
    """Those that leave. They are marked no sooner than all that may take their part is ready."""
    is_time, services_there = not _is_coming(request, staying), request.resolved(services(request.xr))
    for key, observed in _left_out(request, staying, modelendpoint.KIND):
        if not is_time:
            yield key, _as_it_is(observed)
        elif services_there is None:
            yield key, _marked(observed, _annotations(observed).get(labels.LEAVING) or _NOBODY)
        elif mark := _mark(observed, services_there):
            yield key, _marked(observed, mark)


def _mark(endpoint: Manifest, services_there: Sequence[Manifest]) -> str:
    """Return the mark of an endpoint that is to go; empty once nobody leads to it.

    A service that does not lead to it may do so the next moment, as long as it sees no mark.
    """
    found = {identity(service).name: _routed(service) for service in services_there if not _is_going(service)}
    leading = {name for name, routed in found.items() if identity(endpoint).name in routed}
    before = set(str(_annotations(endpoint).get(labels.LEAVING) or "").split(",")) - {""}
    missing = {f"{name}?" for name in before - found.keys() - {_NOBODY} if not name.endswith("?")}
    if known := sorted(leading | missing):
        return ",".join(known)
    return "" if before else _NOBODY


def _replicas(request: Request, staying: Resources, names: list[str]) -> Iterator[tuple[str, ComposedResource]]:
    """Those behind endpoints, which have their names."""
    for key, observed in _left_out(request, staying, modelreplica.KIND):
        if identity(observed).name in names:
            yield key, _as_it_is(observed)


def _left_out(request: Request, staying: Resources, kind: str) -> Iterator[tuple[str, Manifest]]:
    """What is there, of a kind, is wanted no more, and is not on its way out yet."""
    for key, observed in request.observed.items():
        if observed.get("kind") == kind and key not in staying and not _is_going(observed):
            yield key, observed


def _is_coming(request: Request, staying: Resources) -> bool:
    """Whether one that stays will take traffic, and cannot yet. One that never will is not waited for."""
    endpoints = [key for key, r in staying.items() if r.manifest["kind"] == modelendpoint.KIND]
    waiting = [m for m in (request.observed.get(key) or {} for key in endpoints) if not serves(m, "Ready")]
    said = (condition(m, c.ROUTING_READY.type) for m in waiting)
    return any(dig(one, "reason") not in (c.INVALID_URL.reason, c.INVALID_ENDPOINT.reason) for one in said)


def _is_going(manifest: Manifest) -> bool:
    return dig(manifest, "metadata", "deletionTimestamp") is not None


def _routed(service: Manifest) -> Sequence[Any]:
    found = dig(service, "status", "routed")
    return found if is_list(found) else ()


def _as_it_is(observed: Manifest) -> ComposedResource:
    return ComposedResource(restate(observed), is_ready(observed))


def _marked(observed: Manifest, mark: str) -> ComposedResource:
    manifest = restate(observed)
    manifest["metadata"]["annotations"] = {**_annotations(manifest), labels.LEAVING: mark}
    return ComposedResource(manifest, is_ready(observed))


def _unmarked(resource: ComposedResource) -> ComposedResource:
    """One that was to leave, was said again for want of news, and stays after all."""
    if labels.LEAVING not in _annotations(resource.manifest):
        return resource
    kept = {key: value for key, value in _annotations(resource.manifest).items() if key != labels.LEAVING}
    metadata = {**resource.manifest["metadata"], "annotations": kept}
    return replace(resource, manifest={**resource.manifest, "metadata": metadata})


def _annotations(manifest: Manifest) -> Mapping[str, Any]:
    found: Mapping[str, Any] = dig(manifest, "metadata", "annotations") or {}
    return found


def _remarked(said: Condition, names: list[str]) -> Condition:
    if said.type != c.REPLICAS_SCHEDULED.type:
        return said
    remark = f"leaving once no ModelService leads there: {enumerate_names(names, _MOST_NAMED)}"
    return replace(said, message=f"{said.message}; {remark}")
