"""Excerpts of files below findings: the line, and carets under the region.

Characters are measured as terminals show them: a tab as one space, an East Asian character as two. A line that is too
long is cut around the carets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click
from rich.cells import cell_len

from function.cli.regions import Region
from function.core import visible

_CUT = "…"
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
    characters = [visible(character) for character in source.line]
    first = min(source.region.start.column - 1, len(characters))
    is_one_line = source.region.start.line == source.region.end.line
    last = source.region.end.column - 1 if is_one_line else len(characters)
    begin, end = _window(characters, first, max(width, _NARROWEST))
    head = _CUT if begin else ""
    tail = _CUT if end < len(characters) else ""
    before = _cells(characters[begin:first]) + len(head)
    marked = _cells(characters[first : min(max(last, first + 1), end)])
    return f"{head}{''.join(characters[begin:end])}{tail}".rstrip(), " " * before + "^" * max(1, marked)


def _window(characters: Sequence[str], first: int, width: int) -> tuple[int, int]:
    """The part of a line to show. A third of the width is before the carets."""
    if _cells(characters) <= width:
        return 0, len(characters)
    room = width - 2 * len(_CUT)
    begin = first
    while begin > 0 and _cells(characters[begin - 1 : first]) <= room // 3:
        begin -= 1
    end = begin
    while end < len(characters) and _cells(characters[begin : end + 1]) <= room:
        end += 1
    return begin, end


def _cells(characters: Sequence[str]) -> int:
    return cell_len("".join(characters))
