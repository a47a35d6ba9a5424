"""The threat model of docs/security.md: every threat says what holds its protection, and that is there."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT
from tests.tenancy.table import GROUPS

PAGE = ROOT / "docs/security.md"
SECTION = re.search(r"^## Threats$(.*?)^## ", PAGE.read_text(), re.MULTILINE | re.DOTALL)
KINDS = {"pretend", "change", "read", "stop", "gain", "deny"}


def rows() -> list[dict[str, str]]:
    """The rows of all tables of the section, by the heading of the column."""
    assert SECTION
    found, heading = [], []
    for line in SECTION[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if "held by" in cells:
            heading = cells
        elif cells and not set(cells[0]) <= {"-"}:
            found.append(dict(zip(heading, cells, strict=True)))
    return found


ROWS = rows()


@pytest.mark.parametrize("row", ROWS, ids=[row["threat"] for row in ROWS])
def test_a_threat_names_what_holds_its_protection_or_says_that_nothing_does(row: dict[str, str]) -> None:
    held = row["held by"]
    groups, files = set(re.findall(r"`([^`]+)`", held)), re.findall(r"\]\(\.\./([^)]+)\)", held)

    assert row["kind"] in KINDS
    assert groups <= GROUPS
    assert [file for file in files if not (ROOT / file).exists()] == []
    assert groups or files or held in ("not tested", "all groups")
    assert row["what prevents or limits it"]


def test_every_group_of_attacks_is_of_a_threat() -> None:
    named = {group for row in ROWS for group in re.findall(r"`([^`]+)`", row["held by"])}

    assert named == GROUPS


def test_every_test_of_this_folder_is_of_a_threat() -> None:
    """Or it is about all attacks, or about this page."""
    named = " ".join([row["held by"] for row in ROWS])
    here = {path.name for path in (ROOT / "tests/tenancy").glob("test_*.py")}

    assert {name for name in here if name not in named} == {"test_attacks.py", "test_threat_model.py"}
