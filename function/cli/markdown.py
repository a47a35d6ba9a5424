"""Reports as GitHub-flavoured Markdown, for comments: no content can break out of its cell or mention a user.

Text that is not ours goes into code spans, in which GitHub does not see markup, mentions or references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LIMIT = 65_536
"""Characters of a comment (GitHub's API: `body is too long (maximum is 65536 characters)`)."""
_LONGEST = 400
"""Characters of one code span."""
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~&#!])")
_MOST = 10**9


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """Rows of cells that are already Markdown. Empty columns are left out."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False
    """Whether it is collapsed at first."""


def document(lead: str, tables: Sequence[MarkdownTable], limit: int = LIMIT) -> str:
    """A lead and the tables that have rows, most important first. Rows that exceed the limit are counted instead."""
    shown = [table for table in tables if table.rows]
    room = limit - len(lead) - sum(len(_framed(table, [], _MOST)) for table in shown)
    parts = [lead]
    for table in shown:
        rows = list(_fitting(table, room))
        room -= sum(map(len, rows))
        parts.append(_framed(table, rows, len(table.rows) - len(rows)))
    return "".join(parts)


def code(text: str) -> str:
    """A text as a code span on one line, truncated if very long."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if not flat:
        return ""
    cut = flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", cut)), default=0))
    pad = " " if "`" in (cut[0], cut[-1]) else ""
    body = cut.replace("|", r"\|")
    return f"{fence}{pad}{body}{pad}{fence}"


def codes(texts: Sequence[str]) -> str:
    """Texts as code spans, separated by commas."""
    return ", ".join(code(text) for text in texts)


def words(text: str) -> str:
    """A sentence of ours that contains names, with markup escaped."""
    return _MARKUP.sub(r"\\\1", text)


def alert(kind: str, text: str) -> str:
    """An alert box of kind NOTE, WARNING or CAUTION."""
    return f"> [!{kind}]\n> {words(text)}\n"


def _framed(table: MarkdownTable, rows: Sequence[str], left_out: int) -> str:
    columns = [table.columns[i] for i in _kept(table)]
    head = f"{_line(columns)}{_line(['---'] * len(columns))}"
    note = f"\n{left_out} more rows are left out; `-o json` has all.\n" if left_out else ""
    body = f"{head}{''.join(rows)}{note}"
    if table.folded:
        return f"\n<details>\n<summary>{table.title} ({len(table.rows)})</summary>\n\n{body}\n</details>\n"
    return f"\n#### {table.title}\n\n{body}"


def _fitting(table: MarkdownTable, room: int) -> Iterator[str]:
    kept = _kept(table)
    for row in table.rows:
        line = _line([row[i] for i in kept])
        room -= len(line)
        if room < 0:
            return
        yield line


def _kept(table: MarkdownTable) -> list[int]:
    return [i for i in range(len(table.columns)) if any(row[i] for row in table.rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
