"""`modelplane top`: a fleet at a glance, from statuses as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from function.cli import top_report, yaml_text
from function.core import plain
from function.main import main
from function.planning.overview import Why
from tests.support import live_fleets
from tests.support.api_server_standin import ApiServer, serving

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
WAITING = "support/mistral-7b"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    file = tmp_path / "dump.yaml"
    file.write_text(yaml_text.documents([{"apiVersion": "v1", "kind": "List", "items": objects()}]))
    return file


def objects() -> list[dict[str, Any]]:
    """What a dump of our kinds has: the other objects are large, and nothing of them is shown."""
    ours = [m for m in live_fleets.settled("tour") if m["apiVersion"].partition("/")[0].endswith("modelplane.ai")]
    return list(plain(ours))


def top(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["top", *map(str, arguments)])


def section(got: Result, title: str) -> list[list[str]]:
    """The rows of a table, as words."""
    _, _, below = got.stdout.partition(f"\n{title}\n")
    return [line.split() for line in below.split("\n\n")[0].splitlines()[1:]]


def changed(tmp_path: Path, kind: str, name: str, **status: Any) -> Path:
    """A dump in which an object has another status."""
    found = objects()
    one = next(one for one in found if (one["kind"], one["metadata"]["name"]) == (kind, name))
    one["status"] = {**one["status"], **status}
    file = tmp_path / "changed.yaml"
    file.write_text(yaml_text.documents(found))
    return file


def false(type_: str, reason: str, message: str) -> dict[str, str]:
    return {"type": type_, "status": "False", "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-01T03:04:05Z"}  # fmt: skip


def test_a_fleet_is_shown_with_who_waits_and_the_capacity(dump: Path) -> None:
    got = top(dump)

    assert got.exit_code == 0
    assert got.stdout.splitlines()[0] == (
        "5 of 6 replicas serve; 3 of 3 clusters are ready; 1 of 7 nodes are free; 1 deployment waits."
    )
    assert [row[:3] for row in section(got, "Waiting")] == [[WAITING, "0/1", "0/1"]]
    assert "InsufficientCapacity: 0 of 1 replicas are placed; 3 clusters: 1 full" in got.stdout
    assert section(got, "Clusters") == [
        ["europe", "europe-west", "yes", "3", "0", "a100", "0/3"],
        ["starter", "us-central", "yes", "2", "0", "l4", "0/2"],
        ["virginia", "us-east", "yes", "2", "1", "a100", "1/2"],
    ]


def test_what_is_degraded_is_shown_with_its_reason(tmp_path: Path) -> None:
    why = {"reason": "Unreachable", "message": "no route to host"}
    conditions = [false("ClusterReady", **why)]
    got = top(changed(tmp_path, "InferenceCluster", "virginia", serving=False, conditions=conditions, **why))

    assert "2 of 3 clusters are ready" in got.stdout
    assert [row[:2] for row in section(got, "Degraded")] == [["InferenceCluster", "virginia"]]
    assert "Unreachable: no route to host" in got.stdout
    assert section(got, "Clusters")[-1][-1] == "Unreachable"


def test_statuses_are_shown_as_they_are_and_nothing_is_settled(tmp_path: Path) -> None:
    """The cluster says that it has no room, whatever its replicas take."""
    got = top(changed(tmp_path, "InferenceCluster", "virginia", allocations=[{"pool": "a100", "nodes": 2, "free": 2}]))

    assert section(got, "Clusters")[-1][3:5] == ["2", "2"]


def test_a_replica_that_does_not_serve_is_counted_as_such(tmp_path: Path) -> None:
    name = next(one["metadata"]["name"] for one in objects() if one["kind"] == "ModelReplica"
                and one["metadata"]["name"].startswith("qwen3-8b"))  # fmt: skip
    got = top(changed(tmp_path, "ModelReplica", name, serving=False))

    assert ["ml-team/qwen3-8b", "1/1", "0/1"] in [row[:3] for row in section(got, "Waiting")]


@pytest.mark.parametrize("kind", ["InferenceCluster", "ModelDeployment"])
def test_what_has_just_been_written_is_listed_as_such(tmp_path: Path, kind: str) -> None:
    found = objects()
    next(one for one in found if one["kind"] == kind).pop("status")
    file = tmp_path / "new.yaml"
    file.write_text(yaml_text.documents([one for one in found if one["kind"] != "ModelReplica"]))

    got = top(file)

    assert got.exit_code == 0
    assert "it has not been reconciled yet" in got.stdout


@pytest.mark.parametrize(
    ("order", "want"),
    [("name", ["europe", "starter", "virginia"]), ("free", ["virginia", "europe", "starter"]),
     ("ready", ["starter", "europe", "virginia"])],
)  # fmt: skip
def test_clusters_are_sorted(tmp_path: Path, order: str, want: list[str]) -> None:
    file = changed(tmp_path, "InferenceCluster", "starter", serving=False)

    assert [row[0] for row in section(top(file, "--sort", order), "Clusters")] == want


def test_one_namespace_is_shown_with_all_clusters(dump: Path) -> None:
    got = top(dump, "-n", "ml-team")

    assert "Waiting" not in got.stdout
    assert len(section(got, "Clusters")) == 3


def test_a_namespace_with_nothing_in_it_is_noted_with_the_nearest(dump: Path) -> None:
    got = top(dump, "-n", "ml-taem")

    assert (got.exit_code, got.stderr) == (
        0,
        "no object of Modelplane is in namespace ml-taem; did you mean ml-team?\n",
    )


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_programs_get_times_and_numbers(dump: Path, form: str) -> None:
    import yaml

    got = yaml.safe_load(top(dump, "-o", form).stdout)

    assert [(one["namespace"], one["name"], one["wanted"], one["serving"]) for one in got["waiting"]] == [
        ("support", "mistral-7b", 1, 0)
    ]
    assert got["waiting"][0]["why"]["since"] == "2024-01-01T00:00:00Z"
    assert got["clusters"][0]["pools"][0]["devices"] == "8 NVIDIA A100-SXM4-40GB"


def many(count: int) -> list[dict[str, Any]]:
    cluster = next(one for one in objects() if one["metadata"]["name"] == "virginia")
    return [plain({**cluster, "metadata": {**cluster["metadata"], "name": f"c{n:04}"}}) for n in range(count)]


def test_many_clusters_are_counted_by_region(tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": many(30)}))

    assert section(top(file), "Clusters by region") == [["us-east", "30", "30", "60", "30"]]
    assert len(section(top(file, "-o", "wide"), "Clusters")) == 30


def test_manifests_without_statuses_are_an_error_that_names_the_command_for_them() -> None:
    got = top(live_fleets.EXAMPLES / "tour")

    assert got.exit_code == 1
    assert "no object has a status" in got.stderr
    assert "modelplane plan" in got.stderr


def test_a_broken_file_is_an_error_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("apiVersion: modelplane.ai/v1alpha1\nkind: [\n")

    got = top(file)

    assert got.exit_code == 1
    assert f"{file}:" in got.stderr


# Live


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with serving(ApiServer()) as server:
        yield live_fleets.serve(server, objects())


def live(api: ApiServer, tmp_path: Path, *arguments: str) -> Result:
    return top("--kubeconfig", api.kubeconfig(tmp_path / "config"), *arguments)


def test_a_live_fleet_looks_like_its_dump(api: ApiServer, tmp_path: Path, dump: Path) -> None:
    got = live(api, tmp_path)

    assert (got.exit_code, got.stdout) == (0, top(dump).stdout)
    assert {method for method, _, _ in api.requests} == {"GET"}
    assert {path for _, path, _ in api.requests} == {*live_fleets.PATHS.values()}


def test_one_namespace_needs_no_right_to_the_others(api: ApiServer, tmp_path: Path) -> None:
    live(api, tmp_path, "-n", "ml-team")

    paths = {path for _, path, _ in api.requests}
    assert "/apis/modelplane.ai/v1alpha1/namespaces/ml-team/modelreplicas" in paths
    assert "/apis/modelplane.ai/v1alpha1/modelreplicas" not in paths
    assert "/apis/modelplane.ai/v1alpha1/inferenceclusters" in paths


def test_what_may_not_be_read_is_named_and_the_rest_is_shown(api: ApiServer, tmp_path: Path) -> None:
    api.refuses["/apis/modelplane.ai/v1alpha1/modelreplicas"] = 403

    got = live(api, tmp_path)

    assert got.exit_code == 0
    assert got.stdout.startswith("5 of 6 replicas serve")  # as the deployments say
    assert "may not list modelreplicas (modelplane.ai) cluster-wide" in got.stderr


def test_the_remedy_for_one_namespace_is_a_role_binding(api: ApiServer, tmp_path: Path) -> None:
    api.refuses["/apis/modelplane.ai/v1alpha1/modelreplicas"] = 403

    got = live(api, tmp_path, "-n", "ml-team")

    assert "kubectl create rolebinding modelplane-viewer-user -n ml-team --clusterrole=modelplane-viewer" in got.stderr


def test_a_fleet_of_which_nothing_may_be_read_is_an_error(api: ApiServer, tmp_path: Path) -> None:
    api.refuses.update(dict.fromkeys(api.objects, 403))

    got = live(api, tmp_path)

    assert (got.exit_code, got.stdout) == (1, "")
    assert "no kind of it may be read" in got.stderr


def test_files_and_a_cluster_cannot_be_combined(dump: Path) -> None:
    assert top(dump, "--context", "prod").exit_code == 2


AGES = {"2026-01-02T03:04:05Z": "0s", "2026-01-02T03:03:00Z": "1m", "2026-01-01T03:04:04Z": "1d",
        "2027-01-01T00:00:00Z": "0s", "": "", "yesterday": "", "2026-01-02T00:04:05": "3h"}  # fmt: skip


@pytest.mark.parametrize("since", AGES)
def test_an_age_is_told_in_its_largest_unit(since: str) -> None:
    assert top_report.age(Why("", "", since), NOW) == AGES[since]
