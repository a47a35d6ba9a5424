"""`--fail-on`: when plan and what-if exit with 2, and what they say about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from function.main import main

EXAMPLES = Path(__file__).parents[3] / "examples"
TOUR, SPARE, SMALL = EXAMPLES / "tour", EXAMPLES / "spare", EXAMPLES / "tour/deployment.yaml"
FLEET = EXAMPLES / "bad-edit/fleet.yaml"
NOTHING, ERROR, FAILED, CHANGED = 0, 1, 2, 3


def plan(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, arguments)])


def what_if(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["what-if", *map(str, arguments)])


def said(got: Result) -> tuple[int, list[str]]:
    return got.exit_code, got.stderr.splitlines()


@pytest.mark.slow
def test_a_first_plan_with_something_not_placed_fails_when_asked() -> None:
    got = [said(plan(TOUR, *option)) for option in ([], ["--fail-on", "short"])]

    why = "--fail-on short: fewer serving replicas than wanted: support/mistral-7b (0 of 1)"
    assert got == [(CHANGED, []), (FAILED, [why])]


def test_all_of_it_placed_is_not_short() -> None:
    assert said(plan(FLEET, SMALL, "--fail-on", "short")) == (CHANGED, [])


@pytest.mark.slow
def test_what_was_short_before_a_change_is_short_after_it() -> None:
    got = said(plan(TOUR, "--change", SMALL, "--fail-on", "short,change,lost"))

    assert got == (FAILED, ["--fail-on short: fewer serving replicas than wanted: support/mistral-7b (0 of 1)"])


def test_any_change_fails_when_asked(tmp_path: Path) -> None:
    (tmp_path / "edited.yaml").write_text(SMALL.read_text().replace("replicas: 1", "replicas: 2"))

    got = [said(plan(FLEET, SMALL, "--change", f, "--fail-on", "change")) for f in (SMALL, tmp_path / "edited.yaml")]

    assert got == [(NOTHING, []), (FAILED, ["--fail-on change: something changes"])]


def test_a_loss_fails_anyway_and_says_so_when_asked() -> None:
    got = [said(plan(FLEET, SMALL, "--to", FLEET, *option)) for option in ([], ["--fail-on", "lost"])]

    assert got == [(FAILED, []), (FAILED, ["--fail-on lost: something that serves would be lost"])]


def test_warnings_fail_when_asked(tmp_path: Path) -> None:
    """Those of validate about the files, and problems that objects report."""
    one = EXAMPLES / "tour/gang.yaml"
    problem = tmp_path / "service.yaml"
    problem.write_text(
        "apiVersion: modelplane.ai/v1alpha1\nkind: ModelService\nmetadata: {name: a, namespace: b}\n"
        "spec: {endpoints: [{selector: {matchLabels: {c: d}}}]}\n"
    )
    fleet = EXAMPLES / "tour/classes.yaml", EXAMPLES / "tour/clusters.yaml"

    got = [said(plan(*fleet, more, "--fail-on", "warning")) for more in (SMALL, one, problem)]

    assert got[0] == (CHANGED, [])
    assert [(code, len(lines)) for code, lines in got[1:]] == [(FAILED, 1), (FAILED, 1)]
    assert f"--fail-on warning: 1 warning, the first: {one}:" in got[1][1][0]
    assert "the first: ModelService b/a: WaitingForGateway: " in got[2][1][0]


def test_warnings_are_those_of_the_state_after_the_change() -> None:
    fleet = EXAMPLES / "tour/classes.yaml", EXAMPLES / "tour/clusters.yaml"
    gang = EXAMPLES / "tour/gang.yaml"
    rest = [argument for file in (*fleet, SMALL) for argument in ("--to", file)]

    got = [
        said(plan(*fleet, gang, *rest, "--fail-on", "warning"))[1],
        said(plan(*fleet, SMALL, "--change", gang, "--fail-on", "warning"))[1],
    ]

    assert [len(lines) for lines in got] == [0, 1]


@pytest.mark.parametrize("option", ["--change", "--to"])
def test_what_is_deleted_is_not_there_any_more(tmp_path: Path, option: str) -> None:
    """A cluster without its class is worth a warning."""
    gone = tmp_path / "gone.yaml"
    gone.write_text(
        "apiVersion: modelplane.ai/v1alpha1\nkind: InferenceClass\n"
        "metadata: {name: gke-l4-1x-g2, deletionTimestamp: 2026-01-01T00:00:00Z}\n"
    )
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(FLEET.read_text().rpartition("---")[2])
    other = EXAMPLES / "classes/eks.yaml"
    rest = ["--to", cluster, "--to", other] if option == "--to" else []

    got = said(plan(FLEET, other, option, gone, *rest, "--fail-on", "warning"))

    assert (got[0], "[class] (InferenceCluster starter)" in got[1][0]) == (FAILED, True), got


def test_each_name_has_a_line_and_is_told_once() -> None:
    got = said(plan(TOUR, "--fail-on", "short,change", "--fail-on", "short"))

    assert [line.partition(":")[0] for line in got[1]] == ["--fail-on short", "--fail-on change"]


@pytest.mark.parametrize("command", [plan, what_if])
@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("shrt", "'shrt' is not accepted; did you mean short?"),
        ("lost,qqq", "'qqq' is not accepted; use short, lost, change"),
        ("", "'' is not accepted; use short, lost, change"),
    ],
)
def test_an_unknown_name_is_an_error(command: object, given: str, hint: str) -> None:
    got = (plan if command is plan else what_if)(FLEET, "--fail-on", given)

    assert (got.exit_code, hint in got.stderr) == (ERROR, True), got.stderr


def test_an_error_wins() -> None:
    got = plan(EXAMPLES / "bad-edit", "--fail-on", "warning", "-o", "json")

    assert (got.exit_code, json.loads(got.stdout)["exitCode"]) == (ERROR, ERROR)
    assert [line.partition(" warning:")[0] for line in got.stderr.splitlines()[1:]] == ["--fail-on"]


@pytest.mark.slow
def test_machines_get_the_same_exit_code() -> None:
    one = plan(TOUR, "--fail-on", "short", "-o", "json")
    other = what_if(SPARE, "--drain", "iowa", "--fail-on", "change", "-o", "json")

    assert [(got.exit_code, json.loads(got.stdout)["exitCode"]) for got in (one, other)] == [(FAILED, FAILED)] * 2


@pytest.mark.slow
def test_what_if_fails_on_what_falls_short() -> None:
    """By the events: what no cluster takes anyway is not their doing."""
    got = [
        said(what_if(SPARE, "--scale", "ml-team/qwen3-8b=9", "--fail-on", "short")),
        said(what_if(TOUR, "--pool", "europe/a100=4", "--fail-on", "short")),
    ]

    assert [(code, len(lines)) for code, lines in got] == [(FAILED, 1), (NOTHING, 0)]
    assert got[0][1][0].startswith("--fail-on short: fewer serving replicas than wanted: ml-team/qwen3-8b (")


@pytest.mark.slow
def test_what_if_names_the_cluster_without_which_something_falls_short() -> None:
    code, lines = said(what_if(TOUR, "--lose", "any", "--fail-on", "short", "--jobs", "1"))

    assert (code, "ml-team/qwen3-235b (0 of 1) without europe" in lines[0]) == (FAILED, True), lines


def test_what_if_fails_on_a_loss_and_on_a_change() -> None:
    got = said(what_if(SPARE, "--drain", "iowa", "--fail-on", "lost,change"))

    assert got == (FAILED, ["--fail-on change: something changes"])
