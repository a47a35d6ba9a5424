"""Remarks on replicas that stay although the Pod Security level of their cluster was lowered under them."""

from __future__ import annotations

from collections.abc import Iterator

from function import scheduling
from function.core import dig, enumerate_names
from function.kinds.modeldeployment import pod_security
from function.kinds.modeldeployment.decide import Decision
from function.scheduling import Action, Placement
from function.vocabulary.pod_security import RESTRICTED


def remarks(decision: Decision) -> Iterator[str]:
    """Yield a remark for each reason why pods that stay would not be admitted anew, with the names of the replicas.

    Only replicas that have the current spec are judged, whichever version of the function composed their pods. The
    others leave, or get the current spec with the rollout.
    """
    found: dict[str, list[str]] = {}
    for placement in decision.plan.placements:
        if why := _why(decision, placement):
            found.setdefault(why, []).append(f"{decision.name(placement)} on {placement.cluster}")
    for why, replicas in sorted(found.items()):
        yield f"{why}: {enumerate_names(sorted(replicas))}"


def _why(decision: Decision, placement: Placement) -> str | None:
    replica, cluster = placement.replica, decision.inputs.fleet.clusters.get(placement.cluster)
    if replica is None or cluster is None or placement.action is not Action.KEEP:
        return None
    if replica.spec_hash != decision.job.spec_hash and not replica.held_back:
        return None
    if forbidden := scheduling.forbidden_pods(decision.job, cluster):
        return f"pods that Pod Security {forbidden.level} does not admit stay ({forbidden.first()})"
    if cluster.pod_security != RESTRICTED or dig(decision.observed(placement), "spec", "podSecurity") == RESTRICTED:
        return None
    is_hard = not pod_security.without_hardening(decision.spec)
    return None if is_hard else f"pods from before Pod Security {RESTRICTED} are hardened by the next rollout"
