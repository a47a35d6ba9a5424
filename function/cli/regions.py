"""Regions of files: where the value or the name of a field begins and ends, and a part of a text in it.

A mapping or a list over several lines counts as its first line: a reader looks at where it begins, and GitHub shows a
message below the last line of its region.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import yaml

from function.cli import scalars
from function.cli.scalars import Mark
from function.cli.values import Position


class Region(NamedTuple):
    """A part of a file. The end is the place after the last character."""

    start: Position
    end: Position


def of(text: str, node: yaml.Node, part: tuple[int, int] | None = None) -> Region:
    """Return the region of a node of a document.

    Args:
        text: The document.
        node: The node.
        part: The first character of a part of the node's text, and the one after its last. If its place is not known,
            the region is that of the node.
    """
    rows = lines(text)
    placed = scalars.span(rows, node, *part) if part and isinstance(node, yaml.ScalarNode) else None
    start = placed[0] if placed else Mark(node.start_mark.line, node.start_mark.column)
    end = placed[1] if placed else _end(rows, node)
    return Region(_position(start), _position(max(start, end)))


@lru_cache(maxsize=4)
def lines(text: str) -> list[str]:
    """Return the lines of a document, without line breaks."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _end(rows: list[str], node: yaml.Node) -> Mark:
    start, end = node.start_mark, node.end_mark
    if not isinstance(node, yaml.ScalarNode):
        return Mark(end.line, end.column) if start.line == end.line else _end_of_line(rows, start.line)
    if node.style not in ("|", ">"):
        return Mark(end.line, end.column)
    last = end.line if end.column else end.line - 1
    return _end_of_line(
        rows, next((at for at in range(last, start.line, -1) if _is_of_block(rows, at, node)), start.line)
    )


def _is_of_block(rows: list[str], at: int, node: yaml.ScalarNode) -> bool:
    """Whether a line ends with the last characters of a block."""
    row = rows[at].strip() if at < len(rows) else ""
    return bool(row) and node.value.rstrip().endswith(row)


def _end_of_line(rows: list[str], line: int) -> Mark:
    return Mark(line, len(rows[line].rstrip()) if line < len(rows) else 0)


def _position(mark: Mark) -> Position:
    return Position(mark.line + 1, mark.column + 1)
