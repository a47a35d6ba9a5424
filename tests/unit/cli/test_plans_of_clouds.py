"""Plans of clusters that each cloud makes: from nothing, with another pool, and deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from function import clouds
from function.cli import yaml_text
from function.main import main
from tests.support import cloud_samples
from tests.support.made_clusters import CLASSES, classes_of, made_cluster
from tests.support.samples import Object

CHANGED = 3
SOURCES = [source.name for source in clouds.PROVISIONED]
Planned = Callable[..., dict[str, Any]]


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    """Plans a cluster with the classes of its cloud, and a change of it. Returns what is made for it."""

    def plan(source: str, cluster: Object, change: Object | None = None) -> dict[str, Any]:
        classes = [CLASSES[name] for name in classes_of(source)]
        (tmp_path / "fleet.yaml").write_text(yaml_text.documents([*classes, cluster]))
        (tmp_path / "change.yaml").write_text(yaml_text.documents([change or cluster]))
        edit = ("--change", str(tmp_path / "change.yaml")) if change else ()
        got = CliRunner().invoke(main, ["plan", str(tmp_path / "fleet.yaml"), *edit, "-o", "json"])
        assert got.exit_code == CHANGED, got.output
        told = json.loads(got.stdout)
        assert told["troubles"] == []
        [made] = told["infrastructure"]
        assert isinstance(made, dict)
        return made

    return plan


def deleted(cluster: Object) -> Object:
    return {**cluster, "metadata": {**cluster["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}


def test_every_cloud_is_planned() -> None:
    assert {*SOURCES} == {*cloud_samples.SAMPLES} - {"Toy"}


@pytest.mark.parametrize("source", SOURCES)
def test_a_cluster_is_made_from_nothing(source: str, planned: Planned) -> None:
    made = planned(source, made_cluster(source, {}))

    assert (made["change"], made["ready"], made["pools"]) == ("new", True, ["p0"])
    assert made["inCloud"]["created"] == made["inCloud"]["total"] != {}
    assert made["kind"] == f"{source}Cluster"


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_another_pool_is_made_beside_what_is_there(source: str, planned: Planned) -> None:
    made = planned(source, made_cluster(source, {}), made_cluster(source, {}, {}))

    kinds = set(made["inCloud"]["created"])
    assert (made["change"], made["inCloud"]["deleted"], made["onCluster"]["deleted"]) == ("changed", {}, {})
    assert any("Pool" in kind or "NodeGroup" in kind for kind in kinds)
    assert made["pools"] == ["p0", "p1"]


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_a_cluster_that_is_deleted_leaves_nothing(source: str, planned: Planned) -> None:
    cluster = made_cluster(source, {})
    made, gone = planned(source, cluster), planned(source, cluster, deleted(cluster))

    assert gone["change"] == "gone"
    assert gone["inCloud"]["deleted"] == made["inCloud"]["created"]
    assert gone["inCloud"]["total"] == {}


def test_an_edit_that_the_api_server_refuses_names_its_file(tmp_path: Path) -> None:
    fleet, change = tmp_path / "fleet.yaml", tmp_path / "change.yaml"
    fleet.write_text(yaml_text.documents([CLASSES[classes_of("EKS")[0]], made_cluster("EKS", {})]))
    change.write_text("# Another region.\n" + yaml_text.documents([made_cluster("EKS", {}, region="us-east-2")]))

    got = CliRunner().invoke(main, ["plan", str(fleet), "--change", str(change)])
    problem = "spec.cluster.eks.region: a cluster keeps its region; make another InferenceCluster"
    assert (got.exit_code, got.stderr) == (1, f"Error: {change}:3:1: InferenceCluster made: {problem}\n")
