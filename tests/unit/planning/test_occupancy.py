"""The fleet in full: regions, pools, who takes them, and what is observed of their nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from function.cli.files import parse
from function.planning import occupancy, stubs
from function.planning.control_plane import ControlPlane
from function.vocabulary import labels, names
from function.vocabulary.observation import OBSERVED_KEY
from tests.support import observations

EXAMPLES = Path(__file__).parents[3] / "examples"


def read(*objects: Any) -> dict[str, Any]:
    control = ControlPlane()
    control.loop.load([*objects, *stubs.objects(list(objects))])
    control.loop.settle()
    return {cluster["name"]: cluster for cluster in occupancy.data(control.store)["clusters"]}


def example(*folders: str) -> list[Any]:
    files = [file for folder in folders for file in sorted((EXAMPLES / folder).glob("*.yaml"))]
    return [one.manifest for file in files for one in parse(file.read_text(), file.name)]


def test_a_gang_and_a_replica_that_claims_half_a_node_take_whole_nodes() -> None:
    [pool] = read(*example("tour"))["europe"]["pools"]

    assert (pool["nodes"], pool["free"], pool["slots"], pool["sharing"]) == (3, 0, 8, "Nodes")
    assert sorted((o["deployment"], o["pods"], o["devices"], o["serving"]) for o in pool["occupants"]) == [
        ("qwen3-235b", 1, 8, True),
        ("qwen3-235b", 1, 8, True),
        ("qwen3-32b", 1, 4, True),
    ]


@pytest.mark.parametrize(
    ("cluster", "want"),
    [
        ({"metadata": {"labels": {"modelplane.ai/region": "eu", "topology.kubernetes.io/region": "us"}}}, "eu"),
        ({"metadata": {"labels": {"topology.kubernetes.io/region": "us"}}}, "us"),
        ({"spec": {"cluster": {"source": "EKS", "eks": {"region": "us-east-1"}}}}, "us-east-1"),
        ({"spec": {"cluster": {"source": "AKS", "aks": {"location": "westeurope"}}}}, "westeurope"),
        ({"spec": {"cluster": {"source": "Existing", "existing": {}}}}, ""),
        ({}, ""),
    ],
)
def test_a_region_comes_from_a_label_or_from_the_cloud(cluster: Any, want: str) -> None:
    assert occupancy.region(cluster) == want


def test_a_cluster_that_publishes_nothing_yet_has_the_pools_that_it_declares() -> None:
    control = ControlPlane()
    control.loop.load(example("spare"))
    [first, *_] = occupancy.data(control.store)["clusters"]

    assert [(p["name"], p["nodes"], p["published"]) for p in first["pools"]] == [("l4", 2, False)]


def observed(*records: Any, **fields: Any) -> dict[str, Any]:
    """The pool of cluster iowa, of which an observer reports some nodes."""
    fleet = [one for one in example("spare") if one["kind"] in ("InferenceClass", "InferenceCluster")]
    for one in fleet:
        if one["metadata"]["name"] == "iowa":
            one["spec"]["capacity"] = {"source": "Observed"}
    told = observations.observation("iowa", pools={"l4": observations.pool(*records, **fields)})
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": names.observed("iowa"),
            "namespace": names.SYSTEM_NAMESPACE,
            "labels": {labels.OBSERVATION: labels.OBSERVED},
        },
        "data": {OBSERVED_KEY: json.dumps(told)},
    }
    found: dict[str, Any] = read(*fleet, config_map)["iowa"]
    return found


def test_nodes_that_are_observed_have_names_states_and_what_others_hold() -> None:
    one = {"devices": {"gpu": 1}}
    got = observed(
        observations.nodes("a", state="Cordoned", **one),
        observations.nodes("b", foreign={"gpu": 1}, **one),
    )

    shown = [
        {key: group[key] for key in ("names", "state", "count", "devices", "foreign")}
        for group in got["pools"][0]["observed"]["groups"]
    ]
    assert got["capacity"] == "Observed"
    assert shown == [
        {"names": ("a",), "state": "Cordoned", "count": 1, "devices": 1, "foreign": 0},
        {"names": ("b",), "state": "Ready", "count": 1, "devices": 1, "foreign": 1},
    ]


def test_an_autoscaler_without_stock_is_told() -> None:
    got = observed(observations.nodes("a", devices={"gpu": 1}), outOfStock="no capacity in zone b")

    assert got["pools"][0]["observed"]["outOfStock"] is True


def test_an_observation_that_does_not_count_is_stale() -> None:
    [cluster, *rest] = [one for one in example("spare") if one["kind"] == "InferenceCluster"]
    capacity = {"source": "Observed", "object": "iowa-observation", "stale": True}
    control = ControlPlane()
    control.loop.load([{**cluster, "status": {"capacity": capacity}}, *rest])
    [got, *others] = occupancy.data(control.store)["clusters"]

    assert (got["capacity"], got["pools"][0]["observed"]) == ("Stale", None)
    assert {one["capacity"] for one in others} == {"Declared"}
