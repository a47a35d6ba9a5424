"""What a ModelDeployment tells its user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function import conditions as c
from function import labels, names, scheduling
from function.core import (
    ComposedResource,
    Condition,
    Event,
    Held,
    Manifest,
    Request,
    Result,
    condition,
    dig,
    is_ready,
    last,
    said,
)
from function.kinds.modeldeployment.inputs import Inputs
from function.kinds.modeldeployment.model import Spec
from function.kinds.modelreplica import model as modelreplica
from function.scheduling import Action, CachePhase, Job, Placement, Plan, Rejection, Why

_MOST_REJECTIONS = 32
_MOST_PLACEMENTS = 100


@dataclass(frozen=True, slots=True)
class Counts:
    wanted: int
    placed: int
    serving: int
    ready: int
    """Serving, whole, and at the current spec."""
    updated: int


def report(
    *,
    request: Request,
    spec: Spec,
    job: Job,
    plan: Plan,
    inputs: Inputs,
    rejections: tuple[Rejection, ...],
    resources: Mapping[str, ComposedResource],
) -> Result:
    counts = _counts(job, plan)
    return Result(
        ready=counts.placed == counts.wanted == counts.ready,
        conditions=(
            _scheduled(spec, job, plan, counts, rejections),
            _serving(request, job, plan, counts),
            _cache(request, spec, inputs),
        ),
        resources=resources,
        status=_status(request, plan, counts, rejections),
        events=_events(request, plan, spec, inputs),
        waiting=bool(plan.missing),
    )


def held(request: Request, why: Condition) -> Held:
    """The replicas that run can be spoken for, whatever else is unknown."""
    running = [m for m in request.observed.values() if m.get("kind") == modelreplica.KIND]
    wanted = dig(request.xr, "spec", "replicas")
    wanted = wanted if isinstance(wanted, int) and wanted >= 0 else max(1, len(running))
    serving, ready = sum(said(m, "ModelReady") for m in running), sum(map(is_ready, running))
    counts = Counts(wanted, len(running), serving, ready, ready)
    default = (
        c.SCHEDULING(missing=f"what {why.type} waits for"),
        _serves(counts, remark=""),
        _cache_unknown(request),
    )
    said_now = tuple(why if d.type == why.type else d for d in default)
    return Held(said_now, ready=bool(ready == wanted == len(running)))


def _cache_unknown(request: Request) -> Condition:
    name = dig(request.xr, "spec", "modelCacheRef", "name")
    if not name:
        return c.NO_MODEL_CACHE(remark="")
    restated = last(request.xr, c.MODEL_CACHE_RESOLVED)
    return restated or c.MODEL_CACHE_UNRESOLVED(name=name, why="Crossplane has yet to look it up")


def _counts(job: Job, plan: Plan) -> Counts:
    standing = [p.replica for p in plan.placed if p.replica]
    current = [p for p in plan.placed if p.replica and p.replica.spec_hash == job.spec_hash]
    return Counts(
        wanted=job.replicas,
        placed=len(plan.placed),
        serving=sum(r.serving for r in standing),
        ready=sum(p.replica.ready for p in current if p.replica and p.action is not Action.AWAIT_SUCCESSOR),
        updated=len(current) + sum(p.replica is None for p in plan.placed),
    )


# Conditions


def _scheduled(spec: Spec, job: Job, plan: Plan, counts: Counts, rejections: tuple[Rejection, ...]) -> Condition:
    if not job.replicas:
        return c.SCHEDULED_TO_ZERO()
    if not plan.missing:
        return c.REPLICAS_CREATED(placed=counts.placed, wanted=counts.wanted, remark=_remarks(plan))
    if conflict := scheduling.conflict(job):
        key, ours, caches = conflict
        name = spec.modelCacheRef.name if spec.modelCacheRef else ""
        why = f"spec.clusterSelector wants {key}={ours}, that of ModelCache {name} wants {key}={caches}"
        return c.SELECTOR_CONFLICT(placed=counts.placed, wanted=counts.wanted, why=why)
    why = scheduling.digest(rejections) + _remarks(plan)
    return c.INSUFFICIENT_CAPACITY(placed=counts.placed, wanted=counts.wanted, why=why)


def _remarks(plan: Plan) -> str:
    """Who must leave and still stands, and why; who gave way, and to whom."""
    leaving = [f"{r.identity.name} on {r.cluster} must move ({why.value})" for r, why in _by_name(plan.leaving)]
    yielded = [f"{r.identity.name} gave way to {to.identity} on {r.cluster}" for r, to in _by_name(plan.yielded) if to]
    return "".join(f"; {remark}" for remark in leaving + yielded)


def _by_name(replicas: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    return sorted(replicas.items(), key=lambda pair: pair[0].identity)


def _serving(request: Request, job: Job, plan: Plan, counts: Counts) -> Condition:
    rolling = counts.placed == counts.wanted and counts.updated < counts.wanted
    if rolling and counts.serving:
        waiting = _awaited(job, plan)
        return c.ROLLING_OUT(updated=counts.updated, wanted=counts.wanted, waiting=waiting)
    return _serves(counts, remark=_not_serving(request, plan))


def _serves(counts: Counts, remark: str) -> Condition:
    if not counts.wanted:
        return c.READY_AT_ZERO()
    if not counts.placed:
        return c.NO_REPLICAS_SCHEDULED()
    if counts.ready == counts.wanted:
        return c.ALL_REPLICAS_READY(ready=counts.ready, wanted=counts.wanted)
    return c.MODEL_STARTING(ready=counts.serving, wanted=counts.wanted, placed=counts.placed, remark=remark)


def _awaited(job: Job, plan: Plan) -> str:
    """The replica that a rollout waits for: one at the current spec that is not ready, or the next to be given it."""
    names_ = [(p.replica.ready, p.replica.identity.name) for p in plan.placed if p.replica and _is_new(p, job)]
    unproven = sorted(name for ready, name in names_ if not ready)
    updating = sorted(p.replica.identity.name for p in plan.placed if p.replica and p.action is Action.UPDATE)
    created = [f"a new replica on {p.cluster}" for p in plan.placed if p.action is Action.CREATE]
    room = sorted(r.identity.name for r, why in plan.leaving.items() if why is Why.GROWN)
    return ", ".join((updating or unproven or created or room or ["the next pass"])[:3])


def _is_new(placement: Placement, job: Job) -> bool:
    return placement.replica is not None and placement.replica.spec_hash == job.spec_hash


def _not_serving(request: Request, plan: Plan) -> str:
    """What the first replicas that do not serve say themselves: nobody should have to look for it."""
    said_of = []
    for placement in plan.placed:
        if placement.replica and not placement.replica.ready:
            manifest = _manifest(request, placement)
            message = dig(condition(manifest, "ModelReady"), "message") if manifest else None
            said_of.append(f"{placement.replica.identity.name} on {placement.cluster}: {message or 'not reported yet'}")
    return "".join(f"; {text}" for text in said_of[:3])


def _manifest(request: Request, placement: Placement) -> Manifest | None:
    return next((m for m in request.observed.values() if placement.replica and _is(m, placement)), None)


def _is(manifest: Manifest, placement: Placement) -> bool:
    return bool(
        placement.replica
        and manifest.get("kind") == modelreplica.KIND
        and manifest["metadata"]["name"] == placement.replica.identity.name
    )


def _cache(request: Request, spec: Spec, inputs: Inputs) -> Condition:
    if spec.modelCacheRef is None:
        gangs = [e.name for e in spec.engines if any(m.role == "Worker" for m in e.members)]
        remark = f"; gang {', '.join(gangs)} loads its weights on every node by itself" if gangs else ""
        return c.NO_MODEL_CACHE(remark=remark)
    name = spec.modelCacheRef.name
    if inputs.cache is None:
        return c.MODEL_CACHE_NOT_FOUND(name=name, namespace=request.identity.namespace)
    staged = sum(phase is CachePhase.STAGED for phase in inputs.cache.phases.values())
    if not staged:
        return c.MODEL_CACHE_UNRESOLVED(name=name, why="it is not staged on any cluster yet")
    return c.CACHE_RESOLVED(name=name, ready=staged)


# Status and events


def _status(request: Request, plan: Plan, counts: Counts, rejections: tuple[Rejection, ...]) -> dict[str, Any]:
    placements = [
        {
            "replica": _name(request, p),
            "cluster": p.cluster,
            "pools": list(p.pools),
            "ready": bool(p.replica and p.replica.ready),
        }
        for p in plan.placements
    ]
    rows = [{"cluster": r.cluster, "reason": r.code, "message": r.reason.detail()} for r in rejections]
    return {
        "replicas": {"total": counts.placed, "ready": counts.serving, "updated": counts.updated},
        "selector": f"{labels.DEPLOYMENT}={names.label_value(request.identity.name)}",
        **({"placements": placements[:_MOST_PLACEMENTS]} if placements else {}),
        **({"rejections": rows[:_MOST_REJECTIONS]} if rows else {}),
    }


def _name(request: Request, placement: Placement) -> str:
    if placement.replica:
        return placement.replica.identity.name
    return names.replica(request.identity, placement.cluster, placement.index)


def _events(request: Request, plan: Plan, spec: Spec, inputs: Inputs) -> tuple[Event, ...]:
    """What happens on this pass. What merely goes on is a condition."""
    created = [p for p in plan.placements if p.action is Action.CREATE]
    updated = [p for p in plan.placements if p.action is Action.UPDATE and p.replica]
    events = [Event("Placed", f"Placed {_name(request, p)} on {p.cluster} ({', '.join(p.pools)})") for p in created]
    events += [Event("Updated", f"Gave {_name(request, p)} on {p.cluster} the current spec") for p in updated]
    events += [Event("Lost", f"{r.identity.name} was lost with cluster {r.cluster}", warning=True) for r in plan.lost]
    events += [
        Event("Yielded", f"{r.identity.name} gave way to {to.identity} on {r.cluster}")
        for r, to in _by_name(plan.yielded)
        if to
    ]
    before = last(request.xr, c.MODEL_CACHE_RESOLVED)
    if spec.modelCacheRef and inputs.cache is None and (before is None or before.reason != "ModelCacheNotFound"):
        missing = c.MODEL_CACHE_NOT_FOUND(name=spec.modelCacheRef.name, namespace=request.identity.namespace)
        events.append(Event("ModelCacheNotFound", missing.message, warning=True))
    return tuple(events)
