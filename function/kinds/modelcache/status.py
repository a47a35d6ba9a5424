"""Conditions and status of a ModelCache."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from function.api.modelcache import Spec
from function.core import MOST_DESCRIBED, Condition, HoldDecision, Request, dig, enumerate_names
from function.kinds.modelcache import mounts, provided
from function.kinds.modelcache.compose import gibibytes, protection
from function.kinds.modelcache.keys import USAGE, claim_key, clusters_with_claim
from function.kinds.modelcache.mounts import Mounts
from function.kinds.modelcache.site import Site, Weights
from function.kinds.modelcache.sources import Source
from function.vocabulary import conditions as c


def status(sites: Sequence[Site]) -> dict[str, Any]:
    clusters = [
        {
            "name": site.name,
            "phase": site.phase,
            **({"message": site.message} if site.message else {}),
            **(_published(site.weights) if site.weights else {}),
        }
        for site in sites
    ]
    return {
        "summary": {"ready": f"{_ready(sites)}/{len(sites)}"},
        **({"clusters": clusters} if clusters else {}),
    }


def _published(weights: Weights) -> dict[str, str]:
    fields = {
        "claimName": weights.claim,
        "staged": weights.directory,
        "repo": weights.repo,
        "servedModelName": weights.served_model_name,
    }
    return {name: value for name, value in fields.items() if value}


def _ready(sites: Sequence[Site]) -> int:
    return sum(site.is_ready for site in sites)


def conditions(
    request: Request, spec: Spec, sites: Sequence[Site], source: Source | None, mounted: Mounts
) -> tuple[Condition, Condition]:
    if not sites:
        why = _no_clusters(spec)
        return c.NO_CLUSTERS_MATCHED(why=why), c.NO_CLUSTERS_FOR_ARTIFACT(why=why)
    return c.MATCHED(count=len(sites)), _artifact(request, sites, source, mounted)


def _no_clusters(spec: Spec) -> str:
    wanted = dict(spec.clusterSelector.matchLabels) if spec.clusterSelector else {}
    if not wanted:
        return "There is no InferenceCluster"
    return f"No InferenceCluster has the labels {', '.join(f'{k}={v}' for k, v in sorted(wanted.items()))}"


def _artifact(request: Request, sites: Sequence[Site], source: Source | None, mounted: Mounts) -> Condition:
    ready, why = _ready(sites), _why(sites)
    if ready == len(sites):
        return c.STAGED(ready=ready, wanted=len(sites), remark=_remark(request, sites, source, mounted))
    if source and source.copied.missing:
        return source.copied.missing
    if ready:
        return c.PARTIAL(why=f"{ready} of {len(sites)} clusters have the weights; {why}")
    if any(site.phase == "Failed" for site in sites):
        return c.ARTIFACT_FAILED(why=why)
    return c.HYDRATING(why=why) if source else c.WAITING_FOR_CLAIMS(why=why)


def _why(sites: Sequence[Site]) -> str:
    """Return what is missing, failed clusters first."""
    order = ("Failed", "Pending", "Hydrating")
    missing = sorted((p for p in sites if not p.is_ready), key=lambda p: (order.index(p.phase), p.name))
    named = [f"{p.name}: {p.phase}{f' ({p.message})' if p.message else ''}" for p in missing[:MOST_DESCRIBED]]
    more = [f"{len(missing) - MOST_DESCRIBED} more"] if len(missing) > MOST_DESCRIBED else []
    return "; ".join(named + more)


def _remark(request: Request, sites: Sequence[Site], source: Source | None, mounted: Mounts) -> str:
    found = [_size_remark(request, sites, source.size)] if source else _provided_remarks(request, sites, mounted)
    return "".join(f"; {remark}" for remark in filter(None, found))


def _size_remark(request: Request, sites: Sequence[Site], wanted: int) -> str:
    """Return a remark for a user who made sizeGiB smaller: volumes do not shrink."""
    path = ("spec", "forProvider", "manifest", "spec", "resources", "requests", "storage")
    larger = [p.name for p in sites if gibibytes(dig(request.observed.get(claim_key(p.name)), *path)) > wanted]
    where = ", ".join(larger[:MOST_DESCRIBED])
    return f"volumes never shrink: they are larger than {wanted}Gi on {where}" if larger else ""


def _provided_remarks(request: Request, sites: Sequence[Site], mounted: Mounts) -> list[str]:
    """Return remarks on the claims, and on volumes that an earlier source filled."""
    found = list(islice(provided.remarks(request, sites), MOST_DESCRIBED))
    kept = [cluster for cluster in clusters_with_claim(request) if cluster in mounted.on]
    if kept:
        found.append(f"the volumes of an earlier source stay while replicas use the cache: {enumerate_names(kept)}")
    return found


def held(request: Request) -> HoldDecision:
    return HoldDecision(decided={USAGE: protection(request, mounts.read(request)).get(USAGE)})
