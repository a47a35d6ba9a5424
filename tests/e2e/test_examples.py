"""Every example through the real CLI, as the docs tell a user, beside our own `modelplane render`."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from function.main import main
from tests.e2e import pins
from tests.e2e.control import FUNCTION, REPOSITORY, manifests
from tests.e2e.kube import Object
from tests.e2e.programs import Site
from tests.support import crossplane_flags

EXAMPLES = REPOSITORY / "examples"
GROUPS = ("modelplane.ai", "infrastructure.modelplane.ai")


def composites() -> dict[str, tuple[Path, Object]]:
    """Every object of ours in the examples, by folder, kind and name."""
    return {
        f"{path.relative_to(EXAMPLES)}:{one['kind']}/{one['metadata']['name']}": (path, one)
        for path in sorted(EXAMPLES.rglob("*.yaml"))
        for one in yaml.safe_load_all(path.read_text())
        if one and one["apiVersion"].partition("/")[0] in GROUPS
    }


CASES = composites()
OF_EACH_KIND = {xr["kind"]: name for name, (_, xr) in CASES.items()}.values()
"""One example of each kind. Golden cases show both releases of Crossplane to agree, so the older one renders these."""
RENDERS = [
    (release, name) for release in pins.CROSSPLANES for name in (CASES if release == pins.NEWEST else OF_EACH_KIND)
]


@pytest.fixture(scope="session")
def functions(site: Site) -> Path:
    return site.write(
        "functions.yaml",
        yaml.safe_dump(
            {
                "apiVersion": "pkg.crossplane.io/v1",
                "kind": "Function",
                "metadata": {"name": FUNCTION},
                "spec": {"package": f"xpkg.modelplane.ai/{FUNCTION}:v0.1.0"},
            }
        ),
    )


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest, site: Site, plaintext: str) -> list[Path | str]:
    """The real CLI's command, with the core that it renders by and the function that the core calls."""
    annotation = "--function-annotations=render.crossplane.io"
    return [
        site.program(pins.CLI),
        "composition",
        "render",
        f"{annotation}/runtime=Development",
        f"{annotation}/runtime-development-target={plaintext}",
        f"--crossplane-binary={site.program(pins.CROSSPLANE[request.param])}",
    ]


@pytest.mark.parametrize(("engine", "name"), RENDERS, indirect=["engine"])
def test_an_example_renders_as_our_own_command_renders_it(
    engine: list[Path | str], functions: Path, tmp_path: Path, name: str
) -> None:
    path, xr = CASES[name]
    arguments = [tmp_path / "xr.yaml", tmp_path / "composition.yaml", functions]
    arguments[0].write_text(yaml.safe_dump(xr))
    arguments[1].write_text(yaml.safe_dump(of_kind("compositions", xr["kind"])))
    required = tmp_path / "required.yaml"
    required.write_text(yaml.safe_dump_all(others(path.parent, xr)))
    options = ["--include-full-xr", "--include-function-results", f"--required-resources={required}"]

    assert ours(name, [*arguments, *options]) == run([*engine, *arguments, *options])


RENDERED: dict[str, list[dict[str, Any]]] = {}


def ours(name: str, arguments: Sequence[Path | str]) -> list[dict[str, Any]]:
    """What our own command prints of an example. It does not depend on the release of Crossplane."""
    if name not in RENDERED:
        done = CliRunner().invoke(main, ["render", *map(str, arguments)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        RENDERED[name] = read(done.stdout)
    return RENDERED[name]


def test_every_flag_of_the_real_command_is_known(site: Site) -> None:
    """tests/unit/cli/test_render.py gives each of them to ours."""
    command = [site.program(pins.CLI), "composition", "render", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    flags = re.findall(r"^ +(?:(-\w), )?(--[a-z-]+)", told.rpartition("\nFlags:\n")[2], re.MULTILINE)
    names = {name for _, name in flags} - {"--help"}
    assert names == {*crossplane_flags.MEANT, *crossplane_flags.MEANINGLESS}
    assert {short: name for short, name in flags if short and name != "--help"} == crossplane_flags.SHORT


def others(folder: Path, xr: Object) -> list[Object]:
    """A folder's objects but for the one that is rendered: given twice, the real renderer mixes the two up (v2.4.0)."""
    found = [one for path in sorted(folder.glob("*.yaml")) for one in yaml.safe_load_all(path.read_text())]
    return [one for one in found if one and one != xr]


def of_kind(folder: str, kind: str) -> Object:
    [found] = [one for one in manifests(folder) if one["spec"]["compositeTypeRef"]["kind"] == kind]
    return found


def run(command: list[Path | str]) -> list[dict[str, Any]]:
    """What a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return read(done.stdout)


def read(printed: str) -> list[dict[str, Any]]:
    """The documents; what is told of the reconcile is in no order."""
    documents = [one for one in yaml.safe_load_all(printed) if one]
    return sorted(documents, key=lambda one: one.get("message", "") if one["kind"] == "Result" else "")
