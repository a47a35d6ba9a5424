"""Suggests the smallest change that would place one more replica on a cluster.

Terms:

- A cluster is *open* if its pools have room for one more replica. Then only a filter keeps replicas out.
- A *change* is one action of a user, in words.

Phases of `suggestions`, for each cluster:

1. Fit one more replica into the free nodes after the plan. If it fits, the cluster is open: suggest the change that
   satisfies the filter that rejected it.
2. Otherwise, if the cluster is full, add one node to each pool in turn, then two, and so on, until a replica fits.
   Suggest the first pool and number that work.
3. If a pool whose nodes are shared is fragmented, try two more changes: a pool of whole nodes beside it, and, where its
   nodes are observed, the promise `Placement`.

Every change in phases 2 and 3 was tried with the same search that the plan uses. A change to devices is not suggested
here; `kinds/modeldeployment/explain.py` tries lower quantities in selectors.

Deliberately coarse: only one change at a time is tried, to one pool. A cluster that needs two changes gets no
suggestion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from function.core import enumerate_names, plural
from function.scheduling import rejection
from function.scheduling.account import Free, with_nodes
from function.scheduling.breakdown import ClusterBreakdown
from function.scheduling.capacity import Ledger
from function.scheduling.explain import planned_usage
from function.scheduling.filters import forbidden_pods, strictest_admitting
from function.scheduling.fit import Fit, Fitter
from function.scheduling.fleet import Cluster, Fleet, Pool
from function.scheduling.job import Job
from function.scheduling.plan import Plan
from function.scheduling.rejection import Reason
from function.scheduling.seen import as_seen

_MOST_NODES = 64
"""Nodes that are tried. More of them would be no small change."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that would place one more replica on a cluster."""

    cluster: str
    change: str
    """The change in words, as an imperative."""


def suggestions(
    job: Job, fleet: Fleet, plan: Plan, fitter: Fitter, found: tuple[ClusterBreakdown, ...]
) -> Iterator[Suggestion]:
    """Yield the suggestions for each cluster of `found`, in its order. Most have one at most."""
    ledger = planned_usage(job, fleet, plan).ledger
    is_judged = any(isinstance(breakdown.reason, rejection.PodSecurity) for breakdown in found)
    admitting = _admitting(job, fleet) if is_judged else []
    for breakdown in found:
        cluster, free = as_seen(breakdown.cluster), dict(ledger.open(breakdown.cluster.name))
        if isinstance(fitter.fit(cluster, free), Fit):
            if change := _opening(job, breakdown, admitting):
                yield Suggestion(cluster.name, change)
        elif isinstance(breakdown.reason, rejection.Full | rejection.Fragmented):
            more = _more_nodes(fitter, cluster, free)
            changes = [_nodes(breakdown.reason, *more)] if more else []
            if isinstance(breakdown.reason, rejection.Fragmented):
                changes.extend(_for_fragments(breakdown.reason, fitter, cluster, free, ledger))
            yield from (Suggestion(cluster.name, change) for change in changes)


def _opening(job: Job, breakdown: ClusterBreakdown, admitting: Sequence[str]) -> str | None:
    """Return the change that lets replicas in, for a cluster whose pools have room; None if no such change is known.

    `admitting` are the clusters whose level of Pod Security admits the pods as they are.
    """
    reason = breakdown.reason
    if not isinstance(reason, rejection.PodSecurity) and forbidden_pods(job, breakdown.cluster):
        return None  # two changes are needed
    return _satisfying(job, reason, admitting)


def _satisfying(job: Job, reason: Reason, admitting: Sequence[str] = ()) -> str | None:
    """Return the change that satisfies a filter; None if no such change is known."""
    match reason:
        case rejection.Tainted(key=key, value=value, effect=effect):
            return f"tolerate {key}{f'={value}' if value else ''}:{effect} in spec.tolerations"
        case rejection.LabelMismatch(key=key, wanted=wanted):
            return f"label the cluster {key}={wanted}, or remove {key} from the selector"
        case rejection.PodSecurity():
            elsewhere = f", use a cluster that admits them ({enumerate_names(admitting)})" if admitting else ""
            level = strictest_admitting(job)
            return (
                f"change the pods ({reason.demand()}){elsewhere}, or set spec.podSecurity.enforce of the cluster to"
                f" {level}"
            )
        case rejection.NotReady():
            return "make the cluster serve; its conditions show what is missing"
        case rejection.NoGatewayAddress():
            return "give the gateway of the cluster an address"
        case rejection.NotInCacheFootprint():
            return "select the cluster with the clusterSelector of the ModelCache"
        case (  # nothing that a user could change, or not in the way of a cluster whose pools have room
            rejection.BeingDeleted()
            | rejection.CacheFailed()
            | rejection.HoldsOther()
            | rejection.Full()
            | rejection.Fragmented()
            | rejection.Cordoned()
            | rejection.NodesNotReady()
            | rejection.NodesTainted()
            | rejection.DevicesMissing()
            | rejection.TakenByOthers()
            | rejection.OutOfStock()
            | rejection.SearchLimit()
            | rejection.TooFewDevices()
            | rejection.NodeTooSmall()
            | rejection.DeviceDiffers()
            | rejection.NothingToClaim()
            | rejection.SelectorError()
            | rejection.NoDevice()
        ):
            return None
    assert_never(reason)


def _admitting(job: Job, fleet: Fleet) -> list[str]:
    """Return the clusters whose level of Pod Security admits the pods, whatever else keeps a replica off them."""
    return [name for name, cluster in sorted(fleet.clusters.items()) if not forbidden_pods(job, cluster)]


def _more_nodes(fitter: Fitter, cluster: Cluster, free: dict[str, Free]) -> tuple[str, int] | None:
    """Return the pool to which the fewest nodes must be added, and how many; None if no such pool is known."""
    for nodes in range(1, _MOST_NODES + 1):
        for pool in sorted(cluster.pools, key=lambda pool: pool.name):
            more = with_nodes(free[pool.name], pool, nodes)
            if isinstance(fitter.fit(cluster, {**free, pool.name: more}), Fit):
                return pool.name, nodes
    return None


def _nodes(full: rejection.Full | rejection.Fragmented, pool: str, nodes: int) -> str:
    count = plural(nodes, "node")
    held = f", or free {count} held by {', '.join(full.held_by)}" if full.unit == "node" and full.held_by else ""
    return f"add {count} to pool {pool}{held}"


# Fragmented pools


def _for_fragments(
    reason: rejection.Fragmented, fitter: Fitter, cluster: Cluster, free: dict[str, Free], ledger: Ledger
) -> Iterator[str]:
    """Yield the changes that admit a replica although a shared pool is fragmented."""
    shared = cluster.pool(reason.pool)
    if shared and (nodes := _apart(fitter, cluster, free, shared)):
        yield f"add a pool of {plural(nodes, 'node')} with the class of pool {shared.name}, whose nodes are not shared"
    if isinstance(fitter.fit(cluster, ledger.open_by_placement(cluster.name)), Fit):
        yield "set spec.capacity.promise of the cluster to Placement: the replica fits on the nodes as they are"


def _apart(fitter: Fitter, cluster: Cluster, free: dict[str, Free], shared: Pool) -> int | None:
    """Return how many nodes another pool must have, which only pods that take whole nodes use; None if none suffice."""
    apart = replace(shared, name=f"{shared.name}-apart", nodes=_MOST_NODES, shared=False, seen=None)
    wider = replace(cluster, pools=(*cluster.pools, apart))
    for nodes in range(1, _MOST_NODES + 1):
        if isinstance(fitter.fit(wider, {**free, apart.name: nodes}), Fit):
            return nodes
    return None
