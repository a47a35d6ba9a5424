"""A soak is the same each time, goes on where its log ends, and fails if anything is broken or was not tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from function.planning.simulation.invariants import Invariant
from tests.soak import __main__ as soak
from tests.soak import fleets, log, runs
from tests.soak.runs import Run

FLEET = "examples/recipes/tgi"
DONE = {"program": "x", "steps": 500, "checked": {one.title: 1 for one in Invariant}}


def record(run: Run, **more: Any) -> dict[str, Any]:
    return {**DONE, "fleet": run.fleet, "seed": run.seed, "wanted": run.steps, **more}


def test_runs_are_planned_on_examples_and_drawn_fleets_alike() -> None:
    planned = list(runs.planned(seed=7, steps=1_200))

    assert [run.seed for run in planned] == [7, 8, 9]
    assert [run.steps for run in planned] == [500, 500, 200]
    assert [run.fleet for run in planned] == [fleets.examples()[0], "drawn/8", fleets.examples()[1]]
    assert planned == list(runs.planned(seed=7, steps=1_200))


def test_a_log_is_read_back_for_the_same_program_also_if_its_last_line_is_cut(tmp_path: Path) -> None:
    first, second, third = runs.planned(seed=1, steps=1_500)
    for one in (record(first), record(second, program="another"), record(first, digest="new")):
        log.append(tmp_path / "log", one)
    with (tmp_path / "log").open("a") as lines:
        lines.write(json.dumps(record(third))[:30])

    found = log.recorded(tmp_path / "log", [first, second, third], "x")

    assert {key: one.get("digest") for key, one in found.items()} == {first.key: "new"}


def test_the_last_line_counts_runs(tmp_path: Path) -> None:
    run = Run(FLEET, 1, 500)
    good, bad = record(run), record(run, violation="true: …")

    assert log.summary([good, good])[-2:] == ["1000 steps, 2 runs, 0 violations", "2 passed"]
    assert log.summary([good, bad])[-2:] == ["1000 steps, 2 runs, 1 violations", "1 failed, 1 passed"]


def test_an_invariant_without_a_case_fails_the_soak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both runs are in the log already, and so nothing is played."""
    planned = list(runs.planned(seed=1, steps=1_000))
    monkeypatch.setattr(soak, "program", lambda: "x")
    arguments = ["--steps", "1000", "--resume", "--log", str(tmp_path / "log")]
    untested = {**DONE["checked"], "steady": 0}  # type: ignore[dict-item]
    codes = []
    for checked in (untested, DONE["checked"]):
        for run in planned:
            log.append(tmp_path / "log", record(run, checked=checked))
        codes.append(soak.main(arguments))

    assert codes == [1, 0]


@pytest.mark.slow
def test_the_same_run_has_the_same_record_in_another_process(tmp_path: Path) -> None:
    run = Run(FLEET, 3, 40)
    records = [runs.done(run), *soak._results([run], jobs=1, ends=None)]

    first, second = ({k: v for k, v in one.items() if k != "seconds"} for one in records)
    assert first == second
    assert first["steps"] == 40


@pytest.mark.slow
def test_what_fails_is_recorded_with_its_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support import simulated

    liar = simulated.start(simulated.broken("ModelDeployment", simulated.counts_too_many))
    monkeypatch.setattr(runs, "_settled", lambda _fleet: liar)

    found = runs.done(Run(FLEET, 1, 30))

    assert found["violation"].startswith("true: ModelDeployment ")
    assert found["replay"].splitlines()[0] == f"# fleet: {FLEET}"
    assert len(found["replay"].splitlines()) <= 6
