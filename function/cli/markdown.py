"""Reports as GitHub-flavoured Markdown, for comments: no content can break out of its cell or mention a user.

Text that is not ours goes into code spans, in which GitHub does not see markup, mentions or references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from function.core import visible

LIMIT = 60_000
"""Characters of a comment. GitHub accepts 65,536 (`body is too long (maximum is 65536 characters)`); a workflow may add
a heading of its own."""
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


@dataclass(frozen=True, slots=True)
class MarkdownDiffs:
    """Diffs below their titles, which are already Markdown. They are collapsed at first."""

    title: str
    diffs: Sequence[tuple[str, Sequence[str]]] = ()


def document(
    lead: str, tables: Sequence[MarkdownTable], limit: int = LIMIT, *, diffs: MarkdownDiffs | None = None
) -> str:
    """A lead, the tables that have rows, most important first, and diffs. What exceeds the limit is counted instead:
    whole diffs, and rows."""
    text = _tables(lead, tables, limit)
    return f"{text}{_diffs(diffs, limit - len(text)) if diffs and diffs.diffs else ''}"


def _tables(lead: str, tables: Sequence[MarkdownTable], limit: int) -> str:
    shown = [table for table in tables if table.rows]
    room = limit - len(lead) - sum(len(_framed(table, [], _MOST)) for table in shown)
    parts = [lead]
    for table in shown:
        rows = list(_fitting(table, room))
        room -= sum(map(len, rows))
        parts.append(_framed(table, rows, len(table.rows) - len(rows)))
    return "".join(parts)


def _diffs(diffs: MarkdownDiffs, room: int) -> str:
    """The diffs that fit, in order. Where not even their frame does, nothing."""
    head = f"\n<details>\n<summary>{diffs.title} ({len(diffs.diffs)})</summary>\n"
    foot = "\n</details>\n"
    note = "\n{} more diffs are left out; `-o json` has all.\n"
    room -= len(head) + len(foot) + len(note.format(len(diffs.diffs)))
    shown: list[str] = []
    for title, lines in diffs.diffs:
        block = f"\n{title}\n\n{_fenced(lines)}" if lines else f"\n{title}\n"
        room -= len(block)
        if room < 0:
            break
        shown.append(block)
    left_out = len(diffs.diffs) - len(shown)
    if not shown and room < -len(head):
        return ""
    return f"{head}{''.join(shown)}{note.format(left_out) if left_out else ''}{foot}"


def _fenced(lines: Sequence[str]) -> str:
    """Lines of a diff as a block of code, behind a fence that is longer than any in it."""
    kept = [visible(line) for line in lines]
    longest = max((len(run) for line in kept for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}diff", *kept, fence, ""])


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
