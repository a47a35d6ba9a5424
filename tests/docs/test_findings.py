"""The page about findings lists every code, with its meaning and its severity."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from function.main import main
from function.validation.finding import SEVERITIES

PAGE = (Path(__file__).parents[2] / "docs/findings.md").read_text()
LOG = json.loads(CliRunner().invoke(main, ["validate", "-o", "sarif", "-"], input="").output)
RULES = LOG["runs"][0]["tool"]["driver"]["rules"]
"""The rules of the SARIF output: the codes of validation, and those of files."""


def rows(heading: str) -> dict[str, str]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", section, re.MULTILINE))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_every_code_is_in_the_table_of_its_severity(severity: str) -> None:
    told = rows(f"{severity.capitalize()}s")
    rules = {
        rule["id"]: rule["shortDescription"]["text"]
        for rule in RULES
        if rule["defaultConfiguration"]["level"] == severity
    }

    assert told.items() >= rules.items()
    assert list(told) == sorted(told)


def test_every_code_that_is_named_exists() -> None:
    references = PAGE.partition("\n## References\n")[2].partition("\n## ")[0]

    cells = re.findall(r"\| (?:warning|note) (.*) \|", references)
    named = {code for cell in cells for code in re.findall(r"`([a-z-]+)`", cell)}
    assert named
    assert named <= {rule["id"] for rule in RULES}
