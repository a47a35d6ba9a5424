"""Tables and lines: plain and aligned in a pipe; on a terminal in colours, and wrapped between words.

Names and commands are never broken, so that they can be copied: one that is too wide exceeds the line.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TextIO

import click

from function.core import visible

Row = Sequence[str]

_INDENT = "  "
_NARROWEST = 24
"""Minimum width of wrapped text."""
_LAST_GAP = re.compile(r"^.*\S {2,}(?=\S)")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below a title. Empty columns are left out; without column names there is no header. Only the last column is
    wrapped.
    """

    title: str
    columns: Row
    rows: Sequence[Row]
    style: str = "bold"


@dataclass(frozen=True, slots=True)
class Lines:
    """Text below a title. Without a title, the style applies to the text."""

    title: str
    lines: Sequence[str]
    style: str = "bold"
    is_code: bool = False
    """Whether the lines are code, which is not wrapped. An indented line of a diff has the colour of its sign."""


Part = Table | Lines


@dataclass(frozen=True, slots=True)
class _Page:
    """The output device."""

    width: int
    """0 if unlimited."""
    coloured: bool

    def painted(self, text: str, style: str) -> str:
        """A text in a style: words of `click.style`, such as a colour, bold or dim."""
        words = style.split() if self.coloured and text else ()
        colour = next((word for word in words if word not in ("bold", "dim")), None)
        return click.style(text, fg=colour, bold="bold" in words or None, dim="dim" in words or None) if words else text


def show(parts: Sequence[Part], out: TextIO | None = None) -> None:
    """Print the parts that are not empty, to standard output by default."""
    is_seen = is_terminal(out or sys.stdout)
    page = _Page(shutil.get_terminal_size().columns, coloured=True) if is_seen else _Page(0, coloured=False)
    shown = [_visible(part) for part in parts if (part.rows if isinstance(part, Table) else part.lines)]
    click.echo("\n\n".join("\n".join(_shown(part, page)) for part in shown), file=out, color=page.coloured)


def dump(data: Mapping[str, Any], form: str) -> None:
    """Print data for machines, as json or yaml."""
    if form == "json":
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    import yaml

    click.echo(yaml.safe_dump(data, sort_keys=False, width=120, allow_unicode=True), nl=False)


def is_terminal(out: TextIO) -> bool:
    """Whether it is a terminal that wants colours (see no-color.org)."""
    return out.isatty() and not os.environ.get("NO_COLOR")


def aligned(columns: Row, rows: Sequence[Row]) -> list[str]:
    """Rows as plain text with aligned columns."""
    return list(_aligned(columns, rows, _Page(0, coloured=False)))


def _visible(part: Part) -> Part:
    """A part without control characters: names and messages come from files."""
    if isinstance(part, Table):
        return replace(part, rows=[[visible(cell) for cell in row] for row in part.rows])
    return replace(part, lines=[visible(line) for line in part.lines])


def _shown(part: Part, page: _Page) -> Iterator[str]:
    if part.title:
        yield page.painted(part.title, part.style)
    indent = _INDENT if part.title else ""
    inner = _Page(max(0, page.width - len(indent)), page.coloured)
    style = "" if part.title else part.style
    if isinstance(part, Lines) and part.is_code:
        yield from (
            f"{indent}{page.painted(line, _SIGNS.get(line.removeprefix(_INDENT)[:1], ''))}" for line in part.lines
        )
        return
    for line in _aligned(part.columns, part.rows, inner) if isinstance(part, Table) else _wrapped(part.lines, inner):
        yield f"{indent}{page.painted(line, style)}" if line else line


def _aligned(columns: Row, rows: Sequence[Row], page: _Page) -> Iterator[str]:
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    header = [[columns[i].upper() for i in kept]] if any(columns) else []
    table = [*header, *([row[i] for i in kept] for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(kept))]
    left = sum(widths[:-1]) + len(_INDENT) * (len(widths) - 1)
    for row in table:
        first, *more = _folded(row[-1], page.width - left) if page.width else [row[-1]]
        painted = [page.painted(cell, "dim" if row in header else _style(cell)) for cell in (*row[:-1], first)]
        padding = [" " * (width - len(cell)) for cell, width in zip(row[:-1], widths[:-1], strict=True)]
        yield _INDENT.join(cell + pad for cell, pad in zip(painted, (*padding, ""), strict=True)).rstrip()
        yield from (" " * left + line for line in more)


def _wrapped(lines: Sequence[str], page: _Page) -> Iterator[str]:
    """Wrapped lines, aligned with the line's last column or indented."""
    for line in lines:
        gap = _LAST_GAP.match(line)
        indent = len(line) - len(line.lstrip()) + len(_INDENT)
        hanging = gap.end() if gap and page.width - gap.end() >= _NARROWEST else indent
        yield from _folded(line, page.width, hanging) if page.width else [line]


def _folded(text: str, width: int, hanging: int = 0) -> list[str]:
    """A text wrapped to a width, with hanging indentation. Without enough room it is not wrapped."""
    if len(text) <= width or width - hanging < _NARROWEST:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=" " * hanging, break_long_words=False, break_on_hyphens=False
    )  # fmt: skip


def _style(cell: str) -> str:
    return _STYLES.get(cell.split(" ", maxsplit=1)[0], "")


_SIGNS = {"+": "green", "-": "red", "@": "dim"}
"""Styles of the lines of a diff by their first character."""
_STYLES: Mapping[str, str] = {
    "new": "green",
    "gone": "red",
    "lost": "red",
    "stays": "red",
    "fails": "red",
    "holds": "green",
    "removed": "yellow",
    "moved": "yellow",
    "updated": "yellow",
    "changed": "yellow",
    "carried": "green",
    "not": "red",
    "left": "red",
    "error": "red",
    "warning": "yellow",
    "starting": "yellow",
    "serves": "green",
    "Full": "yellow",
}
"""Styles by the first word of a cell."""
