"""Every alert has a page, and every page an alert."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.monitoring.test_queries import RULES

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs/runbooks/alerts"
PAGES = sorted(FOLDER.glob("*.md"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_leads_to_its_page(rule: dict) -> None:
    assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
    assert rule["annotations"]["runbook_url"] == f"docs/runbooks/alerts/{rule['alert']}.md"
    assert (ROOT / rule["annotations"]["runbook_url"]).is_file()
    assert rule["labels"]["severity"] in {"critical", "warning"}


def test_there_is_no_page_without_an_alert() -> None:
    assert {page.stem for page in PAGES} == {rule["alert"] for rule in RULES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_four_parts(page: Path) -> None:
    headings = re.findall(r"^#+ .*$", page.read_text(), re.MULTILINE)

    assert headings == [f"# {page.stem}", "## Meaning", "## Impact", "## Diagnosis", "## Mitigation"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_links_to_what_there_is(page: Path) -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", page.read_text())]

    assert [link for link in links if not (page.parent / link).is_file()] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_the_overview_lists_the_alert_with_its_page(rule: dict) -> None:
    row = f"| [{rule['alert']}](runbooks/alerts/{rule['alert']}.md) | {rule['labels']['severity']} |"

    assert row in (ROOT / "docs/monitoring.md").read_text()
