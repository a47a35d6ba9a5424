"""`modelplane what-if`: what it reads, what comes of a drain, a loss and a resize, and what its exit code says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from function.main import main

EXAMPLES = Path(__file__).parents[3] / "examples"
SPARE = str(EXAMPLES / "spare")
TOUR = str(EXAMPLES / "tour")
NOTHING, LOST, CHANGED, ERROR = 0, 2, 3, 1


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["what-if", *arguments])


def data(*arguments: str) -> dict[str, Any]:
    got = run(*arguments, "-o", "json")
    assert got.exit_code != ERROR, got.output
    found: dict[str, Any] = json.loads(got.stdout)
    assert found["exitCode"] == got.exit_code
    return found


def moves(found: dict[str, Any]) -> list[tuple[str, str, str | None, str | None]]:
    return [(r["change"], r["deployment"], r["from"], r["to"]) for r in found["replicas"]]


def services(found: dict[str, Any]) -> dict[str, list[int]]:
    return {s["name"]: list(s["endpoints"].values()) for s in found["services"]}


def edited(path: Path, tmp_path: Path, old: str, new: str) -> str:
    text = path.read_text()
    assert old in text
    file = tmp_path / path.name
    file.write_text(text.replace(old, new))
    return str(file)


# What happens


def test_a_drained_cluster_is_left_by_everything_and_no_service_notices() -> None:
    got = data(SPARE, "--drain", "iowa")

    want = [("moved", "qwen3-8b", "iowa", "oregon"), ("moved", "gemma-3-4b", "iowa", "taiwan")]
    assert (moves(got), got["services"], got["exitCode"]) == (want, [], CHANGED)


def test_what_cannot_leave_a_drained_cluster_stays_and_counts_as_lost() -> None:
    """It goes on serving; but a drain is for taking the cluster away."""
    got = data(TOUR, "--drain", "virginia")

    (replica,) = got["replicas"]
    assert (moves(got), replica["serving"]) == ([("stays", "qwen3-32b", "virginia", "virginia")], True)
    assert ("1 full" in replica["why"], got["holds"], got["exitCode"]) == (True, False, LOST)


def test_what_tolerates_everything_does_not_leave(tmp_path: Path) -> None:
    tolerant = edited(
        EXAMPLES / "spare/models.yaml", tmp_path, "  replicas: 3", "  replicas: 3\n  tolerations: [{operator: Exists}]"
    )
    got = data(str(EXAMPLES / "spare/fleet.yaml"), tolerant, "--drain", "oregon")

    assert [(r["change"], r["why"]) for r in got["replicas"]] == [("stays", "the deployment tolerates every taint")]


def test_draining_a_cluster_on_which_nothing_is_changes_nothing() -> None:
    got = data(str(EXAMPLES / "spare/fleet.yaml"), "--drain", "taiwan")

    assert (got["replicas"], got["pools"], got["exitCode"]) == ([], [], NOTHING)


def test_a_lost_cluster_takes_its_replicas_along_and_they_are_placed_anew() -> None:
    """Meanwhile a service whose endpoints were all there answers nobody."""
    got = data(SPARE, "--lose", "iowa")

    want = [("moved", "qwen3-8b", "iowa", "oregon"), ("moved", "gemma-3-4b", "iowa", "taiwan")]
    assert (moves(got), services(got)) == (want, {"qwen": [3, 2, 3], "gemma": [1, 0, 1]})
    assert "search/gemma has no endpoint until replicas moved" in got["summary"]
    assert [(p["cluster"], p["after"]) for p in got["pools"]] == [
        ("iowa", None),
        ("oregon", {"nodes": 2, "free": 0}),
        ("taiwan", {"nodes": 2, "free": 0}),
    ]
    assert got["exitCode"] == CHANGED


def test_what_finds_no_other_place_is_lost() -> None:
    got = data(TOUR, "--lose", "virginia")

    (short,) = got["short"]
    assert moves(got) == [("lost", "qwen3-32b", "virginia", None)]
    assert (short["name"], short["serving"], short["wanted"]) == ("qwen3-32b", {"before": 2, "after": 1}, 2)
    assert {r["cluster"]: r["reason"] for r in short["rejections"]} == {"europe": "Full", "starter": "NoDevice"}
    assert (services(got), got["exitCode"]) == ({"qwen": [2, 1, 1]}, LOST)


@pytest.mark.parametrize("clusters", [("iowa", "oregon", "taiwan"), ("taiwan", "oregon", "iowa")])
def test_when_all_clusters_are_lost_nothing_is_left(clusters: tuple[str, ...]) -> None:
    """A deployment that is on hold keeps its replicas in name: they do not serve."""
    got = data(SPARE, *(argument for cluster in clusters for argument in ("--lose", cluster)))

    assert ({m[0] for m in moves(got)}, got["free"], got["exitCode"]) == ({"lost"}, 0, LOST)
    assert services(got) == {"qwen": [3, 0, 0], "gemma": [1, 0, 0]}


def test_a_deployment_on_hold_for_a_bad_edit_loses_what_was_on_a_lost_cluster() -> None:
    got = data(str(EXAMPLES / "bad-edit"), "--lose", "starter")

    assert (moves(got), got["exitCode"]) == ([("lost", "qwen3-8b", "starter", None)] * 2, LOST)


def test_a_smaller_pool_stops_what_has_no_node_any_more() -> None:
    got = data(TOUR, "--pool", "europe/a100=2")

    (stopped,) = got["replicas"]
    assert (stopped["change"], stopped["from"], got["exitCode"]) == ("stops", "europe", LOST)
    assert got["pools"][0]["after"] == {"nodes": 2, "free": -1}


def test_a_larger_pool_takes_what_waited() -> None:
    got = data(TOUR, "--pool", "starter/l4=3")

    assert (moves(got), got["exitCode"]) == ([("new", "mistral-7b", None, "starter")], CHANGED)


def test_a_pool_that_something_scales_is_counted_by_the_most_it_can_have(tmp_path: Path) -> None:
    pool = "{name: l4, className: gke-l4-1x-g2, nodeCount: 2}"
    fleet = edited(
        EXAMPLES / "spare/fleet.yaml", tmp_path, pool, pool.replace("}", ", minNodeCount: 1, maxNodeCount: 2}")
    )
    got = data(fleet, str(EXAMPLES / "spare/models.yaml"), "--pool", "iowa/l4=0")

    assert got["pools"][0]["after"] == {"nodes": 0, "free": -2}


def test_scaling_down_to_nothing_leaves_a_service_without_an_endpoint() -> None:
    got = data(SPARE, "--scale", "search/gemma-3-4b=0")

    assert (moves(got), services(got)) == ([("removed", "gemma-3-4b", "iowa", None)], {"gemma": [1, 0, 0]})


def test_more_replicas_than_there_is_room_for_fall_short() -> None:
    got = data(SPARE, "--scale", "ml-team/qwen3-8b=9")

    (short,) = got["short"]
    assert (short["serving"], short["wanted"], got["exitCode"]) == ({"before": 3, "after": 5}, 9, CHANGED)


# Several


@pytest.mark.slow
def test_edits_happen_in_the_order_given_across_options() -> None:
    """A cluster that is drained first has nothing to lose; one that is lost first cannot be drained."""
    drained = data(SPARE, "--drain", "iowa", "--lose", "iowa")
    lost = run(SPARE, "--lose", "iowa", "--drain", "iowa")

    assert drained["edits"] == ["drain iowa", "lose iowa"]
    assert ({m[0] for m in moves(drained)}, drained["services"]) == ({"moved"}, [])
    assert (lost.exit_code, lost.stderr) == (ERROR, "Error: InferenceCluster iowa is already lost at this point\n")


def test_the_last_of_two_edits_of_the_same_counts() -> None:
    got = data(SPARE, "--scale", "ml-team/qwen3-8b=9", "--scale", "ml-team/qwen3-8b=4")

    assert (len(got["replicas"]), got["short"], got["edits"][1]) == (1, [], "scale ml-team/qwen3-8b to 4")


@pytest.mark.slow
def test_room_that_is_made_first_is_used() -> None:
    before, after = (data(TOUR, "--drain", "virginia", *more) for more in ((), ("--pool", "europe/a100=4")))
    made = data(TOUR, "--pool", "europe/a100=4", "--drain", "virginia")

    assert [m[0] for m in moves(before)] == ["stays"]
    assert moves(made) == moves(after) == [("moved", "qwen3-32b", "virginia", "europe")]


# Every cluster in turn


@pytest.mark.slow
def test_n_1_holds_where_there_is_room_for_each() -> None:
    got = data(SPARE, "--lose", "any")

    want = "N-1 holds: if any one of 3 clusters is lost, everything that serves is placed again."
    assert (got["summary"], got["holds"], got["failing"], got["exitCode"]) == (want, True, [], CHANGED)


@pytest.mark.slow
def test_n_1_names_the_clusters_that_nobody_can_stand_in_for() -> None:
    got = data(SPARE, "--pool", "taiwan/l4=1", "--lose", "any")

    want = "N-1 does not hold for 2 of 3 clusters: iowa, oregon."
    assert (got["summary"], got["failing"], got["exitCode"]) == (want, ["iowa", "oregon"], LOST)
    assert got["first"]["summary"] == "pool taiwan/l4 to 1: no replica changes."


@pytest.mark.slow
@pytest.mark.parametrize("folder", [SPARE, TOUR])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_row_is_the_loss_of_that_cluster_alone(folder: str, jobs: str) -> None:
    got = data(folder, "--lose", "any", "--jobs", jobs)

    want = [{"cluster": row["cluster"], **data(folder, "--lose", row["cluster"])} for row in got["clusters"]]
    assert got["clusters"] == want


def test_a_fleet_on_which_nothing_runs_has_nothing_to_lose() -> None:
    got = data(str(EXAMPLES / "spare/fleet.yaml"), "--lose", "any")

    assert (got["holds"], got["exitCode"]) == (True, NOTHING)


# Laws


@pytest.mark.parametrize(
    "arguments",
    [
        ("--scale", "ml-team/qwen3-8b=3"),
        ("--pool", "iowa/l4=2"),
        ("--scale", "ml-team/qwen3-8b=3", "--pool", "oregon/l4=2"),
    ],
)
def test_what_is_so_already_changes_nothing(arguments: tuple[str, ...]) -> None:
    got = data(SPARE, *arguments)

    lists = [got[name] for name in ("replicas", "short", "services", "staging", "pools")]
    assert (lists, got["exitCode"]) == ([[]] * 5, NOTHING)
    assert got["summary"].endswith(": no replica changes.")


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [0, 1, 2, 3, 4, 9])
def test_a_scale_is_the_plan_of_the_same_edit(tmp_path: Path, replicas: int) -> None:
    models = EXAMPLES / "spare/models.yaml"
    change = edited(models, tmp_path, "replicas: 3", f"replicas: {replicas}")
    plan = CliRunner().invoke(main, ["plan", SPARE, "--change", change, "-o", "json"])
    planned = json.loads(plan.stdout)

    got = data(SPARE, "--scale", f"ml-team/qwen3-8b={replicas}")

    came = [r["name"] for d in planned["deployments"] for r in d["replicas"] if r["change"] == "new"]
    went = [r["replica"] for r in planned["gone"]]
    assert [r["name"] for r in got["replicas"] if r["change"] == "new"] == came
    assert [r["name"] for r in got["replicas"] if r["change"] == "removed"] == went
    assert (len(got["replicas"]), got["exitCode"]) == (len(came) + len(went), plan.exit_code)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "form"),
    [
        *((("--lose", "iowa"), form) for form in ("table", "json", "yaml", "markdown")),
        (("--lose", "any"), "json"),
        (("--drain", "oregon"), "json"),
    ],
)
def test_the_same_input_gives_the_same_bytes(arguments: tuple[str, ...], form: str) -> None:
    files = [str(EXAMPLES / "spare" / name) for name in ("models.yaml", "fleet.yaml")]
    first, second = (run(*paths, *arguments, "-o", form) for paths in (files, files[::-1]))

    assert (first.stdout, first.exit_code) == (second.stdout, second.exit_code)


@pytest.mark.slow
def test_machines_get_the_same_in_json_and_in_yaml() -> None:
    arguments = (TOUR, "--lose", "any", "-o")

    assert json.loads(run(*arguments, "json").stdout) == yaml.safe_load(run(*arguments, "yaml").stdout)


@pytest.mark.slow
def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in sorted((EXAMPLES / "spare").iterdir())}

    run(SPARE, "--lose", "any", "-o", "markdown")

    assert (list(tmp_path.iterdir()), {path: path.read_bytes() for path in before}) == ([], before)


# What people see


def test_people_see_the_loss_in_a_table() -> None:
    got = run(SPARE, "--lose", "iowa").stdout.splitlines()

    assert got[:6] == [
        "lose iowa: 2 replicas move; search/gemma has no endpoint until replicas moved.",
        "",
        "Replicas",
        "         DEPLOYMENT         REPLICA              FROM  TO      POOL",
        "  moved  ml-team/qwen3-8b   qwen3-8b-6901c95a    iowa  oregon  l4",
        "  moved  search/gemma-3-4b  gemma-3-4b-f68ca91c  iowa  taiwan  l4",
    ]


@pytest.mark.slow
def test_people_see_one_row_for_each_cluster() -> None:
    got = run(SPARE, "--scale", "ml-team/qwen3-8b=4", "--lose", "any").stdout.splitlines()

    assert got[0] == "N-1 does not hold for 3 of 3 clusters: iowa, oregon, taiwan."
    assert "  iowa     fails  1 moved   1     search/gemma-3-4b (0 of 1)  search/gemma" in got


# What is refused


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        (["--drain", "iowas"], "InferenceCluster iowas not found; did you mean iowa?"),
        (["--lose", "nowhere-near"], "InferenceCluster nowhere-near not found; known: iowa, oregon, taiwan"),
        (["--pool", "iowa/l5=2"], "pool l5 of InferenceCluster iowa not found; known: l4"),
        (["--pool", "ohio/l4=2"], "InferenceCluster ohio not found"),
        (["--scale", "ml-team/qwen3=1"], "ModelDeployment ml-team/qwen3 not found; did you mean ml-team/qwen3-8b?"),
        (["--scale", "qwen3-8b=1"], "--scale qwen3-8b=1: invalid value; use NAMESPACE/NAME=N, such as ml-team/qwen=3"),
        (["--scale", "ml-team/qwen3-8b=many"], "use NAMESPACE/NAME=N"),
        (["--scale", "ml-team/qwen3-8b=-1"], "use NAMESPACE/NAME=N"),
        (["--pool", "iowa=2"], "--pool iowa=2: invalid value; use CLUSTER/POOL=N, such as europe/a100=4"),
        (["--scale", "ml-team/qwen3-8b=101"], "ModelDeployment qwen3-8b: spec.replicas: must be at most 100, not 101"),
        (["--pool", "iowa/l4=5001"], "must be at most 5000, not 5001"),
        (["--lose", "iowa", "--lose", "iowa"], "InferenceCluster iowa is already lost at this point"),
        (["--lose", "any", "--lose", "iowa"], "cannot be combined with another --lose"),
        (["--lose", "any", "--lose", "any"], "cannot be combined with another --lose"),
        ([], "missing event: use --drain, --lose, --pool or --scale"),
        (
            ["--lose", "any", "--target", "127.0.0.1:1", "--jobs", "2"],
            "--jobs above 1 cannot be combined with --target",
        ),
        (["--drain", "iowa", "-o", "csv"], "'csv' is not one of"),
        (["--burn", "iowa"], "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_is_an_error_that_says_what_can(arguments: list[str], want: str) -> None:
    got = run(SPARE, *arguments)

    assert (got.exit_code, got.stdout, want in got.stderr) == (ERROR, "", True), got.stderr


def test_there_must_be_a_cluster_to_lose(tmp_path: Path) -> None:
    got = run(str(EXAMPLES / "spare/models.yaml"), "--lose", "any")

    assert (got.exit_code, got.stderr) == (ERROR, "Error: there is no InferenceCluster in the fleet\n")


def test_a_name_is_checked_before_the_long_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def settled(*_: object) -> int:
        raise AssertionError("it settled")

    monkeypatch.setattr("function.sandbox.control_loop.ControlLoop.settle", settled)

    assert run(SPARE, "--drain", "ohio").exit_code == ERROR
    assert "InferenceCluster ohio not found" in run(SPARE, "--drain", "ohio").stderr


def test_a_broken_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("a: 1\n\tb: 2\n")

    assert run(str(tmp_path), "--lose", "any").exit_code == ERROR
