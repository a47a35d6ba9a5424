"""Warnings about what is not counted on shared nodes, among the files of a fleet."""

from __future__ import annotations

import pytest

from function.validation import shared_nodes
from tests.support.samples import CLASS, CLUSTER, DEPLOYMENT, Object, edited

POOL = "spec.nodePools.0"
SHARED = edited(CLUSTER, f"{POOL}.sharing", "Devices")
NAMED = edited(CLASS, "metadata.name", "eks-h100-8x")
COUNTED = edited(NAMED, "spec.node", {"cpu": 180, "memory": "1900Gi", "ephemeral-storage": "1Ti"})
SPEC = "spec.engines.0.members.0.template.spec"
APART = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname"}]}
PICKY = edited(DEPLOYMENT, f"{SPEC}.affinity", {"podAntiAffinity": APART})


def said(*objects: Object) -> list[tuple[str, str]]:
    found = list(shared_nodes.findings(list(enumerate(objects))))
    assert all(finding.code == "not-counted" and not finding.is_error for finding in found)
    return [(finding.field, finding.message) for finding in found]


UNKNOWN = (
    "names InferenceClass eks-h100-8x, whose spec.node does not give cpu, memory, ephemeral-storage: requests for it"
    " are not counted on the shared nodes, and a pod may stay Pending"
)
UNCOUNTED = (
    "asks for affinity.podAntiAffinity, which is not counted on shared nodes (pool gpu-h100 of InferenceCluster"
    " sample): a pod may stay Pending"
)


def test_requests_that_the_class_has_no_number_for_are_told_at_the_pool() -> None:
    assert said(SHARED, NAMED, DEPLOYMENT) == [("spec.nodePools[0].className", UNKNOWN)]
    half = edited(NAMED, "spec.node", {"cpu": 180, "ephemeral-storage": "1Ti"})
    assert "does not give memory:" in said(SHARED, half, DEPLOYMENT)[0][1]


def test_a_constraint_is_told_at_its_template() -> None:
    assert said(SHARED, COUNTED, PICKY) == [("spec.engines[0].members[0].template", UNCOUNTED)]


@pytest.mark.parametrize(
    "objects",
    [(CLUSTER, NAMED, PICKY), (NAMED, PICKY), (SHARED, COUNTED, DEPLOYMENT), (SHARED, DEPLOYMENT), (SHARED, NAMED)],
    ids=["whole nodes", "no cluster", "all counted", "class not given", "no pods"],
)
def test_nothing_is_told_where_all_is_counted_or_not_known(objects: tuple[Object, ...]) -> None:
    assert said(*objects) == []
