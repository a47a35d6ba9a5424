"""docs/install.md tells of the packages as they are built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from function.vocabulary import versions
from package import build

DOCS = Path(__file__).parents[3] / "docs"
INSTALL = (DOCS / "install.md").read_text()


def test_every_version_of_ours_is_the_current_one() -> None:
    shown = set(re.findall(r"-modelplane[:-]v([0-9.]+[0-9])", INSTALL))

    assert shown == {build.version()}


@pytest.mark.slow
def test_the_tables_of_dependencies_are_those_of_the_package() -> None:
    """The page of the install has those that every fleet needs, and the reference those of clouds."""
    always = re.findall(r"^\| `([a-z-]+)` \| `(>=v[0-9.]+)` \|", INSTALL, re.MULTILINE)
    page = (DOCS / "reference/providers.md").read_text()
    clouds = re.findall(r"^\| `\S+/([a-z0-9-]+)` \| `([^`]+)` \|", page, re.MULTILINE)

    wanted = build.configuration()[0]["spec"]["dependsOn"]
    assert {*always, *clouds} == {(d["package"].rpartition("/")[2], d["version"]) for d in wanted}
    assert set(always).isdisjoint(clouds)


def test_the_names_of_installed_functions_are_those_that_crossplane_gives() -> None:
    rows = dict(re.findall(r"^\| `([a-z.]+/[a-z/-]+)` \| `([a-z-]+)` \|", INSTALL, re.MULTILINE))

    assert rows
    assert {package: build.installed_name(package) for package in rows} == rows
    assert versions.FUNCTION in rows.values()


def test_every_yaml_file_of_the_examples_holds_objects() -> None:
    """The crossplane CLI packs them, and builds nothing where it finds anything else (cli v2.5, xpkg build)."""
    paths = [path for ending in ("yaml", "yml") for path in sorted((build.ROOT / "examples").rglob(f"*.{ending}"))]
    documents = {path.name: [d for d in yaml.safe_load_all(path.read_text()) if d] for path in paths}

    assert paths
    assert [name for name, found in documents.items() if not all("kind" in each for each in found)] == []
