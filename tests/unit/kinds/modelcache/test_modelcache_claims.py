"""Claims that someone else made: which is whose, and what becomes of a mount when one cannot be seen."""

from __future__ import annotations

from typing import Any

import pytest

from function import registry
from function.core import Request, Result
from function.kinds.modelcache.keys import provided_key
from function.sandbox.settle import settle
from function.vocabulary import versions
from tests.support.samples import of

READY = {"name": "edge", "phase": "Ready", "claimName": "weights"}
MOUNTS = {
    "apiVersion": versions.MODELPLANE,
    "kind": "ModelReplica",
    "metadata": {"name": "chat", "namespace": "ml-team"},
    "spec": {"clusterName": "edge", "modelCacheRef": {"name": "sample"}},
}
LOST = {
    "type": "Synced",
    "status": "False",
    "message": "cannot get object: dial tcp 192.0.2.1:6443: connection refused",
}
MISSING = {"type": "Synced", "status": "False", "message": "external resource does not exist"}
SYNCED = {"type": "Synced", "status": "True"}


def cluster(name: str = "edge", **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "labels": labels},
        "status": {"providerConfigRef": {"name": f"{name}-config"}},
    }


def answer(
    *objects: dict[str, Any],
    claims: list[dict[str, Any]] | None = None,
    before: dict[str, Any] | None = None,
    synced: dict[str, Any] | None = None,
    remote: dict[str, Any] | None = None,
) -> Result:
    """The answer to a cache of claims, what it published, and what its Object on the cluster says."""
    source = {
        "source": "PersistentVolumeClaim",
        "persistentVolumeClaim": {"claims": claims or [{"claimName": "weights"}]},
    }
    xr = of("ModelCache", source)
    if before:
        xr["status"] = {"clusters": [before]}
    status = {"conditions": [synced], **({"atProvider": {"manifest": remote}} if remote else {})}
    observed = {provided_key("edge", "weights"): {"metadata": {"name": "o"}, "status": status}} if synced else {}
    return settle(registry.compose, Request(xr=xr, observed=observed), list(objects))


def told(result: Result) -> dict[str, tuple[str, str | None, str | None]]:
    return {s["name"]: (s["phase"], s.get("claimName"), s.get("message")) for s in result.status.get("clusters", ())}


def test_the_first_entry_that_selects_a_cluster_is_its_claim() -> None:
    claims = [
        {"clusterSelector": {"matchLabels": {"site": "a", "tier": "gold"}}, "claimName": "gold"},
        {"clusterSelector": {"matchLabels": {"site": "a"}}, "claimName": "a"},
        {"clusterSelector": {}, "claimName": "others", "subPath": "x"},
    ]
    fleet = [cluster("one", site="a", tier="gold"), cluster("two", site="a"), cluster("three", tier="gold")]

    keys = set(answer(*fleet, claims=claims).resources)

    assert keys == {
        provided_key("one", "gold"),
        provided_key("two", "a"),
        provided_key("three", "others"),
    }


BOUND = {"spec": {"accessModes": ["ReadWriteMany"]}, "status": {"phase": "Bound"}}


@pytest.mark.parametrize(
    ("before", "synced", "remote", "want"),
    [
        (None, SYNCED, BOUND, ("Ready", "weights", None)),
        (None, SYNCED, {"status": {"phase": "Pending"}}, ("Ready", "weights", None)),
        (None, LOST, None, ("Pending", None, "The cluster does not answer: connection refused")),
        (READY, LOST, BOUND, ("Ready", "weights", None)),
        (READY, SYNCED, None, ("Ready", "weights", None)),
        (READY, None, None, ("Ready", "weights", None)),
        (
            READY,
            SYNCED,
            {"status": {"phase": "Lost"}},
            ("Pending", "weights", "PersistentVolumeClaim ml-team/weights has lost its volume"),
        ),
        (
            READY,
            MISSING,
            BOUND,
            (
                "Pending",
                "weights",
                (
                    "PersistentVolumeClaim ml-team/weights does not exist on the cluster, or cannot be read there"
                    " (external resource does not exist)"
                ),
            ),
        ),
    ],
)
def test_a_claim_that_cannot_be_seen_keeps_its_mount(
    before: Any, synced: Any, remote: Any, want: tuple[str, str | None, str | None]
) -> None:
    assert told(answer(cluster(), MOUNTS, before=before, synced=synced, remote=remote)) == {"edge": want}


def test_a_claim_that_is_not_bound_yet_is_told() -> None:
    """It can be one that is bound for the first pod that mounts it."""
    remote = {"spec": {"accessModes": ["ReadOnlyMany"]}, "status": {"phase": "Pending"}}
    message = answer(cluster(), synced=SYNCED, remote=remote).conditions[-1].message

    assert message == "1 of 1 clusters have the weights; weights on edge is not bound to a volume yet"


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        ((MOUNTS, cluster("other")), {"edge": ("Pending", "weights", "The InferenceCluster no longer exists")}),
        ((cluster("other"),), {}),
    ],
)
def test_a_cluster_that_is_gone_stays_while_its_replica_does(objects: Any, want: dict[str, Any]) -> None:
    got = told(answer(*objects, before=READY, synced=SYNCED, remote=BOUND))

    assert {name: said for name, said in got.items() if name == "edge"} == want


def test_a_cluster_that_leaves_is_not_part_of_a_new_cache() -> None:
    leaving = cluster()
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert told(answer(leaving)) == {}


def test_a_cluster_that_cannot_be_reached_yet_is_waited_for() -> None:
    new = cluster()
    new["status"] = {}
    result = answer(new)

    assert (told(result), result.resources) == ({"edge": ("Pending", None, "The cluster cannot be reached yet")}, {})
    assert result.conditions[-1].reason == "WaitingForClaims"


def test_two_caches_of_one_claim_observe_it_by_two_objects() -> None:
    first, second = (
        settle(
            registry.compose,
            Request(
                xr=of(
                    "ModelCache",
                    {
                        "source": "PersistentVolumeClaim",
                        "persistentVolumeClaim": {"claims": [{"claimName": "weights"}]},
                    },
                    name=name,
                )
            ),
            [cluster()],
        )
        for name in ("one", "two")
    )

    names = {r.manifest["metadata"]["name"] for result in (first, second) for r in result.resources.values()}
    assert len(names) == 2
