"""Drains endpoints and replicas before they are removed: traffic leaves first.

A route to an endpoint that is gone answers 500, and not every Crossplane reconciles a ModelService when an endpoint
goes (2.3 watches no resource that is only read). So an endpoint is removed in these phases, one reconcile or more each:

1. Wait until every endpoint that may take over the traffic is ready.
2. Mark the endpoint. Its ModelServices route no more traffic to it, and say so in `status.routed`.
3. Once no ModelService routes to it, remove the endpoint and the replica behind it.

The mark is an annotation with the names of the ModelServices that routed to the endpoint. A ModelService that is not
found may be missing for a moment only. It is noted in the mark with a question mark, and only believed to be gone if
the next reconcile does not find it either.

`core/doubt.py` has the same idea, that finding nothing is believed the second time, and a note of its own. The two are
not one, because this mark is also a message to ModelServices, which stop routing to a marked endpoint, and has both
what was found and what was not. Its value would have to change to be read as a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from function.api import modelendpoint, modelreplica
from function.core import (
    ComposedResource,
    Condition,
    Manifest,
    Request,
    Result,
    condition,
    dig,
    dig_fields,
    dig_list,
    dig_text,
    enumerate_names,
    identity,
    is_ready,
    restate,
    restate_resource,
    serves,
)
from function.kinds.modeldeployment import stages
from function.vocabulary import conditions as c
from function.vocabulary import labels

_NOBODY = "-"
"""The mark of an endpoint to which no ModelService routed."""

Resources = Mapping[str, ComposedResource]


def leaves_out(request: Request, resources: Resources) -> bool:
    """Return whether an endpoint is to be removed. Then the ModelServices must be read, to drain it."""
    return any(True for _ in _left_out(request, resources, modelendpoint.KIND))


def drain(request: Request, decided: Result) -> Result:
    """Return a result, with the endpoints and replicas that it leaves out kept until they are drained.

    While some are kept, the result is waiting and its condition ReplicasScheduled names them.
    """
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
    """Yield the endpoints that are left out and not drained yet."""
    is_time, services_there = not _is_coming(request, staying), request.resolved(stages.services(request.xr))
    for key, observed in _left_out(request, staying, modelendpoint.KIND):
        if not is_time:
            yield key, restate_resource(observed)
        elif services_there is None:
            yield key, _marked(observed, _mark_of(observed) or _NOBODY)
        elif mark := _mark(observed, services_there):
            yield key, _marked(observed, mark)


def _mark(endpoint: Manifest, services_there: Sequence[Manifest]) -> str:
    """Return the mark of an endpoint that is to go; empty if it is drained.

    An endpoint without a mark is never drained: until a ModelService sees the mark, it may start to route to it.
    """
    found = {identity(service).name: _routed(service) for service in services_there if not _is_going(service)}
    leading = {name for name, routed in found.items() if identity(endpoint).name in routed}
    before = set(_mark_of(endpoint).split(",")) - {""}
    missing = {f"{name}?" for name in before - found.keys() - {_NOBODY} if not name.endswith("?")}
    if known := sorted(leading | missing):
        return ",".join(known)
    return "" if before else _NOBODY


def _replicas(request: Request, staying: Resources, names: list[str]) -> Iterator[tuple[str, ComposedResource]]:
    """Yield the replicas that are left out and have one of `names`, the names of endpoints that are not drained yet."""
    for key, observed in _left_out(request, staying, modelreplica.KIND):
        if identity(observed).name in names:
            yield key, restate_resource(observed)


def _left_out(request: Request, staying: Resources, kind: str) -> Iterator[tuple[str, Manifest]]:
    """Yield the observed resources of a kind that do not stay and are not being deleted yet."""
    for key, observed in request.observed.items():
        if observed.get("kind") == kind and key not in staying and not _is_going(observed):
            yield key, observed


def _is_coming(request: Request, staying: Resources) -> bool:
    """Whether an endpoint that stays is going to take traffic, and cannot yet. Invalid ones are not waited for."""
    endpoints = [key for key, r in staying.items() if r.manifest["kind"] == modelendpoint.KIND]
    waiting = [m for m in (request.observed.get(key) or {} for key in endpoints) if not serves(m, "Ready")]
    said = (condition(m, c.ROUTING_READY.type) for m in waiting)
    return any(dig(one, "reason") not in (c.INVALID_URL.reason, c.INVALID_ENDPOINT.reason) for one in said)


def _is_going(manifest: Manifest) -> bool:
    return dig(manifest, "metadata", "deletionTimestamp") is not None


def _routed(service: Manifest) -> Sequence[object]:
    return dig_list(service, "status", "routed")


def _marked(observed: Manifest, mark: str) -> ComposedResource:
    manifest = restate(observed)
    manifest["metadata"]["annotations"] = {**_annotations(manifest), labels.LEAVING: mark}
    return ComposedResource(manifest, is_ready(observed))


def _unmarked(resource: ComposedResource) -> ComposedResource:
    """Return a resource without the mark: one that was to leave, and stays after all."""
    if labels.LEAVING not in _annotations(resource.manifest):
        return resource
    kept = {key: value for key, value in _annotations(resource.manifest).items() if key != labels.LEAVING}
    metadata = {**resource.manifest["metadata"], "annotations": kept}
    return replace(resource, manifest={**resource.manifest, "metadata": metadata})


def _mark_of(manifest: Manifest) -> str:
    return dig_text(manifest, "metadata", "annotations", labels.LEAVING) or ""


def _annotations(manifest: Manifest) -> Mapping[str, object]:
    return dig_fields(manifest, "metadata", "annotations")


def _remarked(said: Condition, names: list[str]) -> Condition:
    if said.type != c.REPLICAS_SCHEDULED.type:
        return said
    remark = f"draining until no ModelService routes there: {enumerate_names(names)}"
    return replace(said, message=f"{said.message}; {remark}")
