"""The pages that tests/e2e/test_install_page.py follows: what can be seen of them without a cluster."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e import pages

ROOT = Path(__file__).parents[2]
PAGES = ("install.md", "upgrade.md", "backup.md", "uninstall.md")
MADE = ("dist/", "backup/", "-")
"""What earlier commands of the pages write."""


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_command_applies_exists(page: str) -> None:
    named = [path for one in pages.blocks(page) for path in re.findall(r" (?:-f|--values) (\S+)", one.script)]

    assert named
    assert [path for path in named if not path.startswith(MADE) and not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_block_of_commands_is_overlooked(page: str) -> None:
    """An indented block, or one in another language, would be shown and never run."""
    text = (pages.DOCS / page).read_text()

    assert len(re.findall(r"^\s*```(?:shell|bash|sh|console)", text, re.MULTILINE)) == len(pages.blocks(page))


def test_a_line_that_no_command_printed_is_found() -> None:
    printed = "NAME   AGE\nqwen   3m5s\n"

    assert pages.differs("NAME AGE\nqwen 12s\n", printed) == ""
    assert pages.differs("NAME AGE\nllama 12s\n", printed) == "llama 12s"
