"""What the README and the docs show is true: commands run, links resolve, targets and examples exist."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import click
import promql_parser
import pytest
import yaml

from function import validation
from function.cel import selector
from function.cli import files
from function.main import main
from tests.docs import pages
from tests.docs.pages import ROOT, Block
from tests.docs.running import run

PLANNED = (0, 3)
"""A plan that changes something is no failure."""
LOST = (*PLANNED, 2)
"""Nor is it one of a what-if to find what would be lost."""
CONSOLE = pages.of("console", pages.WRITTEN)
RUN = sorted({command for block in CONSOLE for command in block.commands if command.startswith("modelplane ")})
UNCHECKED = {"text", "markdown", "diff"}
"""Languages of blocks in which nothing can be checked for itself."""


def told_codes() -> list[tuple[str, int]]:
    """The last command of each block, and the exit code that the text below it tells, if it tells one."""
    told = [(block, re.search(r"The exit code is (\d)", " ".join(block.below.split()))) for block in CONSOLE]
    return [(block.commands[-1], int(code[1])) for block, code in told if code]


TOLD = told_codes()


@pytest.mark.parametrize("command", RUN)
def test_every_command_that_is_shown_runs(command: str) -> None:
    """Only convert has something to say on standard error, its report, and what is told to fail, an error."""
    got = run(command)

    fails = (command, 1) in TOLD
    wanted = (1,) if fails else LOST if command.startswith("modelplane what-if ") else PLANNED
    reports = command.startswith("modelplane convert ")
    said = bool(got.stderr), not {"error", "error:"}.isdisjoint(got.stderr.split())
    assert (got.returncode in wanted, *said) == (True, reports or fails, fails)


@pytest.mark.parametrize(("command", "code"), TOLD)
def test_every_exit_code_that_is_told_is_that_of_the_command(command: str, code: int) -> None:
    assert run(command).returncode == code


def test_some_exit_codes_are_told() -> None:
    assert len(TOLD) >= 3


def test_every_block_names_a_language() -> None:
    """One whose blocks are checked, or one of plain text. Diagrams of Mermaid would load a script from another host."""
    strange = {
        f"{pages.name(page)}: {block.language or 'none'}"
        for page in pages.ALL
        for block in pages.blocks(page)
        if block.language not in {*CHECKS, *UNCHECKED, "console", "shell", "sh"}
    }

    assert strange == set()


@pytest.mark.parametrize("page", pages.ALL, ids=pages.name)
def test_every_block_of_data_can_be_read(page: Path) -> None:
    """YAML of objects is valid, too. Pieces of one have no apiVersion."""
    wrong = {block.text: problem for block in pages.blocks(page) if (problem := problem_of(block))}

    assert wrong == {}


def problem_of(block: Block) -> str:
    check = CHECKS.get(block.language)
    try:
        return check(block) if check else ""
    except Exception as problem:  # noqa: BLE001 (each language has its own)
        return f"{type(problem).__name__}: {problem}"


def of_yaml(block: Block) -> str:
    if re.search(r"^apiVersion: ", block.text, re.MULTILINE) and re.search(r"^kind: ", block.text, re.MULTILINE):
        manifests = [one.manifest for one in files.parse(block.text, block.page.name)]
        return "; ".join(finding.message for finding in validation.validate(manifests))
    list(yaml.safe_load_all(block.text))
    return ""


def of_cel(block: Block) -> str:
    selector.compiled(block.text.strip())
    return ""


CHECKS = {
    "yaml": of_yaml,
    "cel": of_cel,
    "json": lambda block: json.loads(block.text) and "",
    "toml": lambda block: tomllib.loads(block.text) and "",
    "promql": lambda block: promql_parser.parse(block.text) and "",
}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("yaml", "a: [b"),
        ("yaml", "apiVersion: modelplane.ai/v1alpha1\nkind: ModelCache\nmetadata: {name: a, namespace: b}\n"),
        ("json", "{"),
        ("toml", "a"),
        ("promql", "sum("),
        ("cel", "device."),
    ],
)
def test_a_block_that_is_wrong_would_be_found(language: str, text: str) -> None:
    assert problem_of(Block(ROOT / "README.md", language, text, ""))


@pytest.mark.parametrize("page", pages.ALL, ids=pages.name)
def test_every_command_that_is_named_in_passing_exists(page: Path) -> None:
    named = set(re.findall(r"`modelplane ([a-z-]+)", page.read_text()))

    assert named - set(main.list_commands(click.Context(main))) == set()


@pytest.mark.parametrize("page", pages.ALL, ids=pages.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """To a file or a folder that is there, and to a heading that is in it."""
    broken = [link for link in pages.links(page) if not is_there(page, *link.partition("#")[::2])]

    assert broken == []


def is_there(page: Path, path: str, heading: str) -> bool:
    target = page.parent / path if path else page
    return target.exists() and (not heading or heading in pages.anchors(target))


@pytest.mark.parametrize("page", pages.ALL, ids=pages.name)
def test_code_is_shown_as_it_is_written(page: Path) -> None:
    """Markdown does not look for entities in code."""
    code = re.findall(r"`[^`\n]+`", page.read_text())

    assert [one for one in code if re.search(r"&(lt|gt|amp|quot);", one)] == []


def test_the_demo_shows_what_the_readme_says() -> None:
    """Every line of the README's excerpt, as far as it goes, is a line of the demo."""
    excerpt = pages.of("text", [ROOT / "README.md"])[0].text
    lines = [line.rstrip("…").rstrip() for line in excerpt.splitlines() if line.strip(" …")]

    got = run("modelplane plan examples/tour")

    shown = got.stdout.splitlines()
    assert [line for line in lines if not any(s.startswith(line) for s in shown)] == []


def shown_outputs() -> list[tuple[str, str]]:
    """The last command of each block that is followed at once by what it prints, and that text."""
    pairs = [(one, two) for page in pages.WRITTEN for one, two in pairwise(pages.blocks(page))]
    return [
        (one.commands[-1], two.text)
        for one, two in pairs
        if (one.language, two.language, one.below) == ("console", "text", "\n\n")
    ]


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
