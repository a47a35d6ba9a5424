"""The page about kubectl shows the columns, names and reasons that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from function.core import EventReason, Reason, transitions
from function.publish import catalog, xrd
from function.publish.catalog import Kind
from function.vocabulary import conditions, events

PAGE = (Path(__file__).parents[2] / "docs/kubectl.md").read_text()
OF_CROSSPLANE = ["SYNCED", "READY", "COMPOSITION", "AGE"]
_CELLS = [[cell.strip() for cell in line.strip("| ").split(" |")] for line in PAGE.splitlines() if line.startswith("|")]
ROWS = {cells[0]: cells for cells in _CELLS}
"""The rows of the page's tables, by their first cell."""
EVENT_REASONS = {r.reason for m in (events, transitions) for r in vars(m).values() if isinstance(r, EventReason)}
REASONS = {r.reason for r in vars(conditions).values() if isinstance(r, Reason)}


@pytest.mark.parametrize("kind", catalog.KINDS, ids=lambda kind: kind.kind)
def test_each_kind_is_listed_with_its_columns_and_its_short_name(kind: Kind) -> None:
    _, short, shown, *wide = ROWS[kind.kind]
    assert short.strip("`") in kind.short_names
    ours = [column for column in xrd.columns(kind) if column.name not in ("REASON", "MESSAGE")]
    assert names(shown) == [column.name for column in ours if not column.wide]
    assert names("".join(wide)) == [column.name for column in ours if column.wide]


def names(text: str) -> list[str]:
    return re.findall(r"[A-Z][A-Z/-]+[A-Z]", text)


def test_every_table_that_is_shown_has_the_columns_of_a_kind() -> None:
    headers = [line.split() for line in PAGE.splitlines() if line.startswith("NAME ")]
    known = [
        ["NAME", *(column.name for column in xrd.columns(kind) if not column.wide), *OF_CROSSPLANE]
        for kind in catalog.KINDS
    ]
    assert headers
    assert [header for header in headers if header not in known] == []


def test_every_event_that_is_no_transition_is_listed() -> None:
    listed = {cells[0].strip("`") for name, cells in ROWS.items() if name.startswith("`")}
    assert listed == EVENT_REASONS


def test_every_reason_that_is_shown_is_one() -> None:
    shown = {line.split()[2] for line in PAGE.splitlines() if re.match(r"\d+s +(Normal|Warning)", line)}
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)` (?:on|and)", PAGE))
    assert shown
    assert named
    assert shown | named <= EVENT_REASONS | REASONS
