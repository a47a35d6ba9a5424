"""Conditions and status of a ModelCache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.api.modelcache import Spec
from function.core import MOST_DESCRIBED, Condition, HoldDecision, Request, dig
from function.kinds.modelcache.compose import USAGE, gibibytes, protection
from function.kinds.modelcache.inputs import Token
from function.kinds.modelcache.staging import StagingSite, claim_key
from function.vocabulary import conditions as c


def status(sites: Sequence[StagingSite]) -> dict[str, Any]:
    clusters = [
        {
            "name": site.name,
            "phase": site.phase,
            **({"message": site.message} if site.message else {}),
            **({"staged": site.staged} if site.staged else {}),
            **({"repo": site.repo} if site.repo else {}),
        }
        for site in sites
    ]
    return {
        "summary": {"ready": f"{_ready(sites)}/{len(sites)}"},
        **({"clusters": clusters} if clusters else {}),
    }


def _ready(sites: Sequence[StagingSite]) -> int:
    return sum(site.is_ready for site in sites)


def conditions(
    request: Request, spec: Spec, sites: Sequence[StagingSite], token: Token | None
) -> tuple[Condition, Condition]:
    if not sites:
        why = _no_clusters(spec)
        return c.NO_CLUSTERS_MATCHED(why=why), c.NO_CLUSTERS_FOR_ARTIFACT(why=why)
    return c.MATCHED(count=len(sites)), _artifact(request, spec, sites, token)


def _no_clusters(spec: Spec) -> str:
    wanted = dict(spec.clusterSelector.matchLabels) if spec.clusterSelector else {}
    if not wanted:
        return "There is no InferenceCluster"
    return f"No InferenceCluster has the labels {', '.join(f'{k}={v}' for k, v in sorted(wanted.items()))}"


def _artifact(request: Request, spec: Spec, sites: Sequence[StagingSite], token: Token | None) -> Condition:
    ready, why = _ready(sites), _why(sites)
    if ready == len(sites):
        return c.STAGED(ready=ready, wanted=len(sites), remark=_size_remark(request, spec, sites))
    if token and token.missing:
        return c.AUTH_SECRET_MISSING(why=token.missing)
    if ready:
        return c.PARTIAL(why=f"{ready} of {len(sites)} clusters have the weights; {why}")
    if any(site.phase == "Failed" for site in sites):
        return c.ARTIFACT_FAILED(why=why)
    return c.HYDRATING(why=why)


def _why(sites: Sequence[StagingSite]) -> str:
    """Return what is missing, failed clusters first."""
    order = ("Failed", "Pending", "Hydrating")
    missing = sorted((p for p in sites if not p.is_ready), key=lambda p: (order.index(p.phase), p.name))
    named = [f"{p.name}: {p.phase}{f' ({p.message})' if p.message else ''}" for p in missing[:MOST_DESCRIBED]]
    more = [f"{len(missing) - MOST_DESCRIBED} more"] if len(missing) > MOST_DESCRIBED else []
    return "; ".join(named + more)


def _size_remark(request: Request, spec: Spec, sites: Sequence[StagingSite]) -> str:
    """Return a remark for a user who made sizeGiB smaller: volumes do not shrink."""
    assert spec.huggingFace is not None, "a rule of the model"
    wanted = spec.huggingFace.sizeGiB
    path = ("spec", "forProvider", "manifest", "spec", "resources", "requests", "storage")
    larger = [p.name for p in sites if gibibytes(dig(request.observed.get(claim_key(p.name)), *path)) > wanted]
    where = ", ".join(larger[:MOST_DESCRIBED])
    return f"; volumes never shrink: they are larger than {wanted}Gi on {where}" if larger else ""


def held(request: Request) -> HoldDecision:
    return HoldDecision(decided={USAGE: protection(request).get(USAGE)})
