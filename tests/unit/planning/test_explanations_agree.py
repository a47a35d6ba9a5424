"""`plan` and `explain` give the same reason for each cluster: in every golden case, example and small fleet."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from function.core import InvalidSpec, NotYet
from function.kinds.modeldeployment import explain
from function.main import main
from function.sandbox import settle
from tests.support import explained
from tests.support.cases import CASES, answer, load

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
HARDWARE = EXAMPLES / "hardware"
MISTAKES = {
    "no cache": ("modelCacheRef: {name: deepseek}", "modelCacheRef: {name: deepseeek}"),
    "no class": ("className: h200-8x", "className: h200-x8"),
    "no attribute": (".architecture ==", ".arch =="),
    "no nodes": ("nodeCount: 4", "nodeCount: 1"),
}


@pytest.mark.parametrize("case", [c for c in CASES if c.parent.name == "modeldeployment"], ids=lambda case: case.name)
def test_the_reasons_of_a_golden_case_are_those_that_it_reports(case: Path) -> None:
    """The composer reads as little as it can, and an explanation reads everything."""
    request, objects = load(case)
    want = {one["cluster"]: one["reason"] for one in answer(case).status.get("rejections", ())}
    try:
        for _ in range(2):
            request = replace(request, required=settle.resolve(explain.requirements(request), objects))
        got = {one.name: one.reason for one in explain.explain(request).clusters}
    except (InvalidSpec, NotYet):
        got = {}

    assert got == want


FLEETS = {
    **{path.name: [path] for path in sorted(EXAMPLES.iterdir()) if path.name in ("explain", "fragmented", "tour")},
    **{
        f"{path.parent.name} {path.stem}": [path.with_name("class.yaml"), path.with_name("models.yaml"), path]
        for path in sorted(HARDWARE.glob("*/*.yaml"))
        if path.stem in ("whole", "shared")
    },
}


@pytest.mark.parametrize("paths", FLEETS.values(), ids=FLEETS)
def test_the_reasons_of_an_example_are_those_of_its_plan(paths: list[Path]) -> None:
    compare([str(path) for path in paths])


@pytest.mark.parametrize("edit", MISTAKES.values(), ids=MISTAKES)
def test_the_reasons_of_a_mistake_are_those_of_its_plan(edit: tuple[str, str], tmp_path: Path) -> None:
    assert compare([explained.fleet(tmp_path, edit)])


def compare(paths: list[str]) -> list[str]:
    """Compare what the two commands say of each deployment. Returns those that clusters reject."""
    planned = json.loads(CliRunner().invoke(main, ["plan", *paths, "-o", "json"]).output)
    rejected = [one for one in planned["deployments"] if one["rejections"]]
    for one in rejected:
        got = explained.explained(*paths, f"ModelDeployment/{one['namespace']}/{one['name']}")["clusters"]
        want = {rejection["cluster"]: rejection["reason"] for rejection in one["rejections"]}
        assert {cluster["name"]: cluster["reason"] for cluster in got} == want
    return [one["name"] for one in rejected]
