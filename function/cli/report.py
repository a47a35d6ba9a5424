"""Tables and lines: plain and aligned in a pipe; on a terminal in colours, and wrapped between words.

Names and commands are never broken, so that they can be copied: one that is too wide exceeds the line.
"""

from __future__ import annotations

import io
import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TextIO

import click

from function.cli import terminal
from function.core import visible

Row = Sequence[str]

_INDENT = "  "
_NARROWEST = 24
"""Minimum width of wrapped text."""
_BLANKS = re.compile(r" +(\x1b\[0m)?$")
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
    page = _Page(terminal.width(out or sys.stdout), terminal.is_coloured(out or sys.stdout))
    shown = [_visible(part) for part in parts if (part.rows if isinstance(part, Table) else part.lines)]
    click.echo("\n\n".join("\n".join(_shown(part, page)) for part in shown), file=out, color=page.coloured)


def dump(data: Mapping[str, Any], form: str) -> None:
    """Print data for machines, as json or yaml. What the command skipped in its input is in `skipped`."""
    from function.cli.inputs import noted

    data = {**data, **noted()}
    if form == "json":
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    import yaml

    click.echo(yaml.safe_dump(data, sort_keys=False, width=120, allow_unicode=True), nl=False)


def aligned(columns: Row, rows: Sequence[Row]) -> list[str]:
    """Rows as plain text with aligned columns."""
    header, table = _kept(columns, rows)
    lines = [*header, *table]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


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
    for line in _rows(part, inner) if isinstance(part, Table) else _lines(part, inner):
        yield f"{indent}{line}" if line else line


def _rows(part: Table, page: _Page) -> Iterable[str]:
    """The lines of a table. A pipe gets them without rich, which takes half a millisecond for each row."""
    if not page.width and not page.coloured:
        return aligned(part.columns, part.rows)
    header, rows = _kept(part.columns, part.rows)
    cells = [
        *([(cell, "dim") for cell in row] for row in header),
        *([(cell, _style(cell)) for cell in row] for row in rows),
    ]
    return _laid_out(cells, page)


def _lines(part: Lines, page: _Page) -> Iterator[str]:
    """Lines. One that is too wide is wrapped, and aligned with its last column or indented."""
    style = "" if part.title else part.style
    if part.is_code:
        yield from (page.painted(line, _SIGNS.get(line.removeprefix(_INDENT)[:1], "")) for line in part.lines)
        return
    for line in part.lines:
        yield from (page.painted(folded, style) for folded in _folded(line, page.width))


def _folded(line: str, width: int) -> list[str]:
    gap = _LAST_GAP.match(line)
    indent = len(line) - len(line.lstrip()) + len(_INDENT)
    hanging = gap.end() if gap and width - gap.end() >= _NARROWEST else indent
    if len(line) <= width or width - hanging < _NARROWEST:
        return [line]
    return textwrap.wrap(
        line, width, subsequent_indent=" " * hanging, break_long_words=False, break_on_hyphens=False
    )  # fmt: skip


def _kept(columns: Row, rows: Sequence[Row]) -> tuple[list[list[str]], list[list[str]]]:
    """The header, if there is one, and the rows, both without the empty columns."""
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    header = [[columns[i].upper() for i in kept]] if any(columns) else []
    return header, [[row[i] for i in kept] for row in rows]


def _laid_out(rows: Sequence[Sequence[tuple[str, str]]], page: _Page) -> Iterator[str]:
    """Rows of cells and their styles, laid out by rich. Only the last column is wrapped."""
    from rich import cells, console, table, text

    gap = len(_INDENT)
    *widths, last = (max(cells.cell_len(row[i][0]) for row in rows) for i in range(len(rows[0])))
    room = page.width - sum(widths) - gap * len(widths)
    if page.width and room >= _NARROWEST:
        longest = max(cells.cell_len(word) for row in rows for word in row[-1][0].split(" "))
        last = min(last, max(room, longest))
    grid = table.Table.grid(padding=(0, gap, 0, 0), pad_edge=False)
    for width in (*widths, last):
        grid.add_column(width=width, no_wrap=width != last)
    for row in rows:
        grid.add_row(*(text.Text().append(cell, style) for cell, style in row))
    out = io.StringIO()
    total = max(1, sum(widths) + last + gap * len(widths))
    colours: Literal["standard"] | None = "standard" if page.coloured else None
    console.Console(file=out, width=total, color_system=colours, legacy_windows=False).print(grid)
    return (_BLANKS.sub(r"\1", line) for line in out.getvalue().splitlines())


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
