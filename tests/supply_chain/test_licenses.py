"""Every dependency has a licence that we may pass on, and the page of licences is current."""

import importlib.metadata
import json
import re
from pathlib import Path

import pytest

from package import licenses, locks
from package.locks import Locked

ROOT = locks.ROOT


@pytest.mark.parametrize("path", locks.LOCKS, ids=lambda path: path.name)
def test_licences_are_allowed(path: Path) -> None:
    assert licenses.refused(licenses.licensed(locks.read(path))) == []


def test_the_page_of_licences_is_current() -> None:
    assert licenses.PAGE.read_text() == licenses.page(), "run `make licenses`"


def distribution(folder: Path, text: str = "", **fields: str) -> importlib.metadata.Distribution:
    info = folder / "example-1.0.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.4", "Name: example", "Version: 1.0"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    (info / "LICENSE").write_text(text)
    (info / "RECORD").write_text("example-1.0.dist-info/LICENSE,,\n")
    return importlib.metadata.Distribution.at(info)


BSD = "Redistribution and use in source and binary forms, with or without modification, are permitted"


@pytest.mark.parametrize(
    ("text", "fields", "want"),
    [
        ("", {"License_Expression": "MIT OR Apache-2.0"}, "MIT OR Apache-2.0"),
        ("", {"License": "Apache License 2.0"}, "Apache-2.0"),
        ("", {"License": "UNKNOWN", "Classifier": "License :: OSI Approved :: MIT License"}, "MIT"),
        (BSD, {"Classifier": "License :: OSI Approved :: BSD License"}, "BSD-2-Clause"),
        (f"{BSD} ... Neither the name of", {"License": "Dual License"}, "BSD-3-Clause"),
        ("All rights reserved.", {"License": "UNKNOWN"}, None),
        ("", {"License_Expression": "GPL-3.0-only"}, "GPL-3.0-only"),
        ("", {"License": "GPL"}, None),
    ],
)
def test_a_licence_is_read_from_metadata_or_text(
    text: str, fields: dict[str, str], want: str | None, tmp_path: Path
) -> None:
    assert licenses.read(distribution(tmp_path, text, **fields)) == want


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
    ],
)
def test_an_expression_is_allowed_if_it_can_be_met(expression: str, allowed: bool) -> None:
    assert licenses.is_allowed(expression) is allowed


def test_what_is_not_installed_is_named() -> None:
    with pytest.raises(licenses.Unknown, match=r"nowhere 1\.0 is not installed"):
        licenses.expression(Locked("nowhere", "1.0", "", (), ()))


def test_noted_licences_agree_with_what_is_installed() -> None:
    here = {name: each for (name, _), each in licenses.installed().items() if name in licenses.ELSEWHERE}
    assert {name: licenses.read(each) for name, each in here.items()} == {
        name: licenses.ELSEWHERE[name] for name in here
    }


@pytest.mark.parametrize("folder", sorted(ROOT.glob("function/**/crds")), ids=lambda path: path.parent.name)
def test_copied_crds_name_their_source_and_licence(folder: Path) -> None:
    readme = (folder / "README.md").read_text()
    assert re.search(r"[\w-]+/[\w-]+ v\d[\w.-]*", readme)
    assert "Apache-2.0" in readme


def test_copied_schemas_of_tests_name_their_licences() -> None:
    folder = ROOT / "tests/data/crds"
    entries = json.loads((folder / "MANIFEST.json").read_text())
    assert {one["file"] for one in entries} == {path.name for path in folder.glob("*_*.json")}
    readme = (folder / "README.md").read_text()
    assert sorted({one["repo"] for one in entries if f"| {one['repo']} |" not in readme}) == []
