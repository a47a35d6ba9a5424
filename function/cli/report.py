"""Tables and lines: coloured on a terminal, plain and aligned when piped."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below a title. Columns that are empty throughout are left out."""

    title: str
    columns: Row
    rows: Sequence[Row]
    style: str = "bold"


@dataclass(frozen=True, slots=True)
class Lines:
    """Text below a title, or without one."""

    title: str
    lines: Sequence[str]
    style: str = "bold"


Part = Table | Lines


def show(parts: Sequence[Part], out: TextIO | None = None) -> None:
    """Print the parts that have something to say."""
    out = out or sys.stdout
    said = [part for part in parts if (part.rows if isinstance(part, Table) else part.lines)]
    if is_terminal(out):
        _show_colours(said, out)
        return
    click.echo("\n\n".join("\n".join(_plain(part)) for part in said), file=out)


def is_terminal(out: TextIO) -> bool:
    """Whether a person looks at it. NO_COLOR (no-color.org) asks for plain text there too."""
    return out.isatty() and not os.environ.get("NO_COLOR")


def aligned(columns: Row, rows: Sequence[Row]) -> Iterator[str]:
    """Rows as plain text, their columns under each other."""
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    table = [[columns[i].upper() for i in kept], *([row[i] for i in kept] for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(kept))]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _plain(part: Part) -> Iterator[str]:
    if part.title:
        yield part.title
    body = aligned(part.columns, part.rows) if isinstance(part, Table) else part.lines
    yield from (f"  {line}" if part.title and line else line for line in body)


def _show_colours(parts: Sequence[Part], out: TextIO) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(file=out, highlight=False)
    for index, part in enumerate(parts):
        if index:
            console.print()
        if part.title:
            console.print(Text(part.title, style=part.style))
        body = (
            _table(part) if isinstance(part, Table) else Text("\n".join(part.lines), "" if part.title else part.style)
        )
        console.print(Padding(body, (0, 0, 0, 2 if part.title else 0)))


def _table(part: Table) -> RichTable:
    from rich.table import Table as Rich
    from rich.text import Text

    kept = [i for i in range(len(part.columns)) if any(row[i] for row in part.rows)]
    table = Rich(box=None, pad_edge=False, header_style="dim")
    for i in kept:
        table.add_column(part.columns[i].upper(), overflow="fold")
    for row in part.rows:
        table.add_row(*(Text(row[i], style=_STYLES.get(row[i].split(" ")[0], "")) for i in kept))
    return table


_STYLES = {
    "new": "green",
    "gone": "red",
    "moved": "yellow",
    "updated": "yellow",
    "changed": "yellow",
    "starting": "yellow",
    "serves": "green",
    "Full": "yellow",
}
"""By the first word of a cell."""
