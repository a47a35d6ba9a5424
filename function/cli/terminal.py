"""What the terminal and the environment ask for: colours, width, progress, hints. Each rule stands here once."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

import click

_DUMB = ("dumb", "unknown")
"""Values of TERM for terminals that cannot move the cursor."""
_QUIET = "function.cli.terminal.quiet"


def is_coloured(out: TextIO) -> bool:
    """Whether the output has colours. NO_COLOR wins over FORCE_COLOR (no-color.org, force-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (_is_terminal(out) and not _is_dumb())


def width(out: TextIO) -> int:
    """The number of columns to wrap text to; 0 if the output is not a terminal, where text is not wrapped."""
    return shutil.get_terminal_size().columns if _is_terminal(out) else 0


def shows_progress() -> bool:
    """Whether standard error is a terminal on which a line can be written again, and progress is wanted."""
    return _is_terminal(sys.stderr) and not _is_dumb() and not is_quiet()


def be_quiet(context: click.Context) -> None:
    """Show neither progress nor hints in the command that runs."""
    context.meta[_QUIET] = True


def is_quiet() -> bool:
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_QUIET))


def _is_terminal(out: TextIO | None) -> bool:
    """Whether it is a terminal. A stream that was closed before the program began is None."""
    return out is not None and out.isatty()


def _is_dumb() -> bool:
    return os.environ.get("TERM") in _DUMB
