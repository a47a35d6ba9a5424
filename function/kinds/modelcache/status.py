"""What a ModelCache says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.api.modelcache import Spec
from function.core import Condition, HoldDecision, Request, dig
from function.kinds.modelcache.compose import USAGE, gibibytes, protection
from function.kinds.modelcache.inputs import Token
from function.kinds.modelcache.staging import StagingSite, claim_key
from function.vocabulary import conditions as c

_MOST_NAMED = 3


def status(places: Sequence[StagingSite]) -> dict[str, Any]:
    clusters = [
        {
            "name": place.name,
            "phase": place.phase,
            **({"message": place.message} if place.message else {}),
            **({"staged": place.staged} if place.staged else {}),
            **({"repo": place.repo} if place.repo else {}),
        }
        for place in places
    ]
    return {
        "summary": {"ready": f"{_ready(places)}/{len(places)}"},
        **({"clusters": clusters} if clusters else {}),
    }


def _ready(places: Sequence[StagingSite]) -> int:
    return sum(place.is_ready for place in places)


def conditions(
    request: Request, spec: Spec, places: Sequence[StagingSite], token: Token | None
) -> tuple[Condition, Condition]:
    if not places:
        why = _no_clusters(spec)
        return c.NO_CLUSTERS_MATCHED(why=why), c.NO_CLUSTERS_FOR_ARTIFACT(why=why)
    return c.MATCHED(count=len(places)), _artifact(request, spec, places, token)


def _no_clusters(spec: Spec) -> str:
    wanted = dict(spec.clusterSelector.matchLabels) if spec.clusterSelector else {}
    if not wanted:
        return "There is no InferenceCluster"
    return f"No InferenceCluster has the labels {', '.join(f'{k}={v}' for k, v in sorted(wanted.items()))}"


def _artifact(request: Request, spec: Spec, places: Sequence[StagingSite], token: Token | None) -> Condition:
    ready, why = _ready(places), _why(places)
    if ready == len(places):
        return c.STAGED(ready=ready, wanted=len(places), remark=_room(request, spec, places))
    if token and token.missing:
        return c.AUTH_SECRET_MISSING(why=token.missing)
    if ready:
        return c.PARTIAL(why=f"{ready} of {len(places)} clusters have the weights; {why}")
    if any(place.phase == "Failed" for place in places):
        return c.ARTIFACT_FAILED(why=why)
    return c.HYDRATING(why=why)


def _why(places: Sequence[StagingSite]) -> str:
    """The clusters that are missing, the failed first."""
    order = ("Failed", "Pending", "Hydrating")
    missing = sorted((p for p in places if not p.is_ready), key=lambda p: (order.index(p.phase), p.name))
    told = [f"{p.name}: {p.phase}{f' ({p.message})' if p.message else ''}" for p in missing[:_MOST_NAMED]]
    more = [f"{len(missing) - _MOST_NAMED} more"] if len(missing) > _MOST_NAMED else []
    return "; ".join(told + more)


def _room(request: Request, spec: Spec, places: Sequence[StagingSite]) -> str:
    """A remark, for who makes sizeGiB smaller and wonders."""
    assert spec.huggingFace is not None, "a rule of the model"
    wanted = spec.huggingFace.sizeGiB
    path = ("spec", "forProvider", "manifest", "spec", "resources", "requests", "storage")
    larger = [p.name for p in places if gibibytes(dig(request.observed.get(claim_key(p.name)), *path)) > wanted]
    return f"; volumes never shrink: larger than {wanted}Gi on {', '.join(larger[:_MOST_NAMED])}" if larger else ""


def held(request: Request) -> HoldDecision:
    return HoldDecision(decided={USAGE: protection(request).get(USAGE)})
