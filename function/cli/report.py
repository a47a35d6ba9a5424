"""Tables and lines: plain and aligned in a pipe; on a terminal in colours, and wrapped between words.

A name is never broken, nor is a command: what is too wide for a terminal runs on there, so that it can be copied.
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
"""Columns below which a text is not squeezed."""
_LAST_GAP = re.compile(r"^.*\S {2,}(?=\S)")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below a title. Columns that are empty throughout are left out; where none has a name there is no header.
    The last column is prose: it may be wrapped, and no other.
    """

    title: str
    columns: Row
    rows: Sequence[Row]
    style: str = "bold"


@dataclass(frozen=True, slots=True)
class Lines:
    """Text below a title; without one the style is the text's own."""

    title: str
    lines: Sequence[str]
    style: str = "bold"


Part = Table | Lines


@dataclass(frozen=True, slots=True)
class _Page:
    """Where it is printed."""

    width: int
    """0 where lines have no end."""
    coloured: bool

    def painted(self, text: str, style: str) -> str:
        """A style is what `click.style` knows: a colour, bold, dim."""
        words = style.split() if self.coloured and text else ()
        colour = next((word for word in words if word not in ("bold", "dim")), None)
        return click.style(text, fg=colour, bold="bold" in words or None, dim="dim" in words or None) if words else text


def show(parts: Sequence[Part], out: TextIO | None = None) -> None:
    """Print the parts that have something to say, on standard output if nothing else is given."""
    is_seen = is_terminal(out or sys.stdout)
    page = _Page(shutil.get_terminal_size().columns, coloured=True) if is_seen else _Page(0, coloured=False)
    said = [_visible(part) for part in parts if (part.rows if isinstance(part, Table) else part.lines)]
    click.echo("\n\n".join("\n".join(_shown(part, page)) for part in said), file=out, color=page.coloured)


def dump(data: Mapping[str, Any], form: str) -> None:
    """Print data for machines, as json or yaml."""
    if form == "json":
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    import yaml

    click.echo(yaml.safe_dump(data, sort_keys=False, width=120, allow_unicode=True), nl=False)


def is_terminal(out: TextIO) -> bool:
    """Whether a person looks at it. NO_COLOR (no-color.org) asks for plain text there too."""
    return out.isatty() and not os.environ.get("NO_COLOR")


def aligned(columns: Row, rows: Sequence[Row]) -> list[str]:
    """Rows as plain text, their columns under each other."""
    return list(_aligned(columns, rows, _Page(0, coloured=False)))


def _visible(part: Part) -> Part:
    """Names and messages of others are in it: none of them may command a terminal."""
    if isinstance(part, Table):
        return replace(part, rows=[[visible(cell) for cell in row] for row in part.rows])
    return replace(part, lines=[visible(line) for line in part.lines])


def _shown(part: Part, page: _Page) -> Iterator[str]:
    if part.title:
        yield page.painted(part.title, part.style)
    indent = _INDENT if part.title else ""
    inner = _Page(max(0, page.width - len(indent)), page.coloured)
    style = "" if part.title else part.style
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
    """Each below the beginning of its own last column, or a little to the right of its first word."""
    for line in lines:
        gap = _LAST_GAP.match(line)
        indent = len(line) - len(line.lstrip()) + len(_INDENT)
        hanging = gap.end() if gap and page.width - gap.end() >= _NARROWEST else indent
        yield from _folded(line, page.width, hanging) if page.width else [line]


def _folded(text: str, width: int, hanging: int = 0) -> list[str]:
    """A text in lines of some width, all but the first of which hang. One that has no room runs on."""
    if len(text) <= width or width - hanging < _NARROWEST:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent=" " * hanging, break_long_words=False, break_on_hyphens=False
    )  # fmt: skip


def _style(cell: str) -> str:
    return _STYLES.get(cell.split(" ", maxsplit=1)[0], "")


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
    "starting": "yellow",
    "serves": "green",
    "Full": "yellow",
}
"""By the first word of a cell."""
