"""Lists as the repository's web view reads them, for Python-Markdown.

Python-Markdown wants four spaces before what belongs to an item, and a blank line before an item that follows the
second paragraph of another. Our pages have two spaces, and no such line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from markdown import Markdown
from markdown.blockprocessors import build_block_parser
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

_ITEM = re.compile(r"( *)(?:[-*+]|\d+\.) ")
_AFTER_FENCES = 24
"""Priority below that of superfences, 25: the lines of code are no longer in the text."""


class GitHubLists(Extension):
    """Must be the first extension, because it makes the block parser anew."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (the name that Python-Markdown calls)
        md.tab_length = 2
        md.parser = build_block_parser(md)  # its processors read the length once
        md.preprocessors.register(_Items(md), "github_lists", _AFTER_FENCES)


class _Items(Preprocessor):
    """Ends a further paragraph of an item where the next item begins."""

    def run(self, lines: list[str]) -> list[str]:
        return [*_separated(lines)]


def _separated(lines: list[str]) -> Iterator[str]:
    first = ""
    for before, line in pairwise(["", *lines]):
        if not before.strip():
            first = line
        item = _ITEM.match(line)
        if item and before.strip() and not _ITEM.match(first) and _indent(first) > len(item[1]):
            yield ""
            first = line
        yield line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
