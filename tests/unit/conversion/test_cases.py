"""Manifests in the style of public ones, with what becomes of them and what is said of it.

`cases/NAME.yaml` is the input. `cases/NAME.out.yaml` and `cases/NAME.report.txt` are the two outputs, and the last line
of the report is the exit code. UPDATE_GOLDEN=1 writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from function import validation
from function.main import main

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.stem for path in CASES.glob("*.yaml") if not path.name.endswith(".out.yaml"))
CLASSES = str(CASES.parents[3] / "examples/classes/gke.yaml")
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


def run(name: str) -> tuple[str, str]:
    """Standard output, and standard error with the exit code."""
    got = CliRunner().invoke(main, ["convert", str(CASES / f"{name}.yaml"), "--classes", CLASSES])
    return got.stdout, f"{got.stderr.replace(f'{CASES}/', '')}exit code {got.exit_code}\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_becomes_what_is_written_beside_it(name: str) -> None:
    files = CASES / f"{name}.out.yaml", CASES / f"{name}.report.txt"
    got = run(name)
    if UPDATE:
        for path, text in zip(files, got, strict=True):
            path.write_text(text)

    assert got == tuple(path.read_text() for path in files)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_passes_validation_but_for_what_the_report_names(name: str) -> None:
    written = [one for one in yaml.safe_load_all((CASES / f"{name}.out.yaml").read_text()) if one]
    report = (CASES / f"{name}.report.txt").read_text()

    findings = [one for one in validation.validate(written) if one.is_error]

    assert [one.message for one in findings if one.message not in report] == []
    assert report.count("\n  error ") == len(findings)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_not_converted_again(name: str) -> None:
    """It is passed on as it is."""
    path = CASES / f"{name}.out.yaml"
    ours = [one for one in yaml.safe_load_all(path.read_text()) if one and "modelplane.ai" in one["apiVersion"]]

    got = CliRunner().invoke(main, ["convert", str(path)])

    assert [one for one in yaml.safe_load_all(got.stdout) if one and one in ours] == ours


def test_there_is_no_output_without_its_input() -> None:
    outputs = {path.name.split(".")[0] for path in CASES.glob("*.out.yaml")}
    assert outputs == set(NAMES)
