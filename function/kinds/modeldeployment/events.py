"""What happened to the replicas of a ModelDeployment in this reconcile.

The status has the placements that the last pass decided, so that a pass that is repeated tells nothing twice: what was
composed, or deleted, may not be observed yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from function.core import Event, Manifest, dig, dig_fields, mappings
from function.kinds.modeldeployment.decide import Decision
from function.scheduling import Action, Replica
from function.vocabulary import events

T = TypeVar("T")


def events_of(decision: Decision, *, updated: int) -> tuple[Event, ...]:
    """Return an event for each change. `updated` is the number of placed replicas that have, or get, the current spec.

    States that last are conditions.
    """
    before = {str(dig(p, "replica")): p for p in mappings(dig(decision.request.xr, "status", "placements"))}
    return (
        *_gained(decision, before),
        *(_updated(decision) if _is_rolled(decision, updated) else ()),
        *_leaving(decision, before),
        *_dropped(decision, before),
    )


def preemption(replica: Replica, to: Replica) -> str:
    return f"{replica.identity.name} lost its nodes on {replica.cluster} to {to.identity}"


def rollback(replica: Replica, to: Replica | None) -> str:
    taken = f"{to.identity} has the nodes" if to else "its pools have no room"
    return f"{replica.identity.name} on {replica.cluster} returns to its previous spec ({taken})"


def by_name(replicas: Mapping[Replica, T]) -> list[tuple[Replica, T]]:
    return sorted(replicas.items(), key=lambda pair: pair[0].identity)


def _gained(decision: Decision, before: Mapping[str, Manifest]) -> Iterator[Event]:
    """Yield the new replicas. One that was ready and is composed anew was deleted by somebody."""
    for placement in decision.plan.placements:
        name = decision.name(placement)
        is_known = name in before and dig(before[name], "ready") is not True
        if placement.action is Action.CREATE and not is_known:
            yield events.PLACED(replica=name, cluster=placement.cluster, pools=", ".join(placement.pools))


def _is_rolled(decision: Decision, updated: int) -> bool:
    """Return whether replicas got another spec in this pass: the status counts those that have the current one."""
    status = dig_fields(decision.request.xr, "status")
    revisions = mappings(status.get("revisions"))
    was = dig(status, "replicas", "updated"), dig(next(iter(revisions), {}), "hash")
    return was != (updated, decision.job.spec_hash)


def _updated(decision: Decision) -> Iterator[Event]:
    for placement in decision.plan.placements:
        if placement.action is Action.UPDATE:
            yield events.UPDATED(replica=decision.name(placement), cluster=placement.cluster)
    for replica, to in by_name(decision.plan.rolled_back):
        yield events.RETREATED(what=rollback(replica, to))


def _leaving(decision: Decision, before: Mapping[str, Manifest]) -> Iterator[Event]:
    for replica, why in by_name(decision.plan.leaving):
        name = replica.identity.name
        if name in before and not dig(before[name], "leaving"):
            yield events.LEAVING(replica=name, cluster=replica.cluster, why=why.value)


def _dropped(decision: Decision, before: Mapping[str, Manifest]) -> Iterator[Event]:
    plan = decision.plan
    lost = set(plan.lost)
    for replica in sorted({*plan.departing, *plan.lost, *plan.preempted}, key=lambda r: r.identity):
        if replica.identity.name not in before:
            continue
        to = plan.preempted.get(replica)
        if replica in lost:
            yield events.LOST(replica=replica.identity.name, cluster=replica.cluster)
        elif to:
            yield events.YIELDED(what=preemption(replica, to))
        else:
            yield events.REMOVED(replica=replica.identity.name, cluster=replica.cluster)
