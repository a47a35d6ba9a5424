"""The pages that people read in the repository and on the site, and what is in them."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
ALL = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / ".github").rglob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
_GENERATED = ROOT / "docs/reference"
"""Pages that `modelplane generate` writes. Their commands are examples of each option, with files of readers."""
WRITTEN = [page for page in ALL if _GENERATED not in page.parents]
_FENCE = re.compile(r"^( *)(`{3,})(\w*)[^\n`]*\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of code."""

    page: Path
    language: str
    text: str
    below: str
    """The text that follows, up to the next block or section."""

    @property
    def commands(self) -> list[str]:
        """What a reader is told to type, in a block with prompts."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """Every block of a page, those in lists too."""
    text = page.read_text()
    return tuple(
        Block(page, found[3], textwrap.dedent(found[4]), re.split("```|\n## ", text[found.end() :])[0])
        for found in _FENCE.finditer(text)
    )


def of(language: str, pages: list[Path] = ALL) -> list[Block]:
    return [block for page in pages for block in blocks(page) if block.language in language.split()]


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return _FENCE.sub("", page.read_text())


def links(page: Path) -> list[str]:
    """What a page links to in this repository: links, and pictures of HTML."""
    text = re.sub(r"`[^`\n]+`", "", prose(page))
    found = re.findall(r"\]\(([^)\s]+)", text) + re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", text)
    return [link for link in found if "://" not in link and not link.startswith("mailto:")]


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings as GitHub makes them, and those that it sets itself."""
    text = prose(page)
    made: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip()
        made.append(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
    return frozenset([*made, *re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text)])
