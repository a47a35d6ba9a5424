"""Commands of a page of the docs, as their reader types them, with what the page shows of their output.

A block that a reader runs is fenced as `shell`, and one that is shown below it as `text`. A comment above a block says
why it is not run here:

    <!-- not run: no image can be built without a container runtime -->

Everything else is run, so a page and its test cannot differ.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<why>[^>]+?) -->\n)?^```shell\n(?P<script>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
_HEADING = re.compile(r"^## (?P<title>.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """What a reader copies at once."""

    section: str
    script: str
    shown: str
    why_not: str
    """Why it is not run; empty if it is."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Its commands; a line that ends with a backslash goes on."""
        return tuple(line for line in self.script.replace("\\\n", " ").splitlines() if line.strip())

    @property
    def title(self) -> str:
        return f"{self.section}: {self.commands[0][:60]}"


def blocks(page: str) -> tuple[Block, ...]:
    """Every block of commands of a page, in its order."""
    return tuple(_blocks((DOCS / page).read_text()))


def _blocks(text: str) -> Iterator[Block]:
    headings = [(found.start(), found["title"]) for found in _HEADING.finditer(text)]
    for found in _BLOCK.finditer(text):
        section = next((title for start, title in reversed(headings) if start < found.start()), "")
        why = " ".join((found["why"] or "").split())
        yield Block(section, found["script"], found["shown"] or "", why)


def differs(shown: str, printed: str) -> str:
    """The first line that a page shows and a command did not print; empty if there is none.

    Ages and columns' widths differ from run to run.
    """
    lines = [_alike(line) for line in printed.splitlines()]
    return next((line for line in shown.splitlines() if line.strip() and _alike(line) not in lines), "")


def _alike(line: str) -> str:
    return re.sub(r"\b\d+(?:m\d+)?[smhd]$", "AGE", " ".join(line.split()))
