"""The CEL that provider-kubernetes evaluates says the same as what we read ourselves."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from function import cel
from function.kinds.modelreplica import readiness
from tests.support import arrivals

COUNTS = list(product((None, 0, 1, 2), (None, 1, 2), (None, 1, 2), (None, 1, 2)))
"""Available, updated, replicas, observedGeneration, of 2 copies and generation 2."""


def workload(kind: str, available: Any, updated: Any, total: Any, seen: Any, **more: Any) -> dict[str, Any]:
    ready = "availableReplicas" if kind == "Deployment" else "readyReplicas"
    counted = {ready: available, "updatedReplicas": updated, "replicas": total, "observedGeneration": seen, **more}
    status = {k: v for k, v in counted.items() if v is not None}
    return {
        "kind": kind,
        "metadata": {"generation": 2},
        "spec": {"replicas": 2},
        **({"status": status} if status else {}),
    }


@pytest.mark.parametrize("counts", COUNTS)
def test_a_deployment_is_done_when_every_copy_runs_the_spec_that_stands(counts: Any) -> None:
    manifest = workload("Deployment", *counts)
    want = counts == (2, 2, 2, 2)
    assert (_holds(readiness.CEL["Deployment"], manifest), _done(manifest)) == (want, want)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("is_available", ["True", "False", None])
def test_a_gang_is_done_when_every_group_runs_the_spec_that_stands(counts: Any, is_available: str | None) -> None:
    said = {"conditions": arrivals.conditions(Available=is_available)} if is_available else {}
    manifest = workload("LeaderWorkerSet", *counts, **said)
    available, updated, _, seen = counts
    want = (available, updated, is_available) == (2, 2, "True") and seen in (None, 2)
    assert (_holds(readiness.CEL["LeaderWorkerSet"], manifest), _done(manifest)) == (want, want)


GATEWAYS = list(
    product(("inference-gateway", "another"), ("True", "False", None), ("True", "False", None), (1, 2, None))
)


@pytest.mark.parametrize(("gateway", "accepted", "resolved", "seen"), GATEWAYS)
@pytest.mark.parametrize("kind", ["HTTPRoute", "InferencePool"])
def test_a_route_is_done_when_our_gateway_took_the_spec_that_stands(
    kind: str, gateway: str, accepted: Any, resolved: Any, seen: Any
) -> None:
    generation = {} if seen is None else {"observedGeneration": seen}
    said = [
        {"type": type_, "status": status, **generation}
        for type_, status in (("Accepted", accepted), ("ResolvedRefs", resolved))
        if status
    ]
    parents = [{"parentRef": {"name": gateway}, "conditions": said}]
    manifest = {"kind": kind, "metadata": {"generation": 2}, "status": {"parents": parents}}
    want = (gateway, accepted, resolved) == ("inference-gateway", "True", "True") and seen != 1
    assert (_holds(readiness.CEL[kind], manifest), _done(manifest)) == (want, want)


@pytest.mark.parametrize("kind", readiness.CEL)
def test_nothing_is_done_before_it_has_a_status(kind: str) -> None:
    manifest = {"kind": kind, "metadata": {"generation": 1}, "spec": {"replicas": 1}}
    assert (_holds(readiness.CEL[kind], manifest), _done(manifest)) == (False, False)


def _holds(query: str, manifest: dict[str, Any]) -> bool:
    """As provider-kubernetes takes it: what cannot be evaluated is not ready."""
    try:
        return cel.query(query).evaluate(object=manifest)
    except cel.EvaluationFailed:
        return False


def _done(there: dict[str, Any]) -> bool:
    """What we read ourselves of an Object that shows this manifest."""
    stamped = readiness.stamped({"kind": there["kind"], "metadata": {"name": "x"}})
    metadata = {**there["metadata"], "name": "x", "annotations": stamped["metadata"]["annotations"]}
    observed = {"status": {"atProvider": {"manifest": {**there, "metadata": metadata}}}}
    wanted = {"spec": {"forProvider": {"manifest": stamped}}}
    return readiness.standings({"key": wanted}, {"key": observed})[0].done
