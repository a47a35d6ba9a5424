"""Where the characters of a YAML scalar are in its document: plain, in quotes, or a block.

A scalar is read again as YAML 1.1 reads it, and each character of its value keeps its place. If the result is not the
value that the YAML library read, nothing is known.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

import yaml


class Mark(NamedTuple):
    """A place in a document, counted from 0."""

    line: int
    column: int


class Character(NamedTuple):
    """A character of a value, and where it begins and ends."""

    text: str
    start: Mark
    end: Mark


_BLANKS = " \t"
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_NUMBERED = {"x": 2, "u": 4, "U": 8}
"""Escapes with a code point, and the number of its digits."""
_HEADER = re.compile(r"[|>](?:[1-9]?[-+]?|[-+]?[1-9]?)[ \t]*(?:#.*)?$")


def span(lines: Sequence[str], node: yaml.ScalarNode, first: int, last: int) -> tuple[Mark, Mark] | None:
    """Return where a part of a value begins and ends.

    Args:
        lines: The lines of the document.
        node: The scalar.
        first: Index of the first character of the part.
        last: Index of the character after it.

    Returns:
        None if it is not known.
    """
    read = characters(lines, node)
    if read is None or not read:
        return None
    if first >= len(read):  # the end of an expression that ends too early
        return read[-1].end, read[-1].end
    return read[first].start, read[min(max(last, first + 1), len(read)) - 1].end


def characters(lines: Sequence[str], node: yaml.ScalarNode) -> list[Character] | None:
    """Return the characters of a scalar's value; None if they cannot be placed."""
    start, end = node.start_mark, node.end_mark
    if node.style in ("|", ">"):
        return _block(lines, node)
    rows = [lines[at] if at < len(lines) else "" for at in range(start.line, end.line + 1)]
    rows[-1] = rows[-1][: end.column]
    quotes = 1 if node.style in ("'", '"') else 0
    rows[-1] = rows[-1][: len(rows[-1]) - quotes]
    found = list(_flow(rows, Mark(start.line, start.column + quotes), node.style or ""))
    return _checked(found, node.value)


def _checked(found: list[Character], value: str) -> list[Character] | None:
    return found if "".join(character.text for character in found) == value else None


# Plain and quoted scalars


def _flow(rows: Sequence[str], start: Mark, style: str) -> Iterator[Character]:
    """Yield the characters of lines that are folded: a line break is a space, and an empty line is a line break."""
    breaks: list[Mark] = []
    for at, row in enumerate(rows):
        begin = start.column if at == 0 else len(row) - len(row.lstrip(_BLANKS))
        is_last = at == len(rows) - 1
        is_joined = style == '"' and not is_last and _is_escaped(row)
        end = len(row) if is_last else len(row) - 1 if is_joined else len(row.rstrip("\r" + _BLANKS))
        if begin < end or at == 0 or is_last:
            yield from _folded(breaks)
            breaks = []
        yield from _row(row[:end], Mark(start.line + at, begin), style)
        if not is_joined:
            breaks.append(Mark(start.line + at, end))


def _folded(breaks: Sequence[Mark]) -> Iterator[Character]:
    text = " " if len(breaks) == 1 else "\n"
    for mark in breaks if len(breaks) == 1 else breaks[1:]:
        yield Character(text, mark, Mark(mark.line, mark.column + 1))


def _is_escaped(row: str) -> bool:
    """Whether a line of a text in double quotes ends in an escape of the line break."""
    backslashes = len(row) - len(row.rstrip("\\"))
    return backslashes % 2 == 1


def _row(row: str, start: Mark, style: str) -> Iterator[Character]:
    """Yield the characters of one line."""
    at = start.column
    while at < len(row):
        text, length = _character(row, at, style)
        yield Character(text, Mark(start.line, at), Mark(start.line, at + length))
        at += length


def _character(row: str, at: int, style: str) -> tuple[str, int]:
    """Return the character at an index, and how many characters write it."""
    if style == "'" and row[at : at + 2] == "''":
        return "'", 2
    if style != '"' or row[at] != "\\":
        return row[at], 1
    kind = row[at + 1 : at + 2]
    digits = _NUMBERED.get(kind)
    if digits is None:
        return _ESCAPES.get(kind, ""), 2
    code = row[at + 2 : at + 2 + digits]
    is_code = re.fullmatch("[0-9a-fA-F]+", code) is not None and int(code, 16) <= sys.maxunicode
    return chr(int(code, 16)) if is_code else "", 2 + digits


# Blocks


def _block(lines: Sequence[str], node: yaml.ScalarNode) -> list[Character] | None:
    """Return the characters of a block. How far it is indented is tried: an indicator counts from what is around it."""
    head, last = node.start_mark.line, min(node.end_mark.line, len(lines) - 1)
    header = lines[head][node.start_mark.column :].rstrip("\r")
    if not _HEADER.match(header):
        return None
    rows = [(at, lines[at].rstrip("\r")) for at in range(head + 1, last + 1)]
    filled = [row for _, row in rows if row.strip(" ")]
    widest = len(filled[0]) - len(filled[0].lstrip(" ")) if filled else 0
    for indent in range(widest, -1, -1):
        found = list(_unfolded(_body(rows, indent), indent, is_folded=node.style == ">"))
        if (placed := _chomped(found, node.value)) is not None:
            return placed
    return None


def _body(rows: Iterable[tuple[int, str]], indent: int) -> Iterator[tuple[int, str]]:
    """Return the lines of a block: those that are indented so far, or empty."""
    return takewhile(lambda row: not row[1][:indent].strip(" "), rows)


def _unfolded(rows: Iterable[tuple[int, str]], indent: int, *, is_folded: bool) -> Iterator[Character]:
    """Yield the characters of a block, with all line breaks at its end."""
    pending: Character | None = None
    blank: list[Character] = []
    was_indented = False
    for at, row in rows:
        text = row[indent:]
        line_break = Character("\n", Mark(at, len(row)), Mark(at, len(row) + 1))
        if not text:
            blank.append(line_break)
            continue
        is_indented = text[0] in _BLANKS
        if pending and is_folded and not (was_indented or is_indented):
            pending = None if blank else pending._replace(text=" ")
        yield from (*((pending,) if pending else ()), *blank, *_row(row, Mark(at, indent), ""))
        pending, blank, was_indented = line_break, [], is_indented
    yield from (*((pending,) if pending else ()), *blank)


def _chomped(found: list[Character], value: str) -> list[Character] | None:
    """Return the characters without the line breaks at the end that the value does not have."""
    return _checked(found[: len(value)], value)
