"""Each guide has the same parts and is in the list of guides. Drawings load nothing, and say what they show."""

from __future__ import annotations

import re
import tomllib
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIST = ROOT / "docs/how-to/README.md"
GUIDES = sorted(page for page in LIST.parent.glob("*.md") if page != LIST)
CONCEPTS = sorted((ROOT / "docs/concepts").glob("*.md"))
SHOWN = [
    (page, alternative, path)
    for page in [*CONCEPTS, *GUIDES, ROOT / "docs/security.md"]
    for alternative, path in re.findall(r"!\[([^\]]*)\]\(([^)]+\.svg)\)", page.read_text())
]
DRAWINGS = sorted({(page.parent / path).resolve() for page, _, path in SHOWN})
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_says_what_it_needs_what_can_go_wrong_and_how_to_clean_up(page: Path) -> None:
    headings = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)

    assert (headings[0], *headings[-2:]) == ("Before you begin", "What can go wrong", "Clean up")


def test_every_guide_is_listed_under_its_title() -> None:
    listed = re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\) \|", LIST.read_text(), re.MULTILINE)

    titles = {(page.read_text().splitlines()[0].removeprefix("# "), page.name) for page in GUIDES}
    assert set(listed) == titles
    assert len(listed) == len(titles)


def test_there_are_drawings() -> None:
    assert len(DRAWINGS) >= len(CONCEPTS)


@pytest.mark.parametrize(("page", "alternative", "path"), SHOWN)
def test_a_drawing_has_a_text_in_its_place(page: Path, alternative: str, path: str) -> None:
    assert len(alternative.split()) >= 5


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_can_be_read_by_everybody(path: Path) -> None:
    """It has a title and a description, colours for dark screens, and loads nothing."""
    text = path.read_text()
    root = ET.fromstring(text)

    title, description = (root.findtext(f"{SVG}{part}", "").strip() for part in ("title", "desc"))
    assert (bool(title), len(description.split()) > len(title.split())) == (True, True)
    assert "@media (prefers-color-scheme: dark)" in text
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)|@import|<script|href=", text) == []


def test_the_drawing_of_the_layers_has_those_that_are_enforced() -> None:
    """Each row names packages that may import each other in one direction only, from the top to the bottom."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    order = {name: index for index, layer in enumerate(contract["layers"]) for name in layer.split(" | ")}
    drawing = ET.fromstring((ROOT / "docs/images/layers.svg").read_text())
    rows = [text.text.split(" · ") for text in drawing.iter(f"{SVG}text") if text.get("class") == "title" and text.text]

    ends = [(min(order[name] for name in row), max(order[name] for name in row)) for row in rows]
    assert rows
    assert all(above[1] < below[0] for above, below in pairwise(ends))
