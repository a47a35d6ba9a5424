"""What the README and the docs show is true: commands run, links resolve, targets and examples exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PLANNED = (0, 3)
"""A plan that changes something is no failure."""


def commands(page: Path) -> list[str]:
    """The lines that a page tells its reader to type."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def links(page: Path) -> list[str]:
    return [link for link in re.findall(r"\]\(([^)]+)\)", page.read_text()) if "://" not in link]


SHOWN = [(page, command) for page in PAGES for command in commands(page)]
RUN = sorted({command for _, command in SHOWN if command.startswith("modelplane ")})
MADE = sorted({command for _, command in SHOWN if command.startswith("make ")})


@pytest.mark.parametrize("command", RUN)
def test_every_command_that_is_shown_runs(command: str) -> None:
    _, *arguments = shlex.split(command)

    got = subprocess.run(
        [sys.executable, "-c", "from function.main import main; main()", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (got.returncode in PLANNED, got.stderr) == (True, "")


@pytest.mark.parametrize("command", MADE)
def test_every_target_that_is_shown_exists(command: str) -> None:
    assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_nothing_is_shown_that_is_neither_run_nor_made() -> None:
    rest = [c for _, c in SHOWN if not c.startswith(("modelplane ", "make "))]

    assert rest == ['export PATH="$PWD/.venv/bin:$PATH"']


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = [link for link in links(page) if not (page.parent / link.partition("#")[0]).exists()]

    assert broken == []


def test_the_demo_shows_what_the_readme_says() -> None:
    """Every line of the README's excerpt, as far as it goes, is a line of the demo."""
    (excerpt,) = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    lines = [line.rstrip("…").rstrip() for line in excerpt.splitlines() if line.strip(" …")]

    got = subprocess.run(
        [sys.executable, "-c", "from function.main import main; main()", "plan", "examples/tour"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    shown = got.stdout.splitlines()
    assert [line for line in lines if not any(s.startswith(line) for s in shown)] == []
