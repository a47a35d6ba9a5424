"""Which clusters get the weights, which keep them, and the progress of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from function.api.modelcache import HuggingFace, Phase, Spec
from function.core import Manifest, Request, condition, dig, doubt, quote_condition
from function.kinds.modelcache import inputs
from function.kinds.modelcache.inputs import Cluster, Token
from function.manifests import reached
from function.vocabulary import labels, names
from function.vocabulary.exit_codes import MEANING, ExitCode

MOST_AT_ONCE = 200
"""Clusters with a Job at the same time. With a Job each, about seven hundred clusters would exceed Crossplane's
response limit; without Jobs, a thousand take half of it."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is staged."""

    repo: str
    revision: str
    token: Token | None

    @property
    def directory(self) -> str:
        return names.staged(self.repo, self.revision)

    @property
    def hash(self) -> str:
        """Identifies the Job. A new token gives a new Job, and so a new try, because a pod template is immutable."""
        return names.content_hash([self.repo, self.revision, self.token and self.token.value])


@dataclass(frozen=True, slots=True)
class StagingSite:
    """The cache on one cluster."""

    name: str
    cluster: Cluster | None
    """None if the cluster is gone. What is staged there stays."""
    phase: Phase
    message: str | None
    staged: str | None
    """The directory that engines may mount."""
    repo: str | None
    """The repository whose weights are in that directory."""
    job: str | None
    """Key of the Job that stages the current spec, until it is done and its result recorded in the status."""
    not_found: tuple[str, ...] = ()
    """Requirements with a first empty result, if the weights are kept only for that reason."""

    @property
    def is_ready(self) -> bool:
        return self.phase == "Ready"


def source(spec: Spec, token: Token | None) -> Source:
    assert isinstance(spec.huggingFace, HuggingFace), "a rule of the model"
    return Source(spec.huggingFace.repo, spec.huggingFace.revision, token)


def claim_key(cluster: str) -> str:
    return f"claim-{cluster}"


def job_key(cluster: str, source: Source) -> str:
    return f"job-{cluster}-{source.hash}"


def sites(request: Request, spec: Spec, source: Source, fleet: Mapping[str, Cluster]) -> tuple[StagingSite, ...]:
    """Return every cluster that should have the weights or keeps them, by name.

    A cluster also keeps them if that would only change because of a first empty result.
    """
    mounted = inputs.mounted_on(request)
    found = []
    for name in sorted({*fleet, *_clusters_with_claim(request)}):
        cluster, is_mounted = fleet.get(name), mounted is None or name in mounted
        site = _site(request, cluster, source) if cluster else _lost(request, name)
        if _belongs(request, spec, cluster, mounted=is_mounted) if cluster else is_mounted:
            found.append(site)
        elif not_found := _doubted(request, site):
            found.append(replace(site, not_found=not_found))
    return tuple(_limited(request, found))


def _doubted(request: Request, site: StagingSite) -> tuple[str, ...]:
    """Return the requirements whose empty result is not believed yet."""
    not_found = (
        *([inputs.REPLICAS] if inputs.finds_no_replicas(request) else []),
        *([inputs.CLUSTERS.name] if site.cluster is None else []),
    )
    is_believed = all(doubt.is_believed(request, what, claim_key(site.name)) for what in not_found)
    return () if is_believed else not_found


def _limited(request: Request, sites: Sequence[StagingSite]) -> Iterator[StagingSite]:
    """Limit the number of Jobs.

    An existing Job counts even if it failed, so that a failure does not spread to every cluster.
    """
    begun = sum(site.job in request.observed for site in sites)
    for site in sites:
        is_new = site.job is not None and site.job not in request.observed
        if is_new and begun >= MOST_AT_ONCE:
            waits = f"Waiting for its turn: at most {MOST_AT_ONCE} clusters are staged at once"
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


def _site(request: Request, cluster: Cluster, source: Source) -> StagingSite:
    key = _job(request, cluster.name, source)
    job = request.observed.get(key)
    before = _staged_before(request.xr, cluster.name)
    done = before == source.directory or (
        _job_condition(job, "Complete") is not None and _stages(job) == source.directory
    )
    staged = source.directory if done else before
    phase: Phase
    phase, message = ("Ready", None) if done else _progress(request, cluster, source, job)
    # Once the status records that the weights are staged, the Job goes, and the token with it.
    is_wanted = before != source.directory and (job is not None or phase == "Hydrating")
    repo = source.repo if done else _repo_before(request.xr, cluster.name)
    return StagingSite(cluster.name, cluster, phase, message, staged, repo, key if is_wanted else None)


def _clusters_with_claim(request: Request) -> list[str]:
    """Return the clusters that have a volume of the cache."""
    prefix = claim_key("")
    return sorted(key.removeprefix(prefix) for key in request.observed if key.startswith(prefix))


def _lost(request: Request, cluster: str) -> StagingSite:
    """Return the site of a removed cluster whose weights a replica mounts.

    Whoever removed it decides about its contents.
    """
    jobs = _jobs(request, cluster)
    job = jobs[0] if jobs else None
    staged, repo = _staged_before(request.xr, cluster), _repo_before(request.xr, cluster)
    return StagingSite(cluster, None, "Pending", "The InferenceCluster no longer exists", staged, repo, job)


def _job(request: Request, cluster: str, source: Source) -> str:
    """Return the Job's key. While its token is missing, an existing Job stays."""
    there = _jobs(request, cluster)
    return there[0] if there and source.token and source.token.missing else job_key(cluster, source)


def _jobs(request: Request, cluster: str) -> list[str]:
    pattern = re.compile(f"job-{re.escape(cluster)}-[0-9a-f]{{8}}")
    return sorted(filter(pattern.fullmatch, request.observed))


def _stages(job: Manifest | None) -> str | None:
    """Return the directory that a Job stages, according to its arguments."""
    path = ("spec", "forProvider", "manifest", "spec", "template", "spec", "containers", 0, "args")
    targets = [str(arg).rpartition("/")[2] for arg in dig(job, *path) or () if str(arg).startswith("--to=")]
    return targets[0] if targets else None


def _staged_before(xr: Manifest, cluster: str) -> str | None:
    found: str | None = dig(_last_status(xr, cluster), "staged")
    return found


def _repo_before(xr: Manifest, cluster: str) -> str | None:
    found: str | None = dig(_last_status(xr, cluster), "repo")
    return found


def _last_status(xr: Manifest, cluster: str) -> Manifest | None:
    return next((s for s in dig(xr, "status", "clusters") or () if dig(s, "name") == cluster), None)


def _progress(request: Request, cluster: Cluster, source: Source, job: Manifest | None) -> tuple[Phase, str | None]:
    failed = _job_condition(job, "Failed")
    if failed is not None:
        return "Failed", _why_failed(failed)
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
    if source.token and source.token.missing:
        yield source.token.missing


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
    conditions = dig(job, "status", "atProvider", "manifest", "status", "conditions") or ()
    return next((c for c in conditions if dig(c, "type") == type_ and dig(c, "status") == "True"), None)


def _why_failed(failed: Manifest) -> str:
    """Return why a Job failed, from the exit code that Kubernetes quotes if it is one of ours."""
    message = str(dig(failed, "message") or "")
    code = re.search(r"exit code (\d+)", message)
    known = code and int(code[1]) in set(ExitCode)
    if code and known:
        return _sentence(MEANING[ExitCode(int(code[1]))])
    if dig(failed, "reason") == "BackoffLimitExceeded":
        return _sentence(MEANING[ExitCode.RETRY])
    return message or str(dig(failed, "reason") or "The Job failed")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
