"""Every example is valid, renders, and says what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from function import registry, validation
from function.cli import files
from function.main import main

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = sorted(EXAMPLES.rglob("*.yaml"))
FOLDERS = sorted({path.parent for path in FILES})
COMPOSITES = [
    f"{path}#{one.kind[1]}/{one.identity.name}"
    for path in FILES
    for one in files.load([path])
    if one.kind in registry.COMPOSERS
]


def shown(path: Path | str) -> str:
    return str(path).removeprefix(f"{EXAMPLES}/")


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_says_what_it_shows(path: Path) -> None:
    assert path.read_text().startswith("# ")


@pytest.mark.parametrize("folder", FOLDERS, ids=shown)
def test_is_valid(folder: Path) -> None:
    """But for the typo that the bad edit is about."""
    findings = validation.validate([one.manifest for one in files.load([folder])])

    got = [finding.code for finding in findings if finding.is_error]
    assert got == (["selector"] if folder.name == "bad-edit" else [])


@pytest.mark.parametrize("xr", COMPOSITES, ids=shown)
def test_renders(xr: str) -> None:
    got = CliRunner().invoke(main, ["render", xr, "--required-resources", str(Path(xr.partition("#")[0]).parent)])

    assert (got.exit_code, got.stderr) == (0, "")
