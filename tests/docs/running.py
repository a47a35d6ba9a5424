"""Runs the command line as a process of its own, without starting Python and importing everything each time."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import click

from function import planning, validation  # noqa: F401 (a child need not import them)
from function.main import main
from tests.docs.pages import ROOT


class Completed(NamedTuple):
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


@cache
def run(command: str) -> Completed:
    """Run `modelplane …` in the repository. A command runs once, however many tests ask for it."""
    _, *arguments = shlex.split(command)
    preload(arguments)
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        child = os.fork()
        if child == 0:
            _become(arguments, stdout.fileno(), stderr.fileno())
        _, status = os.waitpid(child, 0)
        stdout.seek(0)
        stderr.seek(0)
        return Completed(os.waitstatus_to_exitcode(status), stdout.read(), stderr.read())


def preload(arguments: Sequence[str]) -> None:
    """Import the module of a command."""
    main.get_command(click.Context(main), arguments[0])


def parsed(arguments: Sequence[str]) -> click.Context:
    """The context of a command line. Raises UsageError if it is wrong."""
    rest, command, context = list(arguments), main, main.make_context("modelplane", list(arguments))
    while isinstance(command, click.Group):
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None
        context = found.make_context(name, list(rest), parent=context)
        command = found
    return context


def _become(arguments: Sequence[str], stdout: int, stderr: int) -> None:
    """Run the command line in this process, and end it."""
    code = 1
    try:
        os.chdir(ROOT)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        main(list(arguments), prog_name="modelplane")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 (a child never returns)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
