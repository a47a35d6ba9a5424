"""Excerpts of files below findings: the line, and carets under the region.

Characters are measured as terminals show them: a tab as one space, an East Asian character as two. A line that is too
long is cut around the carets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click
from rich.cells import cell_len

from function.cli.regions import Region
from function.core import visible

_CUT = "…"
_LONGEST = 2000
"""Characters of a line that is measured as a whole. One of a JSON file can be the whole file."""
_NARROWEST = 16
"""Minimum width of an excerpt."""
_COLOURS: Mapping[str, str] = {"error": "red", "warning": "yellow", "note": "cyan"}


@dataclass(frozen=True, slots=True)
class Source:
    """A region, and the line in which it begins."""

    line: str
    region: Region


@dataclass(frozen=True, slots=True)
class Page:
    """The output device."""

    width: int
    is_coloured: bool = False

    def finding(self, text: str, severity: str, source: Source) -> str:
        """A finding, and the excerpt below it if there is one."""
        colour = _COLOURS[severity]
        told = text.replace(f" {severity}: ", f" {self._styled(severity, colour)}: ", 1)
        if not source.line.strip():
            return f"{told}\n"
        number = str(source.region.start.line)
        line, carets = _excerpt(source, self.width - len(number) - len(" | "))
        gutter, bar = " " * len(number), self._styled("|", "blue")
        marked = f"{gutter} {bar} {self._styled(carets, colour)}"
        return f"{told}\n{self._styled(number, 'blue')} {bar} {line}\n{marked}\n"

    def _styled(self, text: str, colour: str) -> str:
        if not self.is_coloured:
            return text
        bare = text.lstrip()
        return " " * (len(text) - len(bare)) + click.style(bare, fg=colour, bold=True)


def _excerpt(source: Source, width: int) -> tuple[str, str]:
    """A line and the carets below it, within a width."""
    line, (start, end) = source.line, source.region
    first = min(start.column - 1, len(line))
    last = end.column - 1 if start.line == end.line else len(line)
    left, right = _window(line, first, max(width, _NARROWEST))
    head, tail = _CUT if left else "", _CUT if right < len(line) else ""
    before = len(head) + _cells(line[left:first])
    marked = _cells(line[first : min(max(last, first + 1), right)])
    return f"{head}{_shown(line[left:right])}{tail}".rstrip(), " " * before + "^" * max(1, marked)


def _window(line: str, first: int, width: int) -> tuple[int, int]:
    """The part of a line to show. A third of the width is before the carets."""
    if len(line) <= _LONGEST and _cells(line) <= width:
        return 0, len(line)
    room = width - 2 * len(_CUT)
    left = first
    while left > 0 and _cells(line[left - 1 : first]) <= room // 3:
        left -= 1
    right = left
    while right < len(line) and _cells(line[left : right + 1]) <= room:
        right += 1
    return left, right


def _shown(text: str) -> str:
    """A text as a terminal shows it, character by character, so that each keeps its place."""
    return "".join(map(visible, text))


def _cells(text: str) -> int:
    return cell_len(_shown(text))
