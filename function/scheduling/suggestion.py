"""Proposes changes that may place one more replica on a cluster.

Terms:

- A *change* is one action of a user (`change.py`).
- A *proposal* is a change that removes the reason why a cluster rejects. Another reason may be behind it.

Phases of `proposals`:

1. If a filter rejects the cluster, propose what satisfies the filter.
2. If the cluster is full, add one node to each pool in turn, then two, and so on, until a replica fits. Propose the
   first pool and number that work. Where a pod leaves devices of a whole node over, propose to share the nodes.
3. If a pool whose nodes are shared is fragmented, propose two more changes: a pool of whole nodes beside it, and, where
   its nodes are observed, the promise `Placement`.

Phases 2 and 3 ask the same search that the plan uses, but only for this cluster and this job: another deployment may
take a new node first. So nothing is said to help before it was tried on the whole fleet. A change to devices is not
proposed here; `kinds/modeldeployment/explain.py` proposes other texts for selectors.

Deliberately coarse: nodes are added to one pool only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from function.scheduling import rejection
from function.scheduling.account import Free, with_nodes
from function.scheduling.breakdown import ClusterBreakdown
from function.scheduling.capacity import Ledger
from function.scheduling.change import (
    AddNodes,
    AddPool,
    Change,
    ChangePods,
    Deselect,
    EnforceLevel,
    GiveAddress,
    LabelCluster,
    MakeServe,
    PromisePlacement,
    ShareNodes,
    Tolerate,
)
from function.scheduling.explain import planned_usage
from function.scheduling.filters import strictest_admitting
from function.scheduling.fit import Fit, Fitter
from function.scheduling.fleet import Cluster, Fleet, Pool
from function.scheduling.job import Job
from function.scheduling.plan import Plan
from function.scheduling.rejection import Reason
from function.scheduling.seen import as_seen

_MOST_NODES = 64
"""Nodes that are added at most. More of them would be no small change."""


def proposals(
    job: Job, fleet: Fleet, plan: Plan, fitter: Fitter, found: tuple[ClusterBreakdown, ...]
) -> Iterator[tuple[Change, ...]]:
    """Yield the proposals for each cluster of `found`, in its order, the smallest change first."""
    ledger = planned_usage(job, fleet, plan).ledger
    for breakdown in found:
        cluster, free = as_seen(breakdown.cluster), dict(ledger.open(breakdown.cluster.name))
        match breakdown.reason:
            case rejection.Full():
                yield (*_more_nodes(fitter, cluster, free), *_sharing(breakdown))
            case rejection.Fragmented() as reason:
                more = _more_nodes(fitter, cluster, free)
                yield (*more, *_for_fragments(reason, fitter, cluster, free, ledger))
            case reason:
                yield satisfying(job, reason)


def satisfying(job: Job, reason: Reason) -> tuple[Change, ...]:
    """Return the changes that satisfy the filter that a reason is of; none if no such change is known."""
    match reason:
        case rejection.Tainted(key=key, value=value, effect=effect):
            return (Tolerate(key, value, effect),)
        case rejection.LabelMismatch(key=key, wanted=wanted):
            return LabelCluster(key, wanted), Deselect(key, selecting(job, key))
        case rejection.PodSecurity():
            return EnforceLevel(strictest_admitting(job)), ChangePods(reason.demand())
        case rejection.NotReady():
            return (MakeServe(),)
        case rejection.NoGatewayAddress():
            return (GiveAddress(),)
        case (  # nothing that a user could change, or no filter
            rejection.BeingDeleted()
            | rejection.NotInCacheFootprint()
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
            return ()
    assert_never(reason)


DEPLOYMENTS_SELECTOR = "spec.clusterSelector"
CACHES_SELECTOR = "the clusterSelector of the ModelCache"


def selecting(job: Job, key: str) -> tuple[str, ...]:
    """Return the selectors of clusters that have a key, in words."""
    selectors = ((DEPLOYMENTS_SELECTOR, job.selector), (CACHES_SELECTOR, job.cache_selector))
    return tuple(words for words, selector in selectors if key in selector)


def _more_nodes(fitter: Fitter, cluster: Cluster, free: dict[str, Free]) -> Iterator[AddNodes]:
    """Yield the pool to which the fewest nodes must be added, and how many, if such a pool is known."""
    for nodes in range(1, _MOST_NODES + 1):
        for pool in sorted(cluster.pools, key=lambda pool: pool.name):
            more = with_nodes(free[pool.name], pool, nodes)
            if isinstance(fitter.fit(cluster, {**free, pool.name: more}), Fit):
                yield AddNodes(pool.name, nodes)
                return


def _sharing(breakdown: ClusterBreakdown) -> Iterator[ShareNodes]:
    """Yield each pool on whose nodes a pod leaves devices over, although it takes the whole node."""
    for pool in breakdown.pools:
        if not pool.pool.shared and pool.members and all(member.offered for member in pool.members):
            yield from (ShareNodes(pool.pool.name),) if any(member.spare for member in pool.members) else ()


# Fragmented pools


def _for_fragments(
    reason: rejection.Fragmented, fitter: Fitter, cluster: Cluster, free: dict[str, Free], ledger: Ledger
) -> Iterator[Change]:
    """Yield the changes that admit a replica although a shared pool is fragmented."""
    shared = cluster.pool(reason.pool)
    if shared and (nodes := _apart(fitter, cluster, free, shared)):
        yield AddPool(shared.name, nodes)
    if isinstance(fitter.fit(cluster, ledger.open_by_placement(cluster.name)), Fit):
        yield PromisePlacement()


def _apart(fitter: Fitter, cluster: Cluster, free: dict[str, Free], shared: Pool) -> int | None:
    """Return how many nodes another pool must have, which only pods that take whole nodes use; None if none suffice."""
    apart = replace(shared, name=f"{shared.name}-apart", nodes=_MOST_NODES, shared=False, seen=None)
    wider = replace(cluster, pools=(*cluster.pools, apart))
    for nodes in range(1, _MOST_NODES + 1):
        if isinstance(fitter.fit(wider, {**free, apart.name: nodes}), Fit):
            return nodes
    return None
