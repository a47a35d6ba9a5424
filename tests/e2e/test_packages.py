"""Our packages beside those that the real crossplane CLI builds of the same files."""

import gzip
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from package import build, xpkg
from tests.e2e import pins
from tests.e2e.programs import Site

META = {"Configuration": build.configuration, "Function": build.function}


@pytest.fixture
def cli(site: Site) -> Path:
    return site.program(pins.CLI)


@pytest.mark.parametrize("kind", META)
def test_a_package_holds_what_the_real_cli_would_pack(cli: Path, tmp_path: Path, kind: str) -> None:
    """The CLI also lints: a kind that a package cannot carry fails its build."""
    manifests = META[kind]()
    stage, theirs, ours = tmp_path / "stage", tmp_path / "theirs.xpkg", tmp_path / "ours.xpkg"
    stage.mkdir()
    for index, manifest in enumerate(manifests):
        (stage / f"{index:02}.yaml").write_text(yaml.safe_dump(manifest))

    subprocess.run([cli, "xpkg", "build", "-f", stage, "-o", theirs], check=True, timeout=60)
    xpkg.write(xpkg.package(manifests), ours)

    assert extracted(cli, ours) == extracted(cli, theirs)


def extracted(cli: Path, package: Path) -> dict[tuple[str, str], Any]:
    """What the CLI finds in a package, by kind and name, without what Go writes of empty fields."""
    stream = package.with_suffix(".gz")
    subprocess.run([cli, "xpkg", "extract", "--from-xpkg", package, "-o", stream], check=True, timeout=60)
    found = [document for document in yaml.safe_load_all(gzip.decompress(stream.read_bytes())) if document]
    return {(one["kind"], one["metadata"]["name"]): {k: v for k, v in one.items() if k != "status"} for one in found}
