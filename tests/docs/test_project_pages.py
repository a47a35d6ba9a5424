"""The changelog, the release checklist and the templates for issues fit what they are about."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.pages import ROOT

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
RELEASE = (ROOT / "docs/release.md").read_text()
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
KINDS_OF_CHANGE = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_changelog_begins_with_what_is_not_released_and_has_this_version() -> None:
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    released = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", heading) for heading in headings[1:]]

    assert headings[0] == "[Unreleased]"
    assert all(released)
    assert VERSION in {found[1] for found in released if found}
    assert [date.fromisoformat(found[2]) for found in released if found]


def test_the_changelog_has_the_usual_kinds_of_changes() -> None:
    assert set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)) <= KINDS_OF_CHANGE


def test_the_release_checklist_names_every_file_that_has_the_version() -> None:
    shipped = [
        ROOT / "pyproject.toml",
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs/ci").iterdir(),
    ]
    code = [
        path
        for folder in ("function", "package")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".yaml"}
    ]
    own = re.compile(rf"(?:modelplane[^\s\"]*[:=]+v?|>=v|^version = \"|rev: v){re.escape(VERSION)}\b", re.MULTILINE)
    found = {str(path.relative_to(ROOT)) for path in [*shipped, *code] if own.search(path.read_text())}

    assert len(found) > 4
    assert {path for path in found - {"docs/release.md"} if f"`{path}`" not in RELEASE} == set()


@pytest.mark.parametrize("path", re.findall(r"`([\w.-]+(?:/[\w.-]+)+|\w+\.(?:md|toml|lock))`", RELEASE))
def test_every_file_that_the_checklist_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_checklist_runs_every_suite() -> None:
    suites = re.findall(r"^([a-z0-9]+):.*?## (?:All|Print|Selectors)", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert len(suites) == 4
    assert [suite for suite in suites if f"make {suite}\n" not in RELEASE] == []


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_for_issues_is_one_that_github_takes(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    fields = [one for one in form["body"] if one["type"] != "markdown"]
    ids = [one["id"] for one in fields]

    assert {"name", "description", "body"} <= form.keys() <= {"name", "description", "body", "labels", "title", "type"}
    assert fields
    assert len(set(ids)) == len(ids)
    assert [one for one in form["body"] if (problem := field_problem(one))] == [], problem


def field_problem(one: dict[str, Any]) -> str:
    """What GitHub would refuse of a field of a form."""
    attributes, kind = one.get("attributes", {}), one["type"]
    needed = {"markdown": {"value"}, "dropdown": {"label", "options"}, "checkboxes": {"label", "options"}}
    if kind not in {"markdown", "textarea", "input", "dropdown", "checkboxes"}:
        return f"type {kind}"
    if not needed.get(kind, {"label"}) <= attributes.keys():
        return f"attributes of {kind}"
    if kind != "markdown" and not re.fullmatch(r"[\w-]+", one["id"]):
        return f"id {one['id']}"
    strange = one.keys() - {"type", "id", "attributes", "validations"}
    return f"{strange}" if strange or one.get("validations", {}).keys() - {"required"} else ""


@pytest.mark.parametrize(
    "one",
    [
        {"type": "text", "id": "a", "attributes": {"label": "A"}},
        {"type": "dropdown", "id": "a", "attributes": {"label": "A"}},
        {"type": "input", "id": "a b", "attributes": {"label": "A"}},
        {"type": "input", "id": "a", "attributes": {"label": "A"}, "required": True},
    ],
)
def test_a_wrong_field_is_found(one: dict[str, Any]) -> None:
    assert field_problem(one)
