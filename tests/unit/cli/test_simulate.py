"""`modelplane simulate`: what it prints can be replayed, and the same seed prints the same in any process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from function.cli import simulate
from function.main import main
from function.planning.simulation.invariants import Invariant
from tests.support import simulated
from tests.support.simulated import broken

ROOT = Path(__file__).parents[3]
FLEET = str(ROOT / "examples/fragmented")


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["simulate", *arguments], input=stdin)


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our function, but for deployments that count one replica too many."""
    function = broken("ModelDeployment", simulated.counts_too_many)
    monkeypatch.setattr(simulate, "chosen", lambda _target: function)


@pytest.mark.slow
def test_a_fleet_in_which_everything_holds_exits_with_0() -> None:
    got = run(FLEET, "--steps", "30", "--runs", "2", "--seed", "3")

    assert (got.exit_code, got.stderr) == (0, "")
    assert got.stdout.startswith("seeds 3 to 4: 60 steps, ")
    assert all(f"  {one.title} " in got.stdout and one.claim in got.stdout for one in Invariant)


@pytest.mark.slow
@pytest.mark.usefixtures("liar")
def test_what_a_broken_invariant_prints_is_replayed_as_it_is(tmp_path: Path) -> None:
    got = run(FLEET, "--steps", "30", "--seed", "2")
    (tmp_path / "broken.txt").write_text(got.stdout)

    again = run(FLEET, "--replay", str(tmp_path / "broken.txt"))
    piped = run(FLEET, "--replay", "-", stdin=got.stdout)

    assert (got.exit_code, again.exit_code, piped.exit_code) == (3, 3, 3)
    assert "--seed 2 --steps 30" in got.stdout
    assert "true: ModelDeployment chat/" in got.stdout
    assert again.stdout == piped.stdout
    lines = [[line for line in r.stdout.splitlines() if not line.startswith("#")] for r in (got, again)]
    assert lines[0] == lines[1]
    assert len(lines[0]) <= 2


@pytest.mark.usefixtures("liar")
def test_json_has_the_violation_and_the_steps_that_are_left() -> None:
    got = run(FLEET, "--steps", "30", "--seed", "2", "--runs", "3", "-o", "json")

    found = json.loads(got.stdout)
    assert (got.exit_code, found["holds"], len(found["runs"])) == (3, False, 1)
    (only,) = found["runs"]
    assert (only["seed"], only["violation"]["invariant"]) == (2, "true")
    assert only["shrunk"]["minimal"] is True
    assert only["shrunk"]["steps"][-1].startswith(("settle ", "rest"))


def test_json_of_a_fleet_in_which_everything_holds() -> None:
    got = run(FLEET, "--steps", "10", "-o", "json")

    found = json.loads(got.stdout)
    assert (got.exit_code, found["holds"]) == (0, True)
    (only,) = found["runs"]
    assert sum(only["counts"].values()) == only["steps"] == 10
    assert set(only["checked"]) == {one.title for one in Invariant}


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "said"),
    [
        (["--faults", "edit"], None, 2, "edit is no kind of step; did you mean edits?"),
        (["--faults", "zzz"], None, 2, "zzz is no kind of step; known: edits, "),
        (["--steps", "0"], None, 2, "0 is not in the range x>=1"),
        (["--replay", "nowhere.txt"], None, 1, "cannot read nowhere.txt: No such file or directory"),
        (["--replay", "."], None, 1, "cannot read .: Is a directory"),
        (["--replay", "-", "--seed", "0"], "rest\n", 2, "--seed cannot be combined with --replay"),
        (["--replay", "-", "--faults", "edits"], "rest\n", 2, "--faults cannot be combined with --replay"),
        (["--replay", "-"], "# nothing\n", 1, "- has no steps"),
        (["--replay", "-"], "\nsetle 0\n", 1, "-:2: unknown step setle; did you mean settle?"),
    ],
)
def test_what_cannot_be_used_is_said(arguments: list[str], stdin: str | None, code: int, said: str) -> None:
    got = run(FLEET, *arguments, stdin=stdin)

    assert (got.exit_code, got.stdout) == (code, "")
    assert said in got.stderr


@pytest.mark.slow
def test_the_same_seed_prints_the_same_in_any_process() -> None:
    """Whatever the order in which sets and hashes come."""
    command = [sys.executable, "-m", "function", "simulate", FLEET, "--steps", "60", "--seed", "11", "-o", "json"]
    got = [
        subprocess.run(
            command, cwd=ROOT, env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]

    assert got[0] == got[1]
