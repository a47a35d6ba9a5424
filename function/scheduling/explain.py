"""Why a replica is not there: worked out only where somebody asks, from what the plan left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from function.core import LazyDict, NamespacedName
from function.scheduling import rejection
from function.scheduling.capacity import Ledger
from function.scheduling.devices import Shortfall
from function.scheduling.filters import filter_cluster
from function.scheduling.fit import Fit, Fitter
from function.scheduling.fleet import Cluster, Fleet, ForeignReplica, Replica, nodes_of
from function.scheduling.job import Engine, Job, Member
from function.scheduling.plan import Plan
from function.scheduling.rejection import NEAREST_FIRST, Reason, Rejection


@dataclass(frozen=True, slots=True)
class PlannedUsage:
    """Who stands where, and what is free, once a plan is carried out."""

    by_cluster: Mapping[str, Sequence[ForeignReplica]]
    ledger: Ledger


def rejections(job: Job, fleet: Fleet, plan: Plan, fitter: Fitter | None = None) -> tuple[Rejection, ...]:
    """One for every cluster that does not take one more replica, by name."""
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
    """All of them in one line: how many clusters, and for each reason how many and a sample. Stable while they are."""
    reasons = [r.reason for r in given]
    groups = [sorted(str(r) for r in reasons if isinstance(r, kind)) for kind in NEAREST_FIRST]
    said = ", ".join(f"{len(group)} {group[0]}" for group in groups if group)
    return f"{len(reasons)} cluster{'' if len(reasons) == 1 else 's'}: {said}"


def planned_usage(job: Job, fleet: Fleet, plan: Plan) -> PlannedUsage:
    """Those that leave are still there: what they hold is not free yet."""
    rivals = [r for r in fleet.replicas if r.deployment != job.deployment]
    by_cluster = LazyDict(
        fleet.clusters,
        lambda name: [
            *fleet.others.get(name, ()),
            *(ForeignReplica(r.nodes(), partial(_deployment, r)) for r in rivals if r.cluster == name),
            *(ForeignReplica(r.nodes(), partial(_deployment, r)) for r in plan.departing if r.cluster == name),
            *(
                ForeignReplica(nodes_of(p.engines), lambda: job.deployment)
                for p in plan.placements
                if p.cluster == name
            ),
        ],
    )
    return PlannedUsage(by_cluster, plan.ledger)


def _deployment(replica: Replica) -> NamespacedName:
    return replica.deployment


def _preempted(cluster: Cluster, plan: Plan) -> Reason | None:
    for replica, to in sorted(plan.preempted.items(), key=lambda pair: pair[0].identity):
        if replica.cluster == cluster.name and to is not None:
            return rejection.HoldsOther(str(to.identity))
    return None


def _unfit(cluster: Cluster, fitter: Fitter, usage: PlannedUsage) -> Reason | None:
    fit = fitter.fit(cluster, usage.ledger.free_nodes(cluster.name))
    if isinstance(fit, Fit):
        return None
    if fit.gave_up:
        return rejection.SearchLimit()
    if fit.full:
        return _full(cluster, fitter, usage)
    engine, _ = next((e, o) for e, o in zip(fitter.engines, fitter.options(cluster), strict=True) if not o)
    return _deviceless(engine, cluster, fitter)


def _full(cluster: Cluster, fitter: Fitter, usage: PlannedUsage) -> Reason:
    """The pool that comes nearest, for the first engine that has no room alone; else for the largest."""
    free = usage.ledger.free_nodes(cluster.name)
    shortest: list[tuple[int, str, int, int]] = []
    for options in fitter.options(cluster):
        gaps = [
            (needs - free[cluster.pools[i].name], cluster.pools[i].name, needs, free[cluster.pools[i].name])
            for option in options
            for i, needs in option.nodes
        ]
        shortest.append(min(gaps))
    _, pool, needs, has = max(shortest, key=lambda gap: (gap[0], gap[1]))
    holders = sorted({str(r.named()) for r in usage.by_cluster[cluster.name] if pool in r.nodes})
    if needs <= has:  # each engine fits alone, all together do not
        needs = sum(min(sum(n for _, n in option.nodes) for option in options) for options in fitter.options(cluster))
    return rejection.Full(pool, needs, has, tuple(holders))


def _deviceless(engine: Engine, cluster: Cluster, fitter: Fitter) -> Reason:
    """For an engine that no pool satisfies: the member and the request, on the pool that comes nearest."""
    for member in engine.members:
        if member.requests and not fitter.offers(member, cluster.pools):
            return _short(engine, member, cluster, fitter)
    return rejection.NothingToClaim(engine.name)


def _short(engine: Engine, member: Member, cluster: Cluster, fitter: Fitter) -> Reason:
    short = [fitter.matcher.offer(member, pool.shape) for pool in cluster.pools]
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
