"""What the README and the docs show is true: commands run, links resolve, targets and examples exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from function import validation
from function.cli import files
from function.main import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
ALL_PAGES = [*PAGES, *sorted((ROOT / "docs/reference").glob("*.md"))]
PLANNED = (0, 3)
"""A plan that changes something is no failure."""
LOST = (*PLANNED, 2)
"""Nor is it one of a what-if to find what would be lost."""


def run(command: str) -> subprocess.CompletedProcess[str]:
    _, *arguments = shlex.split(command)
    return subprocess.run(
        [sys.executable, "-c", "from function.main import main; main()", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def commands(page: Path) -> list[str]:
    """The lines that a page tells its reader to type."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def links(page: Path) -> list[str]:
    return [link for link in re.findall(r"\]\(([^)]+)\)", page.read_text()) if "://" not in link]


SHOWN = [(page, command) for page in PAGES for command in commands(page)]
RUN = sorted({command for _, command in SHOWN if command.startswith("modelplane ")})
MADE = sorted({command for _, command in SHOWN if command.startswith("make ")})


def told_codes(page: Path) -> list[tuple[str, int]]:
    """The last command of each block, and the exit code that the text below it tells, if it tells one."""
    found = []
    for block, below in re.findall(r"```console\n(.*?)```(.*?)(?=```|\n## |\Z)", page.read_text(), re.DOTALL):
        code = re.search(r"The exit code is (\d)", " ".join(below.split()))
        found += [(block.splitlines()[-1].removeprefix("$ "), int(code.group(1)))] if code else []
    return found


TOLD = [told for page in PAGES for told in told_codes(page)]


@pytest.mark.parametrize("command", RUN)
def test_every_command_that_is_shown_runs(command: str) -> None:
    """Only convert has something to say on standard error, its report, and what is told to fail, an error."""
    got = run(command)

    fails = (command, 1) in TOLD
    wanted = (1,) if fails else LOST if command.startswith("modelplane what-if ") else PLANNED
    reports = command.startswith("modelplane convert ")
    said = bool(got.stderr), not {"error", "error:"}.isdisjoint(got.stderr.split())
    assert (got.returncode in wanted, *said) == (True, reports or fails, fails)


@pytest.mark.parametrize("command", MADE)
def test_every_target_that_is_shown_exists(command: str) -> None:
    assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_nothing_is_shown_that_is_neither_run_nor_made() -> None:
    rest = [c for _, c in SHOWN if not c.startswith(("modelplane ", "make "))]

    assert rest == ['export PATH="$PWD/.venv/bin:$PATH"']


@pytest.mark.parametrize(("command", "code"), TOLD)
def test_every_exit_code_that_is_told_is_that_of_the_command(command: str, code: int) -> None:
    assert run(command).returncode == code


def test_some_exit_codes_are_told() -> None:
    assert len(TOLD) >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_object_that_is_shown_is_valid(page: Path) -> None:
    """Pieces of one have no apiVersion and are passed over."""
    blocks = [b for b in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL) if b.startswith("apiVersion: ")]

    findings = [validation.validate([one.manifest for one in files.parse(block, page.name)]) for block in blocks]

    assert [finding.message for found in findings for finding in found] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_named_in_passing_exists(page: Path) -> None:
    named = set(re.findall(r"`modelplane ([a-z-]+)", page.read_text()))

    assert named - set(main.list_commands(click.Context(main))) == set()


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """To a file or a folder that is there, and to a heading that is in it."""
    broken = [link for link in links(page) if not is_there(page, *link.partition("#")[::2])]

    assert broken == []


def is_there(page: Path, path: str, heading: str) -> bool:
    target = page.parent / path if path else page
    return target.exists() and (not heading or heading in anchors(target))


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_code_is_shown_as_it_is_written(page: Path) -> None:
    """Markdown does not look for entities in code."""
    code = re.findall(r"`[^`\n]+`", page.read_text())

    assert [one for one in code if re.search(r"&(lt|gt|amp|quot);", one)] == []


def test_the_demo_shows_what_the_readme_says() -> None:
    """Every line of the README's excerpt, as far as it goes, is a line of the demo."""
    (excerpt,) = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    lines = [line.rstrip("…").rstrip() for line in excerpt.splitlines() if line.strip(" …")]

    got = run("modelplane plan examples/tour")

    shown = got.stdout.splitlines()
    assert [line for line in lines if not any(s.startswith(line) for s in shown)] == []


def shown_outputs() -> list[tuple[str, str]]:
    """The last command of each block that is followed at once by what it prints, and that text."""
    pairs = re.compile(r"```console\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
    found = [pair for page in PAGES for pair in pairs.findall(page.read_text())]
    return [(block.splitlines()[-1].removeprefix("$ "), text) for block, text in found]


OUTPUTS = shown_outputs()


@pytest.mark.parametrize(("command", "text"), OUTPUTS)
def test_every_output_that_is_shown_is_that_of_the_command(command: str, text: str) -> None:
    """Of its lines, those that are shown: whole, next to each other."""
    assert f"\n{text}" in f"\n{run(command).stdout}"


def test_some_outputs_are_shown() -> None:
    assert len(OUTPUTS) >= 4


def test_the_page_for_contributors_lists_every_package() -> None:
    packages = {path.parent.name for path in (ROOT / "function").glob("*/__init__.py")}
    listed = set(re.findall(r"`(\w+)(?:/[\w<>]+)?`", (ROOT / "docs/development.md").read_text()))
    assert packages - listed == set()
