"""The exit codes of the reference: each that is cheap to reach is reached, and each that is reached is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from function.cli import reference
from function.main import main

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/reference/commands.md").read_text()
TOUR, SPARE, EXPLAIN = (str(ROOT / "examples" / name) for name in ("tour", "spare", "explain"))
CLUSTER = f"{TOUR}/clusters.yaml#starter"
DEVICES = f"{TOUR}/classes.yaml"
SELECTOR = 'device.driver == "gpu.nvidia.com"'
WRONG = "--no-such-option"


def listed() -> dict[str, set[int]]:
    """The exit codes of each command, as the page has them."""
    sections = re.split(r"^## modelplane ", PAGE, flags=re.MULTILINE)[1:]
    return {
        section.partition("\n")[0]: {int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)}
        for section in sections
    }


LISTED = listed()
CASES: dict[tuple[str, int], list[str]] = {
    ("plan", 0): [f"{TOUR}/classes.yaml"],
    ("plan", 1): [TOUR, WRONG],
    ("plan", 3): [TOUR],
    ("what-if", 0): [SPARE, "--scale", "ml-team/qwen3-8b=3"],
    ("what-if", 1): [SPARE, "--lose", "atlantis"],
    ("what-if", 2): [TOUR, "--lose", "europe"],
    ("what-if", 3): [SPARE, "--drain", "iowa"],
    ("explain", 0): [TOUR, "ModelDeployment/ml-team/qwen3-8b"],
    ("explain", 1): [TOUR, "ModelDeployment/ml-team/nobody"],
    ("explain", 2): [TOUR, "ModelDeployment/ml-team/qwen3-8b", WRONG],
    ("explain", 3): [TOUR, "ModelDeployment/support/mistral-7b"],
    ("top", 0): [str(ROOT / "examples/bad-edit")],
    ("top", 1): [TOUR],
    ("top", 2): [TOUR, WRONG],
    ("manifests", 0): [TOUR, "--cluster", "europe"],
    ("manifests", 1): [TOUR, "--cluster", "atlantis"],
    ("manifests", 2): [TOUR, WRONG],
    ("simulate", 0): [f"{TOUR}/classes.yaml", f"{TOUR}/clusters.yaml", "--steps", "1"],
    ("simulate", 1): ["nowhere.yaml"],
    ("simulate", 2): [TOUR, WRONG],
    ("render", 0): [CLUSTER],
    ("render", 1): ["nowhere.yaml"],
    ("render", 2): [CLUSTER, WRONG],
    ("validate", 0): [TOUR],
    ("validate", 1): ["nowhere.yaml"],
    ("validate", 2): [TOUR, WRONG],
    ("convert", 0): [str(ROOT / "examples/convert")],
    ("convert", 2): ["nowhere.yaml"],
    ("cel check", 0): [SELECTOR],
    ("cel check", 1): ["device."],
    ("cel check", 2): [],
    ("cel eval", 0): [SELECTOR, "--class", DEVICES],
    ("cel eval", 1): ['device.driver == "x"', "--class", DEVICES],
    ("cel eval", 2): ["device.", "--class", DEVICES],
    ("class from-cluster", 1): ["--kubeconfig", "nowhere.yaml"],
    ("class from-cluster", 2): [],
    ("serve", 1): ["--insecure", "--address", "192.0.2.1:1"],
    ("serve", 2): [],
    ("hydrate", 2): [],
    ("observe", 1): ["--kubeconfig", "nowhere.yaml"],
    ("observe", 2): ["--follow"],
    ("schema", 0): ["md"],
    ("schema", 1): ["--all", "--to", "/dev/null/x"],
    ("schema", 2): ["nothing"],
    ("completion", 0): ["zsh"],
    ("completion", 2): ["tcsh"],
    ("generate", 0): ["--check", "--root", str(ROOT)],
    ("generate", 1): ["--check", "--root", str(ROOT / "docs")],
    ("generate", 2): [WRONG],
    ("help", 0): [],
    ("help", 2): ["nothing"],
    ("version", 0): [],
    ("version", 2): [WRONG],
}
ELSEWHERE = {
    ("plan", 2),  # test_plan.py
    ("convert", 1),  # test_convert.py
    ("simulate", 3),  # test_simulate.py
    ("class from-cluster", 0), ("observe", 0),  # tests/unit/observe: they need a cluster
    ("serve", 0),  # tests/unit/server: it runs until a signal
    *(("hydrate", code) for code in (0, 1, *range(10, 17))),  # tests/unit/hydrate: they need a hub
    *((name, 1) for name in ("completion", "help", "version")),  # test_habits.py: a full disk
}  # fmt: skip
"""Exit codes that other tests reach."""


@pytest.mark.slow
@pytest.mark.parametrize(("command", "code"), CASES, ids=str)
def test_a_listed_code_is_that_of_its_case(command: str, code: int) -> None:
    got = CliRunner().invoke(main, [*command.split(), *CASES[command, code]])

    assert (got.exit_code, code in LISTED[command]) == (code, True), got.output


def test_every_listed_code_has_a_case() -> None:
    assert {(command, code) for command, codes in LISTED.items() for code in codes} == {*CASES, *ELSEWHERE}


def test_every_command_is_listed() -> None:
    assert [path for path, _ in reference.leaves(reference.outline(main))] == list(LISTED)


def test_the_page_is_up_to_date() -> None:
    assert reference.files(main)["docs/reference/commands.md"] == PAGE
