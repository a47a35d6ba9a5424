"""The option `--html`: writes the fleet as a picture, and leaves what the command prints as it is."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

import click

from function.cli.content import STDIN
from function.core import visible

_READ_BY_PEOPLE = ("table", "text")
"""Values of `--output` for reports that are not data."""

option = click.option(
    "--html",
    "page",
    metavar="FILE",
    help="Write the fleet as a picture: one HTML file. With -, the page goes to standard output, and the report to "
    "standard error.",
)


def check(html: str | None, form: str) -> None:
    """Check that the page can be written, before a long plan begins.

    Args:
        html: The value of the option.
        form: The value of `--output`.

    Raises:
        ClickException: The file cannot be written.
        UsageError: The page and the report would both be data on standard output.
    """
    if html == STDIN and form not in _READ_BY_PEOPLE:
        raise click.UsageError(f"--html - and -o {form} both write to standard output: name a file for one of them")
    if html is None or html == STDIN:
        return
    path = Path(html)
    if path.is_dir():
        raise _unwritable(html, "it is a folder; name a file in it")
    if not path.parent.is_dir():
        raise _unwritable(html, f"there is no folder {visible(str(path.parent))}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise _unwritable(html, "permission denied")


def report_of(html: str | None) -> AbstractContextManager[Any]:
    """Where the report goes: to standard error if the page is on standard output."""
    return redirect_stdout(sys.stderr) if html == STDIN else nullcontext()


def write(html: str, text: str) -> None:
    """Write a page. A file is replaced at once, so that it is never half written. Raises ClickException."""
    if html == STDIN:
        click.echo(text, nl=False)
        return
    path = Path(html)
    try:
        if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path.resolve(), text)
    except OSError as problem:
        raise _unwritable(html, problem.strerror or str(problem)) from problem


def _replace(path: Path, text: str) -> None:
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(unfinished).chmod(0o644)
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


def _unwritable(html: str, why: str) -> click.ClickException:
    return click.ClickException(f"--html {visible(html)}: cannot be written: {why}")
