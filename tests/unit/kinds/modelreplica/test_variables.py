"""The reference names every variable that an engine's container gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from function.core import Manifest, dig, dig_list, plain
from function.engines.reading import OURS
from function.kinds.modelreplica import variables
from function.podspec import ENGINE
from tests.support.cases import CASES, answer, load

ROOT = Path(__file__).parents[4]
COMPOSED = ROOT / "tests/unit/recipes/composed"
ALL = {one.name for one in variables.ALL}


@pytest.mark.slow
def test_the_table_has_every_variable_that_pods_get_and_no_other() -> None:
    """The pods of golden cases and of recipes."""
    cases = [case for case in CASES if case.parent.name == "modelreplica"]
    pairs = [*(of_case(case) for case in cases), *(of_recipe(path) for path in COMPOSED.glob("*.yaml"))]

    assert set().union(*(added(*pair) for pair in pairs)) == ALL


def test_names_of_ours_are_those_that_a_reader_of_command_lines_knows() -> None:
    assert {name for name in ALL if name.startswith("MODELPLANE_")} == OURS


def of_case(case: Path) -> tuple[object, object]:
    """What a user writes, and what it becomes on the cluster."""
    composed = [plain(one.manifest) for one in answer(case).resources.values() if one.manifest["kind"] == "Object"]
    return load(case)[0].xr, [dig(one, "spec", "forProvider", "manifest") for one in composed]


def of_recipe(path: Path) -> tuple[object, object]:
    written = ROOT / "examples/recipes" / path.stem / "model.yaml"
    return [*yaml.safe_load_all(written.read_text())], [*yaml.safe_load_all(path.read_text())]


def added(written: object, composed: object) -> set[str]:
    """Names of the variables in containers of engines that their user did not write."""
    users = {variable["name"] for container in containers(written) for variable in dig_list(container, "env")}
    engines = (one for one in containers(composed) if one["name"] == ENGINE)
    return {variable["name"] for engine in engines for variable in dig_list(engine, "env")} - users


def containers(value: object) -> Iterator[Manifest]:
    """Yield the containers of every pod template in a value."""
    if isinstance(value, dict):
        yield from dig_list(value, "spec", "containers")
        for below in value.values():
            yield from containers(below)
    elif isinstance(value, (list, tuple)):
        for below in value:
            yield from containers(below)
