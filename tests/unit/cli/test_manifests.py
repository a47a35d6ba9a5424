"""`modelplane manifests`: what each object becomes on each cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from function.main import main
from function.vocabulary import versions

EXAMPLES = Path(__file__).parents[3] / "examples"
TOUR = str(EXAMPLES / "tour")
SMALL = tuple(str(EXAMPLES / "tour" / name) for name in ("classes.yaml", "clusters.yaml", "deployment.yaml"))
OK, ERROR, WRONG_OPTION = 0, 1, 2


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["manifests", *arguments])


def documents(*arguments: str) -> list[dict[str, Any]]:
    got = run(*arguments)
    assert got.exit_code == OK, got.output
    return list(yaml.safe_load_all(got.stdout))


def data(*arguments: str) -> list[dict[str, Any]]:
    found = json.loads(run(*arguments, "-o", "json").stdout)["clusters"]
    assert isinstance(found, list)
    return found


def test_a_deployment_becomes_its_workload_on_its_cluster() -> None:
    got = documents(*SMALL, "--of", "ModelDeployment/ml-team/qwen3-8b", "--cluster", "starter")

    kinds = sorted(one["kind"] for one in got)
    assert kinds == ["Deployment", "HTTPRoute", "Namespace", "ResourceClaimTemplate", "Service"]
    (workload,) = [one for one in got if one["kind"] == "Deployment"]
    assert ("status" in workload, workload["metadata"]["namespace"]) == (False, "ml-team")


def test_each_cluster_and_composite_has_a_heading() -> None:
    got = run(*SMALL)

    headings = [line for line in got.stdout.splitlines() if line.startswith("# ")]
    clusters = ["# InferenceCluster europe", "# InferenceCluster starter", "# InferenceCluster virginia"]
    assert {*clusters, "# The control cluster"} <= {*headings}
    assert "# ModelDeployment ml-team/qwen3-8b: ModelReplica qwen3-8b-84fee53c" in headings


@pytest.mark.slow
def test_both_formats_have_the_same_manifests() -> None:
    listed = [one["manifest"] for cluster in data(*SMALL) for one in cluster["manifests"]]

    assert listed == documents(*SMALL)
    assert [cluster["cluster"] for cluster in data(*SMALL)] == ["europe", "starter", "virginia", None]


@pytest.mark.slow
def test_nothing_of_ours_and_no_usage_is_a_manifest() -> None:
    found = {one["apiVersion"].partition("/")[0] for one in documents(*SMALL)}

    assert not found & {versions.MODELPLANE.partition("/")[0], versions.PROTECTION.partition("/")[0]}


def test_a_namespace_has_what_its_objects_become() -> None:
    found = data(TOUR, "--namespace", "search")

    assert {one["of"]["name"] for cluster in found for one in cluster["manifests"]} == {"gemma-3-12b"}


@pytest.mark.slow
def test_a_made_up_address_is_known_after_apply() -> None:
    got = run(TOUR).stdout

    assert ("198.18." in got, "198.19." in got, "(known after apply)" in got) == (False, False, True)


@pytest.mark.parametrize(
    ("options", "code", "want"),
    [
        (("--cluster", "starte"), ERROR, "InferenceCluster starte not found; did you mean starter?"),
        (("--of", "md/ml-team/qwen3"), ERROR, "ModelDeployment ml-team/qwen3 not found; did you mean"),
        (("--of", "InferenceCluster/starte"), ERROR, "InferenceCluster starte not found; did you mean starter?"),
        (("--namespace", "ml-tea"), ERROR, "namespace ml-tea not found; did you mean ml-team?"),
        (("--of", "Deployment/a/b"), WRONG_OPTION, "use KIND/NAMESPACE/NAME"),
        (("--of", "md"), WRONG_OPTION, "use KIND/NAMESPACE/NAME"),
        (("--force",), WRONG_OPTION, "--force needs --to"),
    ],
)
def test_a_wrong_name_is_an_error(options: tuple[str, ...], code: int, want: str) -> None:
    got = run(*SMALL, *options)

    assert (got.exit_code, want in got.stderr, got.stdout) == (code, True, ""), got.stderr


@pytest.mark.slow
def test_a_folder_gets_a_file_for_each_cluster(tmp_path: Path) -> None:
    got = run(*SMALL, "--to", str(tmp_path / "new/folder"))

    files = sorted(path.name for path in (tmp_path / "new/folder").iterdir())
    assert (got.exit_code, files) == (OK, ["_control-cluster.yaml", "europe.yaml", "starter.yaml", "virginia.yaml"])
    found = [
        one for name in sorted(files[1:]) for one in yaml.safe_load_all((tmp_path / "new/folder" / name).read_text())
    ]
    assert found == [one["manifest"] for cluster in data(*SMALL)[:3] for one in cluster["manifests"]]


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "starter.yaml").write_text("mine")

    got = run(*SMALL, "--to", str(tmp_path))

    assert (got.exit_code, [path.name for path in tmp_path.iterdir()]) == (ERROR, ["starter.yaml"])
    assert ((tmp_path / "starter.yaml").read_text(), "--force" in got.stderr) == ("mine", True)


def test_force_replaces_a_link_and_does_not_follow_it(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside.yaml", tmp_path / "folder"
    outside.write_text("mine")
    folder.mkdir()
    (folder / "starter.yaml").symlink_to(outside)

    got = run(*SMALL, "--to", str(folder), "--force")

    assert (got.exit_code, outside.read_text(), (folder / "starter.yaml").is_symlink()) == (OK, "mine", False)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")

    got = run(*SMALL, "--to", str(tmp_path / "file"))

    assert (got.exit_code, "is not a folder" in got.stderr) == (ERROR, True)
