"""An example of every kind, for the reference.

The examples of what users write are one small fleet. The others are what Modelplane composes of it, and of a cluster of
each cloud; a test writes them.
"""

from __future__ import annotations

from pathlib import Path

from function.publish.catalog import Kind

FOLDER = Path(__file__).parent


def path(kind: Kind) -> Path:
    return FOLDER / f"{kind.kind.lower()}.yaml"


def text(kind: Kind) -> str | None:
    """Return the manifest of a kind as YAML, with comments; None of a kind that was just added.

    A test fails until it is written (tests/unit/publish/test_examples.py).
    """
    return path(kind).read_text(encoding="utf-8") if path(kind).exists() else None
