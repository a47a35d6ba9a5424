"""What may keep a pod off a node and is counted nowhere is named; a preference is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.podspec import uncounted

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
APART = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}


def engine(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "engine", "image": "vllm", **fields}]}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        (engine(resources={"requests": {"cpu": 1, "memory": "1Gi", "ephemeral-storage": "1Gi"}}), []),
        ({"affinity": {"podAntiAffinity": {REQUIRED: [APART]}}}, ["affinity.podAntiAffinity"]),
        ({"affinity": {"podAffinity": {REQUIRED: [APART]}}}, ["affinity.podAffinity"]),
        ({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}]}}}}, ["affinity.nodeAffinity"]),
        ({"affinity": {"podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": APART}]}}}, []),
        ({"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]}, ["topologySpreadConstraints"]),
        ({"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]}, []),
        (engine(ports=[{"containerPort": 8000, "hostPort": 8080}]), ["hostPort 8080"]),
        (engine(ports=[{"containerPort": 8000, "hostPort": 0}]), []),
        ({**engine(ports=[{"containerPort": 8000}]), "hostNetwork": True}, ["hostNetwork"]),
        (engine(resources={"limits": {"rdma/ib": 1, "hugepages-2Mi": "1Gi"}}), ["hugepages-2Mi", "rdma/ib"]),
        ({"resources": {"requests": {"hugepages-1Gi": "1Gi"}}}, ["hugepages-1Gi"]),
        ({"initContainers": [{"resources": {"requests": {"example.com/nic": 1}}}]}, ["example.com/nic"]),
        (
            {"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "a"}}]},
            ["volumes[].persistentVolumeClaim"],
        ),
        ({"volumes": [{"name": "a", "ephemeral": {}}, {"name": "b", "emptyDir": {}}]}, ["volumes[].ephemeral"]),
        ({"resourceClaims": [{"name": "nic", "resourceClaimTemplateName": "nic"}]}, ["resourceClaims"]),
    ],
)
def test_what_is_not_counted_is_named(spec: dict[str, Any], want: list[str]) -> None:
    assert uncounted(spec) == tuple(want)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["affinity", "volumes", "containers", "resources", "ports", "limits"]), inner)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["affinity", "topologySpreadConstraints", "volumes", "containers", "resources"]), JUNK
    )
)
def test_a_spec_that_is_not_valid_is_read_as_far_as_it_goes(spec: dict[str, Any]) -> None:
    assert all(isinstance(one, str) for one in uncounted(spec))
