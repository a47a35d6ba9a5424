"""What a ModelCache looks up, in which stage, and what it takes for granted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from function import registry
from function.core import Manifest, Request, Requirement, Result, dig
from function.kinds.modelcache.keys import USAGE, claim_key, clusters_of
from function.sandbox.settle import resolve, settle, settle_with
from function.vocabulary import labels, names, versions
from tests.support.cases import ROOT, load

EXCLUDED, RELABELLED, INVALID, SWITCHED = (
    load(ROOT / "modelcache" / name)
    for name in (
        "an-edit-waits-for-who-mounts",
        "a-relabelled-cluster-keeps-the-weights",
        "an-invalid-spec-lets-go-when-nobody-mounts",
        "a-volume-of-an-earlier-source-goes",
    )
)
"""Caches named qwen, with weights on cluster edge. In EXCLUDED, a replica there mounts them."""
USAGE_OF_CACHE = {
    "apiVersion": "protection.crossplane.io/v1beta1",
    "kind": "Usage",
    "metadata": {"name": "qwen-usage", "namespace": "ml-team"},
    "spec": {},
}


def stages(request: Request, objects: list[Manifest]) -> list[list[str]]:
    """The names of what is looked up after each call of a first reconcile."""
    calls: list[tuple[Requirement, ...]] = []

    def compose(called: Request) -> Result:
        result = registry.compose(called)
        calls.append(result.requirements)
        return result

    settle(compose, request, objects)
    return [[r.name for r in asked] for asked in dict.fromkeys(map(_hashable, calls))]


def _hashable(asked: tuple[Requirement, ...]) -> tuple[Requirement, ...]:
    """Requirements without their labels, which cannot be hashed."""
    return tuple(replace(r, match_labels=()) for r in asked)  # type: ignore[arg-type]


def asked(request: Request, objects: list[Manifest]) -> dict[str, Requirement]:
    return {r.name: r for r in settle(registry.compose, request, objects).requirements}


def replica(label: str | None, cache: str | None, on: str = "edge", name: str = "chat-1") -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelReplica",
        "metadata": {
            "name": name,
            "namespace": "ml-team",
            **({"labels": {labels.MODELCACHE: label}} if label else {}),
        },
        "spec": {"clusterName": on, **({"modelCacheRef": {"name": cache}} if cache else {})},
    }


def clusters(objects: list[Manifest]) -> list[Manifest]:
    return [m for m in objects if m["kind"] == "InferenceCluster"]


def guarded(request: Request) -> Request:
    return replace(request, observed={**request.observed, USAGE: USAGE_OF_CACHE})


# Stages


def test_a_cache_in_use_reads_its_own_replicas_and_the_clusters_by_its_selector() -> None:
    request, objects = EXCLUDED
    found = asked(request, objects)

    assert found["clusters"].match_labels == {"tier": "big"}
    assert found["replicas"].match_labels == {labels.MODELCACHE: "qwen"}
    assert found["replicas"].namespace == "ml-team"
    assert stages(request, objects) == [["clusters", "replicas"], ["clusters", "cluster-edge", "replicas"]]


def test_without_a_selector_all_clusters_are_read_and_none_by_name() -> None:
    request, objects = EXCLUDED
    everywhere = {key: value for key, value in request.xr["spec"].items() if key != "clusterSelector"}

    found = asked(replace(request, xr={**request.xr, "spec": everywhere}), objects)

    assert found["clusters"].match_labels == {}
    assert found.keys() == {"clusters", "replicas"}


def test_before_weights_go_all_replicas_of_the_namespace_are_read() -> None:
    request, objects = EXCLUDED

    found = asked(request, clusters(objects))

    assert found["all-replicas"] == Requirement(
        "all-replicas", versions.MODELPLANE, "ModelReplica", namespace="ml-team"
    )
    assert stages(request, clusters(objects))[-1] == ["clusters", "cluster-edge", "replicas", "all-replicas"]


def test_a_usage_is_let_go_by_all_replicas_of_the_namespace_whatever_the_spec_says() -> None:
    request, objects = INVALID

    assert stages(request, objects) == [["replicas"], ["replicas", "all-replicas"]]


def test_other_clusters_are_read_only_if_none_of_its_own_is_left() -> None:
    request, objects = RELABELLED
    [edge] = clusters(objects)
    other = {**edge, "metadata": {"name": "other", "labels": {}}}

    assert stages(request, [other]) == [
        ["clusters", "replicas"],
        ["clusters", "cluster-edge", "replicas"],
        ["clusters", "cluster-edge", "all-clusters", "replicas"],
        ["clusters", "cluster-edge", "all-clusters", "replicas", "all-replicas"],
    ]
    result = settle(registry.compose, request, [other])
    assert dig(result.resources[claim_key("edge")].manifest, "metadata", "annotations", labels.FOUND_NOTHING) == (
        "clusters,replicas"
    )


def test_a_fleet_without_clusters_changes_nothing() -> None:
    request, _ = RELABELLED
    result = settle(registry.compose, request, [])

    assert result.resources.keys() == request.observed.keys()
    assert result.conditions[0].message == "There is no InferenceCluster; what is staged is kept"


def test_what_is_composed_and_what_is_stated_names_clusters() -> None:
    """Each on its own: a status may not have been written, and what is mounted may be all that is left."""
    request, objects = EXCLUDED
    unstated = replace(request, xr={key: value for key, value in request.xr.items() if key != "status"})

    for either in (unstated, replace(request, observed={})):
        assert "cluster-edge" in asked(either, objects)


@pytest.mark.parametrize("stated", [7, "edge", [7], [{}], [{"name": 7}], [{"name": ""}]])
def test_a_status_of_another_shape_names_no_cluster(stated: Any) -> None:
    request, objects = EXCLUDED
    xr = {**request.xr, "status": {"clusters": stated}}

    assert asked(replace(request, xr=xr, observed={}), objects).keys() == {"clusters", "replicas"}


def test_every_key_but_that_of_the_usage_names_its_cluster() -> None:
    hashed = names.content_hash("x")
    keys = ("namespace-a", "claim-b-c", f"job-claim-d-{hashed}", f"token-e-{hashed}", f"provided-f.g-{hashed}", USAGE)

    assert clusters_of(Request(xr={}, observed={key: {} for key in keys})) == {"a", "b-c", "claim-d", "e", "f.g"}


# What replicas prove


@pytest.mark.parametrize(
    ("label", "cache", "stays"),
    [
        ("qwen", "qwen", True),
        (None, "qwen", True),
        ("others", "qwen", True),
        ("qwen", "others", False),
        ("qwen", None, False),
        (None, None, False),
    ],
)
def test_weights_stay_where_a_spec_names_the_cache_whatever_the_label_is(
    label: str | None, cache: str | None, stays: bool
) -> None:
    request, objects = EXCLUDED

    result = settle(registry.compose, guarded(request), [*clusters(objects), replica(label, cache)])

    assert (claim_key("edge") in result.resources, USAGE in result.resources) == (stays, stays)


def test_the_volume_of_an_earlier_source_stays_where_a_replica_without_the_label_mounts_it() -> None:
    request, objects = SWITCHED
    volume = claim_key("edge")

    unused, used = (
        settle(registry.compose, request, [*objects, *more]) for more in ([], [replica(None, "qwen", on="edge")])
    )

    assert volume in request.observed
    assert (volume in unused.resources, volume in used.resources) == (False, True)


def test_a_replica_elsewhere_proves_nothing_for_a_cluster() -> None:
    request, objects = EXCLUDED
    labelled, plain = replica("qwen", "qwen", on="big"), replica(None, "qwen", name="chat-2")

    alone = settle(registry.compose, request, [*clusters(objects), labelled])
    both = settle(registry.compose, request, [*clusters(objects), labelled, plain])

    assert claim_key("edge") not in alone.resources
    assert claim_key("edge") in both.resources


def test_without_a_usage_a_replica_without_the_label_brings_none_about() -> None:
    """It is labelled by its deployment's next reconcile."""
    request, objects = RELABELLED

    unlabelled, labelled = (
        settle(registry.compose, request, [*objects, replica(label, "qwen")]) for label in (None, "qwen")
    )

    assert (USAGE in unlabelled.resources, USAGE in labelled.resources) == (False, True)


# Look-ups that are wrong


def test_a_look_up_of_all_replicas_that_lacks_a_labelled_one_is_out_of_date() -> None:
    """The weights are kept, without a note: the next look-up may be believed. Crossplane asks again soon."""
    request, objects = EXCLUDED
    there = [*clusters(objects), replica("qwen", "qwen", on="big")]

    def find(wanted: tuple[Requirement, ...]) -> dict[str, tuple[Manifest, ...]]:
        return {**resolve(wanted, there), "all-replicas": ()}

    result = settle_with(registry.compose, request, find)

    assert dig(result.resources[claim_key("edge")].manifest, "metadata", "annotations", labels.FOUND_NOTHING) is None
    assert result.waiting


@pytest.mark.parametrize("emptied", ["clusters", "cluster-edge"])
def test_a_cluster_that_one_of_two_look_ups_finds_exists(emptied: str) -> None:
    request, objects = RELABELLED
    [edge] = clusters(objects)
    labelled = {**edge, "metadata": {"name": "edge", "labels": {"tier": "gpu"}}}

    def find(wanted: tuple[Requirement, ...]) -> dict[str, tuple[Manifest, ...]]:
        return {name: () if name == emptied else found for name, found in resolve(wanted, [labelled]).items()}

    result = settle_with(registry.compose, request, find)

    assert result.ready
    assert dig(result.resources[claim_key("edge")].manifest, "metadata", "annotations", labels.FOUND_NOTHING) is None


def test_answers_of_an_earlier_reconcile_decide_nothing() -> None:
    """A replica without the label, known from an earlier look-up of all, brings no Usage about either."""
    request, objects = RELABELLED
    world = [*objects, replica(None, "qwen")]
    everything = {"all-replicas": tuple(world[-1:]), "all-clusters": tuple(clusters(world))}
    alone = settle(registry.compose, request, world)

    with_more = registry.compose(replace(request, required={**resolve(alone.requirements, world), **everything}))

    assert with_more == alone
