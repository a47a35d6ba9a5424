"""The command line as a whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from function.main import main

ENDPOINT = """apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: outside, namespace: ml-team}
spec: {url: "https://api.example.org"}
"""
COMMANDS = main.list_commands(click.Context(main))


def paths() -> list[tuple[str, ...]]:
    """Every command, and every command of a group."""
    found = []
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        inner = command.list_commands(click.Context(command)) if isinstance(command, click.Group) else ()
        found += [(name, sub) for sub in inner] or [(name,)]
    return found


@pytest.mark.parametrize("path", paths(), ids=" ".join)
def test_every_command_shows_how_it_is_used(path: tuple[str, ...]) -> None:
    got = CliRunner().invoke(main, [*path, "--help"])

    assert (got.exit_code, f"  modelplane {' '.join(path)} " in got.output) == (0, True), got.output


@pytest.mark.parametrize("path", paths(), ids=" ".join)
def test_every_command_says_what_its_exit_codes_mean(path: tuple[str, ...]) -> None:
    """Each code that it can end with, 2 for a wrong option included."""
    output = CliRunner().invoke(main, [*path, "--help"]).output

    codes = {line.split()[0] for line in output.partition("Exit codes:")[2].splitlines() if line.strip()}
    assert {"0", "1", "2"} <= codes, output


@pytest.mark.parametrize("path", [(), ("cel",)], ids=["modelplane", "cel"])
def test_a_list_of_commands_says_each_in_full(path: tuple[str, ...]) -> None:
    assert "..." not in CliRunner().invoke(main, [*path, "--help"]).output.partition("Commands:")[2]


def test_the_list_of_commands_imports_none_of_them() -> None:
    program = "import sys; from function.main import main; main(['--help'], standalone_mode=False); print(*sys.modules)"

    got = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    *shown, modules = got.stdout.splitlines()
    heavy = {"pydantic", "grpc", "yaml", "celpy", "rich"} & set(modules.split())
    assert ([c for c in COMMANDS if not any(line.strip().startswith(c) for line in shown)], heavy) == ([], set())


def test_a_bug_is_one_line_and_its_frames_are_there_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither shows a value: a Secret may be in the exception's message, and in a local variable."""

    def broken(*_: object) -> None:
        token = "hf_secret"
        raise KeyError(token)

    monkeypatch.setattr("function.cli.plan.checked", broken)
    quiet = CliRunner().invoke(main, ["plan", "x"])
    monkeypatch.setenv("MODELPLANE_TRACEBACK", "1")
    loud = CliRunner().invoke(main, ["plan", "x"])

    told = re.fullmatch(
        r"Error: a bug in modelplane at .*function\.cli\.plan:\d+ \(set MODELPLANE_TRACEBACK=1 .*\)\n",
        quiet.stderr,
    )
    assert (quiet.exit_code, loud.exit_code, bool(told)) == (1, 1, True)
    assert loud.stderr.endswith(quiet.stderr)
    assert "test_main:" in loud.stderr
    assert "hf_secret" not in quiet.output + loud.output


@pytest.mark.parametrize("command", ["plan", "what-if"])
@pytest.mark.parametrize("arguments", [[], ["x", "--bogus"], ["x", "-o", "csv"]])
def test_a_wrong_option_of_plan_is_an_error_and_never_a_loss(command: str, arguments: list[str]) -> None:
    """Exit code 2 is kept for what a plan would lose."""
    assert CliRunner().invoke(main, [command, *arguments]).exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", ["plan", "validate"])
def test_a_stream_of_few_letters_is_no_bug(command: str, tmp_path: Path) -> None:
    """It is written as UTF-8 all the same."""
    (tmp_path / "\u00fc").mkdir()
    (tmp_path / "\u00fc/a.yaml").write_text(ENDPOINT)

    got = subprocess.run(
        [sys.executable, "-c", "from function.main import main; main()", command, str(tmp_path / "\u00fc")],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False,
    )  # fmt: skip

    assert (got.returncode in (0, 3), got.stderr) == (True, b"")
