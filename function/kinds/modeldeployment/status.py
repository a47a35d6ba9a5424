"""The conditions, status fields and events of a ModelDeployment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function import scheduling
from function.api import modelreplica
from function.api.modeldeployment import MOST_REJECTIONS, MOST_REPLICAS, Spec
from function.core import (
    MOST_DESCRIBED,
    ComposedResource,
    Condition,
    HoldDecision,
    Request,
    Result,
    condition,
    dig,
    dig_fields,
    dig_number,
    enumerate_names,
    is_ready,
    last,
    plain,
    serves,
)
from function.kinds.modeldeployment import events, kept_pods
from function.kinds.modeldeployment.decide import Decision
from function.kinds.modeldeployment.relabelled import relabelled
from function.scheduling import Action, CachePhase, Placement
from function.vocabulary import conditions as c
from function.vocabulary import labels, names


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of replicas."""

    wanted: int
    placed: int
    """Replicas that are placed, without those whose successor is placed already."""
    serving: int
    """Replicas that serve, including those that await their successor; at most as many as are wanted."""
    ready: int
    """Replicas that are ready with the current spec."""
    updated: int
    """Placed replicas that have, or get, the current spec."""


def report(decision: Decision, resources: Mapping[str, ComposedResource]) -> Result:
    """Return the result of a decision with its composed resources."""
    counts = _counts(decision)
    return Result(
        ready=counts.placed == counts.wanted == counts.ready,
        conditions=(_scheduled(decision, counts), _serving(decision, counts), _cache(decision)),
        resources=resources,
        status=_status(decision, counts),
        events=events.events_of(decision, updated=counts.updated),
        waiting=bool(decision.plan.missing),
    )


def held(request: Request) -> HoldDecision:
    """Return what a held deployment reports, whose spec cannot be used.

    Its replicas are counted by their own conditions. It is unknown which of them run the current spec.
    """
    running = [m for m in request.observed.values() if m.get("kind") == modelreplica.KIND]
    wanted = dig(request.xr, "spec", "replicas")
    wanted = wanted if isinstance(wanted, int) and wanted >= 0 else len(running)
    serving, ready = sum(serves(m, "ModelReady") for m in running), sum(map(is_ready, running))
    before, counted = last(request.xr, c.REPLICAS_READY), plain(dig_fields(request.xr, "status", "replicas"))
    is_fewer = serving < dig_number(counted, "ready")
    is_whole = ready >= wanted
    is_overtaken = before is not None and (not is_whole if before.status == "True" else is_fewer)
    starting = c.MODEL_STARTING(ready=min(serving, wanted), wanted=wanted, placed=min(len(running), wanted), remark="")
    return HoldDecision(
        conditions=(starting,) if is_overtaken else (),
        ready=is_whole,
        status={"replicas": {**counted, "ready": serving}} if is_fewer else {},
        decided=relabelled(request),
    )


def _counts(decision: Decision) -> Counts:
    placed, left_alone = decision.plan.placed, decision.plan.left_alone
    existing = [p.replica for p in placed if p.replica]
    current = {r for r in existing if r.spec_hash == decision.job.spec_hash or r in left_alone}
    return Counts(
        wanted=decision.job.replicas,
        placed=len(placed),
        serving=min(
            decision.job.replicas, sum(bool(p.replica and p.replica.serving) for p in decision.plan.placements)
        ),
        ready=sum(r.ready for r in current),
        updated=sum(p.replica is None or p.replica in current for p in placed),
    )


# Conditions


def _scheduled(decision: Decision, counts: Counts) -> Condition:
    plan = decision.plan
    if not counts.wanted:
        return c.SCHEDULED_TO_ZERO()
    if not plan.missing:
        return c.REPLICAS_CREATED(placed=counts.placed, wanted=counts.wanted, remark=_remarks(decision))
    if conflict := scheduling.conflict(decision.job):
        why = _conflict(decision.spec, *conflict)
        return c.SELECTOR_CONFLICT(placed=counts.placed, wanted=counts.wanted, why=why)
    why = scheduling.digest(decision.rejections) + _remarks(decision)
    return c.INSUFFICIENT_CAPACITY(placed=counts.placed, wanted=counts.wanted, why=why)


def _conflict(spec: Spec, key: str, ours: str, caches: str) -> str:
    name = spec.modelCacheRef.name if spec.modelCacheRef else ""
    return f"spec.clusterSelector wants {key}={ours}, that of ModelCache {name} wants {key}={caches}"


def _remarks(decision: Decision) -> str:
    """Return remarks on replicas that must leave, that were preempted, that are rolled back, and that stay though their
    pods would not be admitted anew."""
    plan = decision.plan
    leaving = [f"{r.identity.name} on {r.cluster} must move ({why.value})" for r, why in events.by_name(plan.leaving)]
    preempted = [events.preemption(r, to) for r, to in events.by_name(plan.preempted) if to]
    rolled_back = [events.rollback(r, to) for r, to in events.by_name(plan.rolled_back)]
    return "".join(f"; {remark}" for remark in (*leaving, *preempted, *rolled_back, *kept_pods.remarks(decision)))


def _serving(decision: Decision, counts: Counts) -> Condition:
    if counts.serving and counts.updated < counts.placed:
        facts = {"updated": counts.updated, "wanted": counts.wanted}
        if decision.plan.wait:
            return c.ROLLOUT_WAITS(**facts, why=_waits(decision, decision.plan.wait))
        return c.ROLLING_OUT(**facts, waiting=_awaited(decision) + _upgrade(decision))
    return _serves(decision, counts)


def _serves(decision: Decision, counts: Counts) -> Condition:
    if not counts.wanted:
        return c.READY_AT_ZERO()
    if not counts.placed:
        return c.NO_REPLICAS_SCHEDULED()
    if counts.ready == counts.placed == counts.wanted:
        return c.ALL_REPLICAS_READY(ready=counts.ready, wanted=counts.wanted, remark=_left_alone(decision))
    return c.MODEL_STARTING(
        ready=counts.serving, wanted=counts.wanted, placed=counts.placed, remark=_not_ready(decision)
    )


def _left_alone(decision: Decision) -> str:
    """Return which replicas keep the work of another version of the function, and what changes that."""
    names = sorted(r.identity.name for r in decision.plan.left_alone if r.awaits_turn)
    if not names:
        return ""
    return (
        f"; {enumerate_names(names)}: composed by another version of Modelplane, and not restarted for this one. "
        f"The next edit of the spec does, or: {_roll_anyway(decision)}"
    )


def _waits(decision: Decision, wait: scheduling.Wait) -> str:
    """Return why no replica that serves gets the current spec, and what the user can do."""
    current, wave = decision.job.spec_hash, _roll_anyway(decision)
    match wait:
        case scheduling.NotProven():
            return f"revision {current} was tried and has not served; edit the spec, or continue with: {wave}"
        case scheduling.TooFewServe(serving=serving, needed=needed):
            others = f"{needed} other{'s' if needed != 1 else ''} must serve while a replica is updated"
            have = f"and {serving} {'do' if serving != 1 else 'does'}"
            return f"{others}, {have}; lower spec.replicas, or continue with: {wave}"


def _upgrade(decision: Decision) -> str:
    """Return a remark if nobody edited the spec: then the rollout is about the version of the function."""
    current, existing = decision.job.spec_hash, (p.replica for p in decision.plan.placed if p.replica)
    outdated = [replica for replica in existing if replica.spec_hash != current]
    if not outdated or not all(replica.held_back for replica in outdated):
        return ""
    return "; the spec is as it was, and this version of Modelplane composes other objects from it"


def _roll_anyway(decision: Decision) -> str:
    """Return the command that lets the current revision skip the rules of the rollout."""
    return (
        f"kubectl annotate modeldeployment {decision.request.identity.name} "
        f"{labels.ROLL_ANYWAY}={decision.job.spec_hash}"
    )


def _awaited(decision: Decision) -> str:
    """Return the names of the replicas that a rollout waits for: those that get the current spec, or those that have
    it and are not ready."""
    plan, current = decision.plan, decision.job.spec_hash
    changing = [p for p in plan.placed if p.action in (Action.UPDATE, Action.CREATE)]
    unproven = [p for p in plan.placed if p.replica and p.replica.spec_hash == current and not p.replica.ready]
    awaited = sorted(decision.name(p) for p in changing or unproven)
    return ", ".join(awaited[:MOST_DESCRIBED]) or "room for the current spec"


def _not_ready(decision: Decision) -> str:
    """Return the messages of the first replicas that are not ready, so that nobody has to look for them."""
    texts = []
    for placement in decision.plan.placed:
        observed = decision.observed(placement)
        if observed is not None and not is_ready(observed):
            message = dig(condition(observed, "ModelReady"), "message") or "nothing is reported yet"
            texts.append(f"{decision.name(placement)} on {placement.cluster}: {message}")
    return "".join(f"; {text}" for text in texts[:MOST_DESCRIBED])


def _cache(decision: Decision) -> Condition:
    spec, cache = decision.spec, decision.inputs.cache
    if spec.modelCacheRef is None:
        gangs = [e.name for e in spec.engines if any(m.role == "Worker" for m in e.members)]
        remark = f"; each node of gang {', '.join(gangs)} loads the weights itself" if gangs else ""
        return c.NO_MODEL_CACHE(remark=remark)
    name = spec.modelCacheRef.name
    if cache is None:
        return c.MODEL_CACHE_NOT_FOUND(name=name, namespace=decision.request.identity.namespace)
    staged = sum(phase is CachePhase.STAGED for phase in cache.phases.values())
    if not staged:
        return c.MODEL_CACHE_UNRESOLVED(name=name, why="it is not staged on any cluster yet")
    return c.CACHE_RESOLVED(name=name, ready=staged)


# Status


def _status(decision: Decision, counts: Counts) -> dict[str, Any]:
    placements = [
        {
            "replica": decision.name(p),
            "cluster": p.cluster,
            "pools": list(p.pools),
            "ready": bool(p.replica and p.replica.ready),
            **_leaving(decision, p),
        }
        for p in decision.plan.placements
    ]
    rejections = [{"cluster": r.cluster, "reason": r.code, "message": r.reason.detail()} for r in decision.rejections]
    revisions = [{"hash": r.hash, "tried": r.tried, "served": r.served} for r in decision.plan.revisions]
    return {
        "replicas": {"total": counts.placed, "ready": counts.serving, "updated": counts.updated},
        "selector": f"{labels.DEPLOYMENT}={names.label_value(decision.request.identity.name)}",
        **({"placements": placements[:MOST_REPLICAS]} if placements else {}),
        **({"rejections": rejections[:MOST_REJECTIONS]} if rejections else {}),
        "revisions": revisions,
    }


def _leaving(decision: Decision, placement: Placement) -> dict[str, str]:
    why = decision.plan.leaving.get(placement.replica) if placement.replica else None
    return {"leaving": why.value} if why else {}
