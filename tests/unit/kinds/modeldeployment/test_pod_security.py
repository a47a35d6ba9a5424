"""What levels of Pod Security forbid of a deployment's pods, and what a replica notes of its cluster's level."""

from __future__ import annotations

from typing import Any

import pytest

from function.api import modeldeployment
from function.fleet import clusters
from function.kinds.modeldeployment import pod_security, rendering
from function.scheduling import Engine, Fit, Offer, PlacedEngine, PlacedMember, PodViolation
from function.scheduling.fit import Option, Waste
from function.vocabulary.pod_security import LEVELS, Level

NON_ROOT = {"securityContext": {"runAsNonRoot": True}}
HOST = {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}


def member(role: str = "Standalone", **pod: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "engine", "image": "vllm"}], **pod}}
    devices = [{"name": "gpu", "selectors": [{"cel": "true"}]}]
    return {"role": role, "nodeSelector": {"devices": devices}, "template": template}


def spec(*engines: list[dict[str, Any]]) -> modeldeployment.Spec:
    given = [{"name": f"e{i}", "members": members} for i, members in enumerate(engines)]
    return modeldeployment.Spec.model_validate({"engines": given})


def test_all_members_of_all_engines_are_judged() -> None:
    found = pod_security.violations(spec([member()], [member("Leader"), member("Worker", **HOST)]))
    at = "spec.engines[1].members[1].template.spec.volumes[0].hostPath"
    assert found["privileged"] == ()
    assert found["baseline"] == (PodViolation("", at, "must not be set"),)
    assert [v.field for v in found["restricted"] if v.container] == [
        f"spec.engines[{i}].members[{j}].template.spec.containers[0].securityContext.runAsNonRoot"
        for i, j in ((0, 0), (1, 0), (1, 1))
    ]


def test_restricted_judges_the_pods_as_they_are_hardened() -> None:
    wanted = spec([member(**NON_ROOT)])
    assert pod_security.violations(wanted)["restricted"] == ()
    assert {v.field.rpartition("securityContext.")[2] for v in pod_security.without_hardening(wanted)} == {
        "allowPrivilegeEscalation",
        "capabilities.drop",
        "seccompProfile.type",
    }


@pytest.mark.parametrize("level", LEVELS)
def test_a_replica_notes_only_that_its_cluster_is_restricted(level: Level) -> None:
    placed = [PlacedEngine("e0", 1, (PlacedMember("Standalone", 1, "p", claims=True),))]
    offer = Offer(classes=("gpu.example.com",), memory=0, spare=0)
    fit = Fit(((Engine("e0", 1, ()), Option((0,), (offer,), ((0, 1),), Waste())),), Waste())
    noted = rendering.spec(spec([member()]), "berlin", placed, fit, level=level).get("podSecurity")
    assert noted == ("restricted" if level == "restricted" else None)


@pytest.mark.parametrize(
    ("published", "want"),
    [
        ({"enforce": "privileged"}, "privileged"),
        ({"enforce": "restricted"}, "restricted"),
        ({"enforce": "Restricted"}, "baseline"),
        ({"enforce": ["privileged"]}, "baseline"),
        ({}, "baseline"),
        ("privileged", "baseline"),
        (None, "baseline"),
    ],
)
def test_a_cluster_that_publishes_no_level_is_baseline(published: Any, want: str) -> None:
    manifest = {"metadata": {"name": "a"}, "status": {"podSecurity": published}}
    assert clusters.cluster(manifest).pod_security == want
