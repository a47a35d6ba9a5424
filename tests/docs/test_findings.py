"""The page about findings lists every code, with its meaning and its severity."""

from __future__ import annotations

import re
from pathlib import Path

from function.cli.findings import UNREADABLE
from function.validation.finding import SEVERITIES

PAGE = (Path(__file__).parents[2] / "docs/findings.md").read_text()


def rows(heading: str) -> dict[str, str]:
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", section, re.MULTILINE))


def test_every_code_is_in_the_table_of_its_severity() -> None:
    told = {severity: rows(f"{severity.capitalize()}s") for severity in SEVERITIES}

    assert UNREADABLE in told["error"]
    del told["error"][UNREADABLE]
    assert told == SEVERITIES
    assert all(list(codes) == sorted(codes) for codes in told.values())


def test_every_code_that_is_named_exists() -> None:
    known = {code for codes in SEVERITIES.values() for code in codes} | {UNREADABLE}
    references = PAGE.partition("\n## References\n")[2].partition("\n## ")[0]

    named = {
        code
        for cell in re.findall(r"\| (?:warning|note) (.*) \|", references)
        for code in re.findall(r"`([a-z-]+)`", cell)
    }
    assert named
    assert named <= known
