"""Where the weights are to be, where they stay, and how far each cluster is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from function.api.modelcache import HuggingFace, Phase, Spec
from function.core import Manifest, Request, condition, dig, doubt
from function.core.condition import shortened
from function.kinds.modelcache import inputs
from function.kinds.modelcache.inputs import Cluster, Token
from function.manifests import reached
from function.vocabulary import labels, names
from function.vocabulary.exit_codes import MEANING, ExitCode

MOST_AT_ONCE = 200
"""Clusters with a Job. With a Job each, some seven hundred would be more than Crossplane takes in one answer; without
one, a thousand are half of that."""
_LONGEST_FAULT = 256


@dataclass(frozen=True, slots=True)
class Source:
    """What is to be staged."""

    repo: str
    revision: str
    token: Token | None

    @property
    def directory(self) -> str:
        return names.staged(self.repo, self.revision)

    @property
    def hash(self) -> str:
        """A new token is worth a new try, and a new Job: its pod template is immutable."""
        return names.content_hash([self.repo, self.revision, self.token and self.token.value])


@dataclass(frozen=True, slots=True)
class StagingSite:
    """One cluster of the cache."""

    name: str
    cluster: Cluster | None
    """None: it cannot be read any more, and what is there stays."""
    phase: Phase
    message: str | None
    staged: str | None
    """The directory that engines may mount."""
    repo: str | None
    """The repository whose weights are in that directory."""
    job: str | None
    """Key of the Job that stages what the spec asks for, until that is done and noted."""
    not_found: tuple[str, ...] = ()
    """The requirements that found nothing for the first time, where the weights stay for that alone."""

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


def places(request: Request, spec: Spec, source: Source, fleet: Mapping[str, Cluster]) -> tuple[StagingSite, ...]:
    """Every cluster that is to have the weights, or keeps them, by name. A cluster keeps them too where something that
    would keep them there was not found for the first time."""
    mounted = inputs.mounted_on(request)
    found = []
    for name in sorted({*fleet, *_claimed(request)}):
        cluster, is_mounted = fleet.get(name), mounted is None or name in mounted
        place = _place(request, cluster, source) if cluster else _lost(request, name)
        if _belongs(request, spec, cluster, mounted=is_mounted) if cluster else is_mounted:
            found.append(place)
        elif not_found := _doubted(request, place):
            found.append(replace(place, not_found=not_found))
    return tuple(_in_turn(request, found))


def _doubted(request: Request, place: StagingSite) -> tuple[str, ...]:
    """What was not found, where that is not believed yet."""
    not_found = (
        *([inputs.REPLICAS] if inputs.is_nobody_found(request) else []),
        *([inputs.CLUSTERS.name] if place.cluster is None else []),
    )
    is_believed = all(doubt.is_believed(request, what, claim_key(place.name)) for what in not_found)
    return () if is_believed else not_found


def _in_turn(request: Request, places: Sequence[StagingSite]) -> Iterator[StagingSite]:
    """A Job that is there stays, and counts even when it failed: what fails everywhere is not begun everywhere."""
    begun = sum(place.job in request.observed for place in places)
    for place in places:
        is_new = place.job is not None and place.job not in request.observed
        if is_new and begun >= MOST_AT_ONCE:
            waits = f"Waits for its turn: {MOST_AT_ONCE} clusters are staged at once"
            yield replace(place, phase="Pending", message=waits, job=None)
        else:
            begun += is_new
            yield place


def _belongs(request: Request, spec: Spec, cluster: Cluster, *, mounted: bool) -> bool:
    """Weights leave a cluster with it, or when the user's edit excludes it; never under a replica that mounts them."""
    there = request.observed.get(claim_key(cluster.name))
    if there is not None and mounted:
        return True
    if cluster.leaving:
        return False
    return cluster.matches or (there is not None and _was_relabelled(there, spec))


def _was_relabelled(claim: Manifest, spec: Spec) -> bool:
    """Whether the selector is the one that the claim was made under: then it is the cluster that changed."""
    return bool(dig(claim, "metadata", "annotations", labels.PLACED_UNDER) == placed_under(spec))


def placed_under(spec: Spec) -> str:
    return json.dumps(dict(spec.clusterSelector.matchLabels) if spec.clusterSelector else {}, sort_keys=True)


def _place(request: Request, cluster: Cluster, source: Source) -> StagingSite:
    key = _job(request, cluster.name, source)
    job = request.observed.get(key)
    before = _staged_before(request.xr, cluster.name)
    done = before == source.directory or (_said(job, "Complete") is not None and _stages(job) == source.directory)
    staged = source.directory if done else before
    phase: Phase
    phase, message = ("Ready", None) if done else _progress(request, cluster, source, job)
    # A Job is a means: once it is noted that the weights are staged, it goes, and the token with it.
    is_wanted = before != source.directory and (job is not None or phase == "Hydrating")
    repo = source.repo if done else _repo_before(request.xr, cluster.name)
    return StagingSite(cluster.name, cluster, phase, message, staged, repo, key if is_wanted else None)


def _claimed(request: Request) -> list[str]:
    """The clusters that have a volume of the cache."""
    prefix = claim_key("")
    return sorted(key.removeprefix(prefix) for key in request.observed if key.startswith(prefix))


def _lost(request: Request, cluster: str) -> StagingSite:
    """A cluster that is gone from under a replica: whoever removed it thus decides what becomes of what is there."""
    jobs = _jobs(request, cluster)
    job = jobs[0] if jobs else None
    staged, repo = _staged_before(request.xr, cluster), _repo_before(request.xr, cluster)
    return StagingSite(cluster, None, "Pending", "The cluster is gone", staged, repo, job)


def _job(request: Request, cluster: str, source: Source) -> str:
    """Key of the Job. Without the token that it was made with, the one that is there stays."""
    there = _jobs(request, cluster)
    return there[0] if there and source.token and source.token.missing else job_key(cluster, source)


def _jobs(request: Request, cluster: str) -> list[str]:
    pattern = re.compile(f"job-{re.escape(cluster)}-[0-9a-f]{{8}}")
    return sorted(filter(pattern.fullmatch, request.observed))


def _stages(job: Manifest | None) -> str | None:
    """The directory that a Job stages, by its arguments."""
    path = ("spec", "forProvider", "manifest", "spec", "template", "spec", "containers", 0, "args")
    targets = [str(arg).rpartition("/")[2] for arg in dig(job, *path) or () if str(arg).startswith("--to=")]
    return targets[0] if targets else None


def _staged_before(xr: Manifest, cluster: str) -> str | None:
    found: str | None = dig(_stated(xr, cluster), "staged")
    return found


def _repo_before(xr: Manifest, cluster: str) -> str | None:
    found: str | None = dig(_stated(xr, cluster), "repo")
    return found


def _stated(xr: Manifest, cluster: str) -> Manifest | None:
    return next((s for s in dig(xr, "status", "clusters") or () if dig(s, "name") == cluster), None)


def _progress(request: Request, cluster: Cluster, source: Source, job: Manifest | None) -> tuple[Phase, str | None]:
    failed = _said(job, "Failed")
    if failed is not None:
        return "Failed", _why_failed(failed)
    if job is not None:
        return "Hydrating", next(_hindrances(request, cluster.name, job), None)
    lacking = next(_lacking(request, cluster, source), None)
    return ("Pending", lacking) if lacking else ("Hydrating", None)


def _lacking(request: Request, cluster: Cluster, source: Source) -> Iterator[str]:
    """What keeps the weights from being staged, first things first."""
    if not cluster.provider_config:
        yield "The cluster cannot be reached yet"
    if not cluster.storage_class and claim_key(cluster.name) not in request.observed:
        yield "The cluster has no StorageClass for volumes that many nodes mount (its status.cache.storageClassName)"
    if source.token and source.token.missing:
        yield source.token.missing


def _hindrances(request: Request, cluster: str, job: Manifest) -> Iterator[str]:
    """A pod that waits for its volume leaves nothing on the Job: look at the claim."""
    claim = request.observed.get(claim_key(cluster)) or {}
    for observed in (claim, job):
        synced = condition(observed, "Synced")
        lost = reached.lost(observed)
        if lost:
            yield f"The cluster does not answer: {lost}"
        elif dig(synced, "status") == "False":
            yield shortened(str(dig(synced, "message") or dig(synced, "reason")), _LONGEST_FAULT)
    if dig(claim, "status", "atProvider", "manifest", "status", "phase") == "Pending":
        yield "The volume is not there yet"


def _said(job: Manifest | None, type_: str) -> Manifest | None:
    """What the Job on the cluster says of itself."""
    conditions = dig(job, "status", "atProvider", "manifest", "status", "conditions") or ()
    return next((c for c in conditions if dig(c, "type") == type_ and dig(c, "status") == "True"), None)


def _why_failed(failed: Manifest) -> str:
    """By the exit code that Kubernetes quotes, where one of ours ended the Job."""
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
