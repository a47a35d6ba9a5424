"""Works out why a cluster takes no more replicas of a job, after the plan is made.

Terms:

- A *reason* is a value with its facts (see `rejection.py`). A *rejection* is a cluster with its reason.
- The *usage* after a plan is the nodes that each replica has once the plan is carried out.
- A *gap* is the number of nodes that a pool lacks for an option of an engine.

Phases of `rejections`, for each cluster; the first reason wins:

1. The filters that decide whether a new replica may go there at all (see `filters.py`).
2. Preemption: a replica of the job lost its nodes there in this plan.
3. A fit of one more replica into the nodes that are left. If there is one, the cluster takes more, and has no
   rejection.
4. If the search gave up, SearchLimit. If the devices exist, the pool that lacks nodes. Otherwise the engine, member and
   request that lack devices.

Nothing is recorded while the plan is made: the fast path pays nothing for explanations, and most plans need none.

Deliberately coarse: each cluster gets one reason, although several may apply. Removing it may reveal the next.
`breakdown.py` shows all pools and requests. The request that is named is the one on the pool that comes closest, and
the pool that is named is the one with the smallest gap for the engine with the largest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from function.core import LazyDict, NamespacedName
from function.scheduling import rejection, unseen
from function.scheduling.account import Free
from function.scheduling.capacity import Ledger
from function.scheduling.devices import Oversized, Shortfall
from function.scheduling.filters import filter_cluster
from function.scheduling.fit import Fit, Fitter, taken
from function.scheduling.fleet import Cluster, Fleet, ForeignReplica, Specs, nodes_of
from function.scheduling.job import Engine, Job, Member
from function.scheduling.plan import Plan
from function.scheduling.rejection import NEAREST_FIRST, Fragmented, Full, Reason, Rejection
from function.scheduling.seen import as_seen
from function.scheduling.shortage import Shortage, shortages


@dataclass(frozen=True, slots=True)
class PlannedUsage:
    """The nodes that are in use once a plan is carried out, and before anything that it drops is gone."""

    by_cluster: Mapping[str, Sequence[ForeignReplica]]
    """The replicas of all deployments by cluster. Those of the job have the nodes that the plan gives them."""
    ledger: Ledger
    """The free nodes."""
    uncounted: Container[str] = ()
    """Clusters of which not all replicas are known, and whose free nodes are as published."""

    def holders(self, cluster: str) -> Sequence[ForeignReplica]:
        """Return the replicas on a cluster; none if not all are known, since naming some would blame the wrong ones."""
        return () if cluster in self.uncounted else self.by_cluster[cluster]


class _Planned(NamedTuple):
    """A replica that a plan places."""

    deployment: NamespacedName
    identity: NamespacedName = NamespacedName("", "")
    specs: Specs = ()


def rejections(job: Job, fleet: Fleet, plan: Plan, fitter: Fitter | None = None) -> tuple[Rejection, ...]:
    """Return a rejection for every cluster that does not take one more replica, sorted by cluster.

    Pass the `fitter` that made the plan to reuse what it has learned. Raises Exhausted and deadline.Exceeded.
    """
    fitter = fitter or Fitter(job.engines)
    usage = planned_usage(job, fleet, plan)
    found = []
    for name in sorted(fleet.clusters):
        cluster = fleet.clusters[name]
        reason = filter_cluster(job, cluster) or _preempted(cluster, plan) or _unfit(cluster, fitter, usage)
        if reason:
            found.append(Rejection(name, reason))
    return tuple(found)


def digest(given: Iterable[Rejection]) -> str:
    """Return rejections in one line: the number of clusters, and for each reason the number and one sample.

    The line changes only if the rejections do, so that a condition does not flap.
    """
    reasons = [r.reason for r in given]
    groups = [sorted(str(r) for r in reasons if isinstance(r, kind)) for kind in NEAREST_FIRST]
    said = ", ".join(f"{len(group)} {group[0]}" for group in groups if group)
    return f"{len(reasons)} cluster{'' if len(reasons) == 1 else 's'}: {said}"


def planned_usage(job: Job, fleet: Fleet, plan: Plan) -> PlannedUsage:
    """Return the usage after a plan. Replicas that leave count: the nodes that they hold are not free yet."""
    rivals = [r for r in fleet.replicas if r.deployment != job.deployment]
    by_cluster = LazyDict(
        fleet.clusters,
        lambda name: [
            *fleet.others.get(name, ()),
            *(ForeignReplica(r.nodes(), r) for r in rivals if r.cluster == name),
            *(ForeignReplica(r.nodes(), r) for r in plan.departing if r.cluster == name),
            *(
                ForeignReplica(nodes_of(p.engines), _Planned(job.deployment))
                for p in plan.placements
                if p.cluster == name
            ),
        ],
    )
    return PlannedUsage(by_cluster, plan.ledger, fleet.published.keys())


def _preempted(cluster: Cluster, plan: Plan) -> Reason | None:
    for replica, to in sorted(plan.preempted.items(), key=lambda pair: pair[0].identity):
        if replica.cluster == cluster.name and to is not None:
            return rejection.HoldsOther(str(to.identity))
    return None


def _unfit(cluster: Cluster, fitter: Fitter, usage: PlannedUsage) -> Reason | None:
    seen = as_seen(cluster)
    fit = fitter.fit(seen, usage.ledger.open(cluster.name))
    if isinstance(fit, Fit):
        return None
    if fit.gave_up:
        return rejection.SearchLimit()
    if fit.full:
        return unseen.reason(cluster, fitter, usage.ledger) or _full(seen, fitter, usage)
    if differs := unseen.difference(cluster, fitter, usage.ledger):
        return differs
    cluster = seen
    engine, _ = next((e, o) for e, o in zip(fitter.engines, fitter.options(cluster), strict=True) if not o)
    return _deviceless(engine, cluster, fitter)


def _full(cluster: Cluster, fitter: Fitter, usage: PlannedUsage) -> Reason:
    """Return the pool with the smallest gap, for the engine whose smallest gap is the largest.

    If each engine has room alone, but not all together, `needs` is what all of them need at least.
    """
    open_ = usage.ledger.open(cluster.name)
    free = [open_[pool.name] for pool in cluster.pools]
    engines = list(zip(fitter.engines, fitter.options(cluster), strict=True))
    gaps = [min(shortages(e, options, cluster, free), key=lambda s: s.order) for e, options in engines]
    worst = max(gaps, key=lambda gap: (gap.gap, gap.pool))
    reason = worst.reason if worst.gap > 0 else _together(worst, cluster, fitter, free)
    holders = {str(r.details.deployment) for r in usage.holders(cluster.name) if reason.pool in r.nodes}
    return replace(reason, held_by=tuple(sorted(holders)))


def _together(worst: Shortage, cluster: Cluster, fitter: Fitter, free: list[Free]) -> Full | Fragmented:
    """Return what lacks if each engine has room alone, but not all together."""
    for engine, options in zip(fitter.engines, fitter.options(cluster), strict=True):
        lacking = min(shortages(engine, options, cluster, free), key=lambda s: s.order)
        if lacking.gap > 0 and isinstance(lacking.reason, Fragmented):
            return lacking.reason
        free = taken(engine, options[0], free) or free
    needs = sum(min(sum(n for _, n in option.nodes) for option in options) for options in fitter.options(cluster))
    return replace(worst.reason, needs=needs) if isinstance(worst.reason, Full) else worst.reason


def _deviceless(engine: Engine, cluster: Cluster, fitter: Fitter) -> Reason:
    """Return why no pool satisfies an engine: its first member without devices, or NothingToClaim."""
    for member in engine.members:
        if (member.requests or cluster.pools) and not fitter.offers(member, cluster.pools):
            return _short(engine, member, cluster, fitter)
    return rejection.NothingToClaim(engine.name)


def _short(engine: Engine, member: Member, cluster: Cluster, fitter: Fitter) -> Reason:
    """Return why no pool satisfies a member, from the pool that has the largest share of the devices wanted."""
    short = [fitter.offer(member, pool) for pool in cluster.pools]
    small = min((s for s in short if isinstance(s, Oversized)), key=lambda s: s.wanted - s.has, default=None)
    if small:
        return rejection.NodeTooSmall(engine.name, member.role, small.resource, small.wanted, small.has)
    nearest = max(
        (s for s in short if isinstance(s, Shortfall)),
        key=lambda s: (s.has / max(s.wanted, 1), s.error is not None, s.request),
        default=None,
    )
    if nearest is None:
        return rejection.NoDevice(engine.name, member.role, member.requests[0].name)
    if not nearest.searched:
        return rejection.SearchLimit()
    if nearest.has:
        return rejection.TooFewDevices(engine.name, member.role, nearest.request, nearest.wanted, nearest.has)
    if nearest.error:
        return rejection.SelectorError(engine.name, member.role, nearest.request, nearest.error)
    return rejection.NoDevice(engine.name, member.role, nearest.request)
