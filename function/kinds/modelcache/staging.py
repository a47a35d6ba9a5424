"""Which clusters get weights that are downloaded, which keep them, and the progress of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from function.api.modelcache import Phase, Spec
from function.core import (
    Manifest,
    Request,
    condition,
    dig,
    dig_list,
    dig_objects,
    doubt,
    plural,
    quote,
    quote_condition,
)
from function.kinds.modelcache import inputs, mounts
from function.kinds.modelcache.inputs import Cluster
from function.kinds.modelcache.keys import claim_key, clusters_with_claim, first_jobs, job_key
from function.kinds.modelcache.mounts import Mounts
from function.kinds.modelcache.site import Site, Weights, left, published
from function.kinds.modelcache.sources import Source
from function.manifests import reached
from function.vocabulary import labels
from function.vocabulary.exit_codes import ExitCode, Meaning

MOST_AT_ONCE = 200
"""Clusters with a Job at the same time. With a Job each, about seven hundred clusters would exceed Crossplane's
response limit; without Jobs, a thousand take half of it."""
_COPIED_AT_ONCE = 2**20
"""Characters that the copies for all Jobs may have together, within the same limit. A bundle of all public authorities
is carried to three clusters at a time."""
GONE = "The InferenceCluster no longer exists"


def sites(
    request: Request, spec: Spec, source: Source, fleet: Mapping[str, Cluster], mounted: Mounts
) -> tuple[Site, ...]:
    """Return every cluster that should have the weights or keeps them, by name.

    A cluster also keeps them if that would only change because of a first empty result.
    """
    before, jobs = published(request.xr), first_jobs(request)
    elsewhere = _elsewhere(request)
    found = []
    for name in sorted({*fleet, *clusters_with_claim(request), *elsewhere}):
        cluster, is_mounted = fleet.get(name), mounted.may_be_on(name)
        there = before.get(name), jobs.get(name)
        site = _site(request, cluster, source, *there) if cluster else _lost(name, *there)
        if _belongs(request, spec, cluster, mounted=is_mounted) if cluster else is_mounted:
            found.append(site)
        elif name in elsewhere and (is_mounted or mounts.is_doubted(request, mounted)):
            found.append(left(name, before[name]))
        elif not_found := _doubted(request, site, mounted):
            found.append(replace(site, not_found=not_found))
    return tuple(_limited(request, found, source))


def kept_if_mounted(request: Request, spec: Spec, fleet: Mapping[str, Cluster]) -> set[str]:
    """Return the clusters that keep weights only as long as a replica mounts them."""
    holders = {*clusters_with_claim(request), *_elsewhere(request)}
    return {name for name in holders if name not in fleet or not _belongs(request, spec, fleet[name], mounted=False)}


def _elsewhere(request: Request) -> set[str]:
    """Return the clusters whose published weights are in a claim of someone else, under an earlier spec."""
    return {name for name, weights in published(request.xr).items() if weights.claim}


def _doubted(request: Request, site: Site, mounted: Mounts) -> tuple[str, ...]:
    """Return the requirements whose empty result is not believed yet."""
    not_found = (
        *([mounts.REPLICAS] if mounted.found_none else []),
        *([inputs.CLUSTERS.name] if site.cluster is None else []),
    )
    is_believed = all(doubt.is_believed(request, what, claim_key(site.name)) for what in not_found)
    return () if is_believed else not_found


def _limited(request: Request, sites: Sequence[Site], source: Source) -> Iterator[Site]:
    """Limit the number of Jobs.

    An existing Job counts even if it failed, so that a failure does not spread to every cluster.
    """
    most = min(MOST_AT_ONCE, max(1, _COPIED_AT_ONCE // max(1, source.copied.size)))
    begun = sum(site.job in request.observed for site in sites)
    for site in sites:
        is_new = site.job is not None and site.job not in request.observed
        if is_new and begun >= most:
            waits = f"Waiting for its turn: at most {plural(most, 'cluster')} can be staged at once"
            yield replace(site, phase="Pending", message=waits, job=None)
        else:
            begun += is_new
            yield site


def _belongs(request: Request, spec: Spec, cluster: Cluster, *, mounted: bool) -> bool:
    """Return whether weights belong on a cluster.

    They leave with the cluster, or if the user's edit excludes it, but never while a replica mounts them.
    """
    there = request.observed.get(claim_key(cluster.name))
    if there is not None and mounted:
        return True
    if cluster.leaving:
        return False
    return cluster.matches or (there is not None and _was_relabelled(there, spec))


def _was_relabelled(claim: Manifest, spec: Spec) -> bool:
    """Return whether the claim was made under the current selector: then the cluster's labels changed, not the spec."""
    return bool(dig(claim, "metadata", "annotations", labels.PLACED_UNDER) == placed_under(spec))


def placed_under(spec: Spec) -> str:
    return json.dumps(dict(spec.clusterSelector.matchLabels) if spec.clusterSelector else {}, sort_keys=True)


def _site(request: Request, cluster: Cluster, source: Source, before: Weights | None, begun: str | None) -> Site:
    """Return the site of a cluster that exists. `begun` is the key of its first Job.

    While the token or another value for a Job is missing, an existing Job stays. Weights are gone with their claim,
    whatever the status says: someone may delete it.
    """
    key = begun if begun and source.copied.missing else job_key(cluster.name, source.hash)
    job = request.observed.get(key)
    claim = request.observed.get(claim_key(cluster.name))
    has_claim = claim is not None and "deletionTimestamp" not in claim["metadata"]
    is_staged = has_claim and before is not None and before.claim is None and before.directory == source.directory
    done = is_staged or (_job_condition(job, "Complete") is not None and _stages(job) == source.directory)
    phase: Phase
    phase, message = ("Ready", None) if done else _progress(request, cluster, source, job)
    # Once the status records that the weights are staged, the Job goes, and the copied values with it.
    is_wanted = not is_staged and (job is not None or phase == "Hydrating")
    staged = Weights(None, source.directory, source.repo, source.served_model_name)
    return Site(cluster.name, cluster, phase, message, staged if done else before, key if is_wanted else None)


def _lost(cluster: str, before: Weights | None, begun: str | None) -> Site:
    """Return the site of a removed cluster whose weights a replica mounts.

    Whoever removed it decides about its contents.
    """
    return Site(cluster, None, "Pending", GONE, before, begun)


def _stages(job: Manifest | None) -> str | None:
    """Return the directory that a Job stages, according to its arguments."""
    path = ("spec", "forProvider", "manifest", "spec", "template", "spec", "containers", 0, "args")
    targets = [str(arg).rpartition("/")[2] for arg in dig_list(job, *path) if str(arg).startswith("--to=")]
    return targets[0] if targets else None


def _progress(request: Request, cluster: Cluster, source: Source, job: Manifest | None) -> tuple[Phase, str | None]:
    failed = _job_condition(job, "Failed")
    if failed is not None:
        return "Failed", _why_failed(failed, source.meaning)
    if job is not None:
        return "Hydrating", next(_obstacles(request, cluster.name, job), None)
    lacking = next(_lacking(request, cluster, source), None)
    return ("Pending", lacking) if lacking else ("Hydrating", None)


def _lacking(request: Request, cluster: Cluster, source: Source) -> Iterator[str]:
    """Yield what is missing before staging can begin, in order."""
    if not cluster.provider_config:
        yield "The cluster cannot be reached yet"
    if not cluster.storage_class and claim_key(cluster.name) not in request.observed:
        yield "The cluster has no StorageClass for volumes that many nodes mount (its status.cache.storageClassName)"
    if source.copied.missing:
        yield source.copied.missing.message


def _obstacles(request: Request, cluster: str, job: Manifest) -> Iterator[str]:
    """Yield what delays a Job.

    A pod that waits for its volume leaves no trace on the Job, so the claim is examined too.
    """
    claim = request.observed.get(claim_key(cluster)) or {}
    for observed in (claim, job):
        synced = condition(observed, "Synced")
        lost = reached.lost(observed)
        if lost:
            yield f"The cluster does not answer: {lost}"
        elif dig(synced, "status") == "False":
            yield quote_condition(synced)
    if dig(claim, "status", "atProvider", "manifest", "status", "phase") == "Pending":
        yield "The volume is not bound yet"


def _job_condition(job: Manifest | None, type_: str) -> Manifest | None:
    """Return a condition of the remote Job if it is True."""
    conditions = dig_objects(job, "status", "atProvider", "manifest", "status", "conditions")
    return next((c for c in conditions if dig(c, "type") == type_ and dig(c, "status") == "True"), None)


def _why_failed(failed: Manifest, meaning: Meaning) -> str:
    """Return why a Job failed, from the exit code that Kubernetes quotes if it is one of ours."""
    message = str(dig(failed, "message") or "")
    code = re.search(r"exit code (\d{1,3})\b", message)
    known = code and int(code[1]) in set(ExitCode)
    if code and known:
        return _sentence(meaning[ExitCode(int(code[1]))])
    if dig(failed, "reason") == "BackoffLimitExceeded":
        return _sentence(meaning[ExitCode.RETRY])
    return quote(message or dig(failed, "reason") or "The Job failed")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
