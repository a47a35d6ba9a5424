"""Builds the site and reads its pages."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LOADED = {
    "script": ("src",), "img": ("src", "srcset"), "source": ("src", "srcset"), "iframe": ("src",), "link": ("href",),
    "video": ("src", "poster"), "audio": ("src",), "embed": ("src",), "object": ("data",), "input": ("src",),
    "image": ("href",), "use": ("href",),
}  # fmt: skip
"""Attributes that a browser loads something from, by element. A link of an `a` is only followed."""
_PROSE = {"p", "li", "td", "th"}
_CODE = {"code", "pre", "script", "style"}


def build(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a repository, as `make site` does, into another folder."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=root, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@dataclass
class Page(HTMLParser):
    """A page of the site as a browser reads it."""

    loaded: list[str] = field(default_factory=list)
    """What a browser loads with the page."""
    prose: list[str] = field(default_factory=list)
    """Text of the article, outside code."""
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.loaded += [value or "" for name, value in attrs if name in _LOADED.get(tag, ())]

    def handle_endtag(self, tag: str) -> None:
        while tag in self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "article" in self.open and _PROSE.intersection(self.open) and not _CODE.intersection(self.open):
            self.prose += data.splitlines()


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text())
    return page
