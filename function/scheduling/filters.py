"""Decides whether a new replica may go to a cluster at all, before its pools are looked at.

The filters run in this order: labels, deletion, serving, gateway address, taints, Pod Security, cache. All are cheap.
The first that rejects gives the reason. Labels come first because a cluster that is not selected should not be reported
as broken.
"""

from __future__ import annotations

from collections.abc import Mapping

from function.scheduling import rejection
from function.scheduling.fleet import Cluster
from function.scheduling.job import CachePhase, Job
from function.scheduling.rejection import Reason
from function.scheduling.taints import untolerated
from function.vocabulary.pod_security import LEVELS, PRIVILEGED, Level


def conflict(job: Job) -> tuple[str, str, str] | None:
    """Return a label key for which the selectors of the deployment and of its cache want different values, and the two
    values, that of the deployment first. No cluster can have both. None if there is no such key."""
    for key in sorted(job.selector.keys() & job.cache_selector.keys()):
        if job.selector[key] != job.cache_selector[key]:
            return key, job.selector[key], job.cache_selector[key]
    return None


def is_selected(cluster: Cluster, job: Job) -> bool:
    """Whether the deployment's own selector matches a cluster."""
    return _mismatch(cluster, job.selector) is None


def filter_cluster(job: Job, cluster: Cluster) -> Reason | None:
    """Return why a cluster takes no new replica, or None if it may take one. Pools are not considered."""
    if job.selector and (mismatch := _mismatch(cluster, job.selector)):
        return mismatch
    if job.cache_selector and (mismatch := _mismatch(cluster, job.cache_selector)):
        return mismatch
    if cluster.deleting:
        return rejection.BeingDeleted()
    if not cluster.ready:
        return rejection.NotReady()
    if not cluster.has_address:
        return rejection.NoGatewayAddress()
    if cluster.taints and (taint := untolerated(cluster.taints, job.tolerations, "NoSchedule", "NoExecute")):
        return rejection.Tainted(taint.key, taint.value, taint.effect)
    return forbidden_pods(job, cluster) or _uncached(job, cluster)


def forbidden_pods(job: Job, cluster: Cluster) -> rejection.PodSecurity | None:
    """Return why the cluster's level of Pod Security does not admit the pods, or None if it does."""
    violations = job.pod_violations.get(cluster.pod_security)
    if not violations:
        return None
    first, *others = violations
    return rejection.PodSecurity(cluster.pod_security, *first, tuple(violation.field for violation in others))


def strictest_admitting(job: Job) -> Level:
    """Return the strictest level of Pod Security that admits the pods. Privileged admits all."""
    return next((level for level in reversed(LEVELS) if not job.pod_violations.get(level)), PRIVILEGED)


def _mismatch(cluster: Cluster, selector: Mapping[str, str]) -> rejection.LabelMismatch | None:
    for key in sorted(selector):
        if cluster.labels.get(key) != selector[key]:
            return rejection.LabelMismatch(key, selector[key], cluster.labels.get(key))
    return None


def _uncached(job: Job, cluster: Cluster) -> Reason | None:
    if job.cache is None:
        return None
    phase = job.cache.get(cluster.name)
    if phase is None:
        return rejection.NotInCacheFootprint()
    return rejection.CacheFailed() if phase is CachePhase.FAILED else None
