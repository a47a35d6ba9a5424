"""Edits that a condition refuses are errors of `plan`; what was refused before, and is not edited, is a problem."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from function.cli import files, refused
from function.main import main
from function.planning.refusals import Refusal
from function.sandbox.store import Ref

EXAMPLES = Path(__file__).parents[3] / "examples"
FLEET, RUNNING, TYPO = (EXAMPLES / f"bad-edit/{name}.yaml" for name in ("fleet", "running", "deployment"))
NOTHING, ERROR, LOST, CHANGED = 0, 1, 2, 3
FIELD = "spec.engines[0].members[0].nodeSelector.devices[0].selectors[0].cel"


def plan(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, arguments)])


def sound(tmp_path: Path) -> Path:
    """The deployment before its edit."""
    file = tmp_path / "deployment.yaml"
    file.write_text(TYPO.read_text().replace('"22Gi") >= 0', '"20Gi")) >= 0'))
    return file


def copy(file: Path, tmp_path: Path, old: str, new: str) -> Path:
    text = file.read_text()
    assert old in text
    target = tmp_path / f"edited-{file.name}"
    target.write_text(text.replace(old, new))
    return target


@pytest.mark.parametrize("option", ["--change", "--to", "first"])
def test_a_refused_edit_is_an_error_with_its_place(tmp_path: Path, option: str) -> None:
    """The plan shows that what runs is held."""
    before = FLEET, RUNNING, sound(tmp_path)
    given = {"--change": (*before, "--change", TYPO), "--to": (*before, "--to", FLEET, "--to", TYPO)}

    got = plan(*given.get(option, (FLEET, RUNNING, TYPO)))

    want = f"{TYPO}:18:18: error: ReplicasScheduled is False: {FIELD}: (engine vllm, Standalone, request gpu) line 1, "
    assert (got.exit_code, len(got.stderr.splitlines())) == (ERROR, 1)
    assert got.stdout.startswith("2 of 2 replicas serve on 1 cluster; no replica changes.\n")
    assert got.stderr.startswith(want), got.stderr
    assert got.stderr.endswith(" [InvalidNodeSelector] (ModelDeployment ml-team/qwen3-8b)\n"), got.stderr


def test_what_was_refused_before_and_is_not_edited_is_a_problem() -> None:
    other = EXAMPLES / "tour/classes.yaml"

    got = plan(FLEET, RUNNING, TYPO, "--change", other)

    assert (got.exit_code, got.stderr) == (NOTHING, "")


def test_what_was_refused_before_and_is_edited_is_an_error(tmp_path: Path) -> None:
    """Even if the edit is about something else: it does not arrive."""
    got = plan(FLEET, RUNNING, TYPO, "--change", copy(TYPO, tmp_path, "replicas: 2", "replicas: 1"))

    assert (got.exit_code, f"{tmp_path}/edited-deployment.yaml:18:18: error: " in got.stderr) == (ERROR, True)


def test_an_edit_that_mends_what_was_refused_is_no_error(tmp_path: Path) -> None:
    got = plan(FLEET, RUNNING, TYPO, "--change", sound(tmp_path))

    assert (got.exit_code, got.stderr) == (NOTHING, "")


def test_a_deployment_that_a_live_fleet_refuses_already_is_a_problem(tmp_path: Path) -> None:
    """A dump says so in its status. Nobody edits it now."""
    status = (
        "status:\n  conditions:\n  - type: ReplicasScheduled\n    status: 'False'\n    reason: InvalidNodeSelector\n"
        f"    message: '{FIELD}: no'\n    lastTransitionTime: '2026-03-02T09:21:40Z'\n"
    )
    (tmp_path / "dump.yaml").write_text(TYPO.read_text() + status)

    got = plan(FLEET, RUNNING, tmp_path / "dump.yaml")

    assert (got.exit_code == ERROR, got.stderr, "InvalidNodeSelector" in got.stdout) == (False, "", True)


def test_other_kinds_refuse_too(tmp_path: Path) -> None:
    """A second cluster that counts the nodes of the first."""
    fleet = FLEET.read_text()
    again = tmp_path / "again.yaml"
    again.write_text(fleet.rpartition("---")[2].replace("name: starter\n", "name: zeta\n", 1))

    got = plan(FLEET, "--change", again)

    want = f"{again}:14:11: error: ClusterReady is False: spec.nodePools[0].name: InferenceCluster starter counts"
    assert (got.exit_code, got.stderr.startswith(want)) == (ERROR, True), got.stderr


@pytest.mark.slow
def test_what_an_edit_breaks_elsewhere_is_an_error_there(tmp_path: Path) -> None:
    """The pools of a cluster keep the machine that its class no longer has. The cluster itself is not edited."""
    fleet = EXAMPLES / "clouds/tour"
    classes = copy(fleet / "classes.yaml", tmp_path, "machineType: g2-standard-8", "machineType: g2-standard-4")

    got = plan(fleet, "--change", classes)

    want = (
        f"{fleet}/clusters.yaml:44:16: error: ClusterReady is False: spec.nodePools[0].className: the nodes of a pool"
    )
    assert (got.exit_code, got.stderr.startswith(want)) == (ERROR, True), got.stderr


@pytest.mark.slow
def test_what_an_edit_breaks_is_placed_in_the_state_after_it(tmp_path: Path) -> None:
    fleet = EXAMPLES / "clouds/tour"
    classes = copy(fleet / "classes.yaml", tmp_path, "machineType: g2-standard-8", "machineType: g2-standard-4")
    clusters = copy(fleet / "clusters.yaml", tmp_path, "# ", "#\n# ")

    got = plan(fleet, "--to", classes, "--to", clusters)

    assert (got.exit_code, f"{clusters}:" in got.stderr, str(fleet) in got.stderr) == (ERROR, True, False), got.stderr


def test_a_refusal_of_what_an_object_composes_is_placed_at_that_object() -> None:
    """The field is none of its own."""
    (cluster,) = [one for one in files.load([FLEET]) if one.kind[1] == "InferenceCluster"]
    own = Ref("modelplane.ai/v1alpha1", "InferenceCluster", "", "starter")
    stack = Ref("infrastructure.modelplane.ai/v1alpha1", "ServingStack", "modelplane-system", "starter")

    (got,) = refused.findings([Refusal(own, stack, "StackReady", "InvalidSpec", "spec.cluster: no")], [cluster])

    assert str(got).startswith(f"{FLEET}:26:1: error: StackReady is False: spec.cluster: no ")
    assert got.object == "ServingStack modelplane-system/starter"


@pytest.mark.parametrize(
    ("field", "line"),
    [("spec.nodePools[0].className", 39), ('metadata.labels["modelplane.ai/region"]', 31), ("spec.nodePools[7]", 38)],
)
def test_a_field_is_found_as_it_is_spelled(field: str, line: int) -> None:
    (cluster,) = [one for one in files.load([FLEET]) if one.kind[1] == "InferenceCluster"]
    own = Ref("modelplane.ai/v1alpha1", "InferenceCluster", "", "starter")

    (got,) = refused.findings([Refusal(own, own, "ClusterReady", "InvalidSpec", f"{field}: no: not so")], [cluster])

    assert (str(got).startswith(f"{FLEET}:{line}:"), got.field) == (True, field)


def test_machines_get_the_errors_too() -> None:
    got = json.loads(plan(EXAMPLES / "bad-edit", "-o", "json").stdout)

    (error,) = got["errors"]
    assert (got["exitCode"], error["file"], error["line"], error["column"]) == (ERROR, str(TYPO), 18, 18)
    assert (error["field"], error["code"]) == (FIELD, "InvalidNodeSelector")
    assert error["object"] == "ModelDeployment ml-team/qwen3-8b"


def test_a_name_that_is_taken_by_no_namespace_is_spelled_as_in_the_file(tmp_path: Path) -> None:
    got = plan(FLEET, copy(TYPO, tmp_path, "  namespace: ml-team\n", ""))

    assert got.stderr.endswith("(ModelDeployment qwen3-8b)\n"), got.stderr
