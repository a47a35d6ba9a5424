"""Pools whose nodes are shared, as the commands show them: devices instead of nodes, and what was tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from function.cli.shared_report import pods_that_fit
from function.main import main

EXAMPLES = Path(__file__).parents[3] / "examples"
SHARED, FRAGMENTED = str(EXAMPLES / "shared-nodes"), str(EXAMPLES / "fragmented")
LARGE = "ModelDeployment/chat/qwen3-235b"
FULL = {"name": "gpu", "total": 8, "free": 0, "guaranteed": [{"count": n, "pods": 0} for n in (8, 4, 2, 1)]}


def run(*arguments: str) -> str:
    return CliRunner().invoke(main, list(arguments)).stdout


def data(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "-o", "json"))
    return found


def guaranteed(*pods: int) -> list[dict[str, int]]:
    return [{"count": n, "pods": fit} for n, fit in zip((8, 4, 2, 1), pods, strict=True)]


def test_a_plan_shows_free_devices_and_the_pods_that_fit() -> None:
    shown = run("plan", FRAGMENTED)

    assert "lab      h100  8 NVIDIA H100 80GB HBM3  2      14 of 16 gpu" in shown
    assert "lab      h100  gpu     14 of 16  0 with 8, 2 with 4, 6 with 2, 14 with 1" in shown


def test_a_plan_has_the_devices_for_machines() -> None:
    [pool] = data("plan", SHARED)["pools"]

    assert (pool["nodes"], pool["free"], pool["shared"]) == (1, 0, [FULL])


@pytest.mark.slow
def test_a_pool_of_whole_nodes_has_none() -> None:
    plan = data("plan", str(EXAMPLES / "spare"))

    assert [sorted(pool) for pool in plan["pools"]] == [["cluster", "devices", "free", "name", "nodes"]] * 3
    assert "Shared nodes" not in run("plan", str(EXAMPLES / "spare"))


def test_a_node_more_places_what_was_fragmented() -> None:
    impact = data("what-if", FRAGMENTED, "--pool", "lab/h100=3")

    [pool] = impact["pools"]
    assert [(m["change"], m["deployment"]) for m in impact["replicas"]] == [("new", "qwen3-235b")]
    assert pool["before"]["shared"][0] | {"name": ""} == {
        "name": "",
        "total": 16,
        "free": 14,
        "guaranteed": guaranteed(0, 2, 6, 14),
    }
    assert (pool["after"]["nodes"], pool["after"]["shared"][0]["free"]) == (3, 14)


def test_more_replicas_than_devices_fall_short() -> None:
    impact = data("what-if", SHARED, "--scale", "chat/qwen3-8b=2")

    [short] = impact["short"]
    assert (short["name"], short["serving"]) == ("qwen3-8b", {"before": 1, "after": 1})
    assert [rejection["reason"] for rejection in short["rejections"]] == ["Full"]
    assert impact["pools"] == []


@pytest.mark.slow
def test_a_shared_node_that_is_lost_takes_all_of_its_models_along() -> None:
    impact = data("what-if", SHARED, "--lose", "lab")

    assert {move["change"] for move in impact["replicas"]} == {"lost"}
    assert (len(impact["replicas"]), impact["exitCode"]) == (8, 2)


def test_a_fragmented_pool_is_explained_with_changes_that_were_tried() -> None:
    [cluster] = data("explain", FRAGMENTED, LARGE)["clusters"]

    [pool] = cluster["pools"]
    assert cluster["reason"] == "Fragmented"
    assert pool["devices"] == [{"name": "gpu", "total": 16, "free": 14, "guaranteed": guaranteed(0, 2, 6, 14)}]
    assert [(remedy["changes"], remedy["helps"]) for remedy in cluster["remedies"]] == [
        (["add 1 node to pool h100"], True),
        (["add a pool of 1 node with the class of pool h100, whose nodes are not shared"], True),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nodeCount: 2, sharing: Devices}", "nodeCount: 3, sharing: Devices}"),
        ("sharing: Devices}", "sharing: Devices}\n  - {name: apart, className: h100-8x, nodeCount: 1}"),
    ],
    ids=["a node more", "a pool apart"],
)
def test_each_change_that_was_tried_places_the_replica(tmp_path: Path, old: str, new: str) -> None:
    for file in Path(FRAGMENTED).glob("*.yaml"):
        (tmp_path / file.name).write_text(file.read_text().replace(old, new))

    assert f"{LARGE}: 1 of 1 replicas are placed." in run("explain", str(tmp_path), LARGE)


def test_where_it_is_not_known_what_fits_it_is_said() -> None:
    assert pods_that_fit([]) == "not known"
