"""The locks of Python packages, as `uv pip compile --generate-hashes` writes them.

A lock is a requirements file of one block for each distribution: name, version, marker, the hashes of all its files,
and which requirements brought it (`# via`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNTIME = ROOT / "requirements.lock"
"""What the command line needs."""
IMAGE = ROOT / "requirements-image.lock"
"""What the function's image contains."""
DEVELOPMENT = ROOT / "requirements-dev.lock"
"""What the checks need: the requirements of the image, and tools."""
BUILD = ROOT / ".ci/build.lock"
"""What builds our own wheel."""
LOCKS = (RUNTIME, IMAGE, DEVELOPMENT, BUILD)

_REQUIREMENT = re.compile(r"(?P<name>[a-z0-9-]+)(\[[a-z0-9,-]+\])?==(?P<version>[^ ;]+)( ; (?P<marker>.+))?")
_HASH = re.compile(r"--hash=sha256:(?P<digest>[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Locked:
    """A distribution in a lock."""

    name: str
    """Normalised, such as `typing-extensions`."""
    version: str
    marker: str
    """Where it is installed, as PEP 508 writes it; empty for everywhere."""
    hashes: tuple[str, ...]
    """SHA-256 of each of its files, as hexadecimal digits."""
    via: tuple[str, ...]
    """Normalised names of the distributions that require it; our own for what pyproject.toml names."""


def read(path: Path) -> tuple[Locked, ...]:
    """Return all distributions of a lock, in its order.

    Raises ValueError for a line that is neither a pinned requirement nor a hash nor a comment, such as a URL.
    """
    return tuple(map(_locked, _blocks(path.read_text(encoding="utf-8"), path.name)))


def _blocks(text: str, name: str) -> Iterator[list[str]]:
    """Yield the lines of each requirement: the first without its backslash, then hashes and comments."""
    block: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.removesuffix("\\").strip()
        if not content:
            continue
        if not line.startswith(" "):
            if block:
                yield block
            block = []
        if not (_REQUIREMENT if not block else _HASH).fullmatch(content) and not (block and content.startswith("#")):
            raise ValueError(f"{name}, line {number}: not a pinned requirement and not a hash: {content}")
        block.append(content)
    if block:
        yield block


def _locked(block: list[str]) -> Locked:
    found = _REQUIREMENT.fullmatch(block[0])
    assert found, block[0]
    digests = [match["digest"] for line in block[1:] if (match := _HASH.fullmatch(line))]
    comments = [line.lstrip("# ").removeprefix("via").strip() for line in block[1:] if line.startswith("#")]
    via = {one.partition(" ")[0] for one in comments if one and not one.startswith("-")}
    return Locked(found["name"], found["version"], found["marker"] or "", tuple(digests), tuple(sorted(via)))
