"""Plans and what-ifs of clusters that a toy cloud makes show what it would make, change and delete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import trees

pytestmark = pytest.mark.slow
NOTHING, REFUSED, LOST, CHANGED = 0, 1, 2, 3


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = trees.SUPPORT / "toycloud/toy"
    tree: Path = trees.extended(tmp_path_factory.mktemp("tree"), "function/clouds", folder)
    return trees.told(tree, "tests.support.toycloud.planned")


def section(shown: dict[str, Any], title: str) -> list[str]:
    """The lines below a title, up to the next empty line."""
    text: str = shown["text"]
    return text.partition(f"{title}\n")[2].partition("\n\n")[0].splitlines()


def headline(shown: dict[str, Any]) -> str:
    return str(shown["text"]).splitlines()[0]


def test_a_plan_shows_what_would_be_made_by_kind(told: dict[str, Any]) -> None:
    first = told["first"]

    assert (first["code"], headline(first)) == (
        CHANGED,
        "3 of 3 replicas serve on 2 clusters; 3 new; in clouds 7 new.",
    )
    assert section(first, "Infrastructure")[1:] == [
        "  new  east     ToyCluster  1 Cluster, 1 Network, 2 Pools; on the cluster: 1 StorageClass",
        "  new  west     ToyCluster  1 Cluster, 1 Network, 1 Pool; on the cluster: 1 StorageClass",
    ]


def test_the_secret_that_a_given_provider_config_names_is_assumed(told: dict[str, Any]) -> None:
    shown = told["with credentials"]

    assert (headline(shown), section(shown, "Other problems")) == (headline(told["first"]), [])


def test_a_pool_that_is_removed_goes_once_its_replicas_have_moved(told: dict[str, Any]) -> None:
    removed = told["removed"]

    assert (removed["code"], headline(removed)) == (
        CHANGED,
        "3 of 3 replicas serve on 2 clusters; 2 moved, 1 kept; in clouds 1 gone.",
    )
    assert section(removed, "Infrastructure")[1:] == ["  gone  east     ToyCluster  1 Pool"]
    assert section(removed, "Removed pools") == [
        "  east: pool first is removed under 2 replicas; the cloud deletes it once they have moved"
    ]


def test_a_pool_whose_replicas_cannot_move_stays_and_they_serve(told: dict[str, Any]) -> None:
    stuck = told["stuck"]

    assert stuck["code"] == CHANGED
    assert section(stuck, "Removed pools") == [
        "  east: pool first is removed under 2 replicas, and stays in the cloud: 1 replica cannot move"
    ]
    assert "gone" not in " ".join(section(stuck, "Infrastructure"))
    assert headline(stuck).startswith("3 of 3 replicas serve on 2 clusters")


def test_a_pool_that_is_resized_is_changed(told: dict[str, Any]) -> None:
    assert told["resized"]["code"] == CHANGED
    assert section(told["resized"], "Infrastructure")[1] == "  changed  east     ToyCluster  1 Pool"


def test_a_cluster_that_is_deleted_is_gone_with_everything(told: dict[str, Any]) -> None:
    want = "  gone  west     ToyCluster  1 Cluster, 1 Network, 1 Pool; on the cluster: 1 StorageClass"
    assert want in section(told["deleted"], "Infrastructure")


def test_an_edit_that_the_cloud_cannot_do_is_an_error_and_changes_nothing(told: dict[str, Any]) -> None:
    impossible = told["impossible"]

    [why] = section(impossible, "Other problems")
    assert "InferenceCluster east: InvalidNodePool: spec.nodePools[1].minNodeCount: must be at least 1, not 0" in why
    assert impossible["code"] == REFUSED
    assert section(impossible, "Infrastructure") == []


def test_machines_get_the_counts_of_both_sides(told: dict[str, Any]) -> None:
    got = json.loads(told["removed as data"]["text"])

    [east] = got["infrastructure"]
    assert east["inCloud"] == {
        "total": {"Cluster": 1, "Network": 1, "Pool": 1},
        "created": {},
        "changed": {},
        "deleted": {"Pool": 1},
    }
    assert (east["change"], east["pools"]) == ("changed", ["second"])
    assert east["onCluster"]["total"] == {"StorageClass": 1}
    assert east["usages"] > 0
    assert got["removedPools"] == [{"cluster": "east", "pool": "first", "replicas": 2, "left": 0}]


def test_a_pool_that_stays_is_told_to_machines(told: dict[str, Any]) -> None:
    got = json.loads(told["stuck as data"]["text"])

    assert got["removedPools"] == [{"cluster": "east", "pool": "first", "replicas": 2, "left": 1}]
    assert got["infrastructure"][0]["pools"] == ["first", "second"]


def test_a_comment_has_only_what_changes(told: dict[str, Any]) -> None:
    text = told["as markdown"]["text"]

    assert "| gone | `east` | ToyCluster | 1 Pool |" in text
    assert "| east: pool first is removed under 2 replicas; the cloud deletes it once they have moved |" in text
    assert "west" not in text.partition("#### Infrastructure")[2].partition("<details>")[0]


def test_what_if_shows_what_clouds_change(told: dict[str, Any]) -> None:
    assert told["what if resized"]["code"] == CHANGED
    assert section(told["what if resized"], "Infrastructure")[1:] == ["  changed  east     ToyCluster  1 Pool"]
    assert "| changed | `east` | ToyCluster | 1 Pool |" in told["what if resized as markdown"]["text"]


def test_no_cloud_deletes_anything_for_a_cluster_that_is_lost(told: dict[str, Any]) -> None:
    assert headline(told["what if lost"]) == "lose west: 1 replica moves."
    assert section(told["what if lost"], "Infrastructure") == []


def test_each_cluster_can_be_lost_in_turn(told: dict[str, Any]) -> None:
    assert headline(told["what if any is lost"]) == "N-1 does not hold for 1 of 2 clusters: east."


def test_a_deployment_on_them_can_be_explained(told: dict[str, Any]) -> None:
    assert headline(told["explained"]) == "ModelDeployment/ml-team/m: 3 of 3 replicas are placed."


def test_a_dump_of_a_fleet_at_rest_makes_nothing_again(told: dict[str, Any]) -> None:
    """Although it has none of the managed resources."""
    dumped = told["dumped"]

    want = "3 of 3 replicas serve on 2 clusters; no replica changes."
    assert (dumped["code"], headline(dumped)) == (NOTHING, want)


def test_what_changed_is_read_like_everything(told: dict[str, Any]) -> None:
    assert told["reads alike"] == [True] * 4
