"""The keys of what a ModelCache composes. All but the key of the Usage name a cluster."""

from __future__ import annotations

import re

from function.core import Request
from function.vocabulary import names

USAGE = "usage"
"""Key of the Usage for replicas that mount the weights."""
_JOB = re.compile(r"job-(.+)-[0-9a-f]{8}")
_OF_CLUSTER = re.compile(r"(?:namespace|claim)-(.+)|(?:job|token|provided)-(.+)-[0-9a-f]{8}")


def namespace_key(cluster: str) -> str:
    return f"namespace-{cluster}"


def claim_key(cluster: str) -> str:
    return f"claim-{cluster}"


def job_key(cluster: str, source_hash: str) -> str:
    return f"job-{cluster}-{source_hash}"


def copy_key(job: str) -> str:
    """Return the key of the Secret that is copied for a Job, from the key of the Job."""
    return f"token-{job.removeprefix('job-')}"


def provided_key(cluster: str, claim: str) -> str:
    """Return the key of the Object that observes a claim of someone else."""
    return f"provided-{cluster}-{names.content_hash(claim)}"


def clusters_with_claim(request: Request) -> list[str]:
    """Return the clusters that have a volume of the cache."""
    prefix = claim_key("")
    return sorted(key.removeprefix(prefix) for key in request.observed if key.startswith(prefix))


def first_jobs(request: Request) -> dict[str, str]:
    """Return the key of the first Job on each cluster that has one."""
    found = filter(None, map(_JOB.fullmatch, sorted(request.observed, reverse=True)))
    return {match[1]: match[0] for match in found}


def clusters_of(request: Request) -> set[str]:
    """Return the clusters for which anything is composed."""
    found = filter(None, map(_OF_CLUSTER.fullmatch, request.observed))
    return {match[1] or match[2] for match in found}
