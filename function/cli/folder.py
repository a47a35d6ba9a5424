"""A folder into which a command writes files: nothing is written outside of it, and nothing is overwritten unasked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from function.core import visible


def check(path: Path, *, overwrites: bool) -> None:
    """Check that files can be written into a folder, which need not exist yet.

    Args:
        path: The folder.
        overwrites: Whether it may contain files already.

    Raises:
        ClickException: It is no folder, or it contains files.
    """
    shown = visible(str(path))
    try:
        if path.exists() and not path.is_dir():
            raise click.ClickException(f"{shown} is not a folder")
        if path.is_dir() and not overwrites and any(path.iterdir()):
            raise click.ClickException(f"{shown} is not empty; --force overwrites files in it")
    except OSError as problem:
        raise click.ClickException(f"{shown}: {problem.strerror}") from problem


def write(path: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder, each at once: a link in its place is replaced, not followed.

    Raises:
        ClickException: A file cannot be written, or its name leads out of the folder.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            _write(path, name, text)
    except OSError as problem:
        raise click.ClickException(f"{visible(str(problem.filename or path))}: {problem.strerror}") from problem


def _write(path: Path, name: str, text: str) -> None:
    if Path(name).name != name:
        raise click.ClickException(f"{visible(name)} is not the name of a file")
    handle, unfinished = tempfile.mkstemp(dir=path, prefix=".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(unfinished).chmod(0o644)
        Path(unfinished).replace(path / name)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
