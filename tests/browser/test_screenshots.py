"""The screenshots in docs/images: each shows a page as it is now, and is made here with UPDATE_SCREENSHOTS=1.

Pixels depend on the fonts of a machine, so that an image is not compared. It has the digest of the page that it shows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT, Opened
from tests.support import png

IMAGES = ROOT / "docs/images"
SHOWN = {
    "plan-light": ("plan", "light"),
    "plan-dark": ("plan", "dark"),
    "what-if": ("what-if", "light"),
    "what-if-drain-dark": ("drain", "dark"),
    "explain": ("explain", "light"),
    "thousand-clusters": ("large", "light"),
}
"""By image, the page and the scheme of colours."""
WIDTH, HEIGHT, HIGHEST = 1440, 320, 1_300
"""Of the window; a longer page is cut at HIGHEST."""
_DIGEST = "page-sha256"
_MOST = 250_000


@pytest.mark.parametrize("name", SHOWN)
def test_an_image_shows_the_page_as_it_is(visit: Callable[..., Opened], pages: dict[str, Path], name: str) -> None:
    shown, scheme = SHOWN[name]
    digest, file = hashlib.sha256(pages[shown].read_bytes()).hexdigest(), IMAGES / f"{name}.png"
    if os.environ.get("UPDATE_SCREENSHOTS"):
        taken = photographed(visit(shown, WIDTH, scheme=scheme))
        IMAGES.mkdir(exist_ok=True)
        file.write_bytes(png.with_text(taken, _DIGEST, digest))

    hint = f"{file.name} shows another page: run UPDATE_SCREENSHOTS=1 make browser, and look at it"
    assert file.exists(), f"there is no {file.name}: run UPDATE_SCREENSHOTS=1 make browser"
    assert png.texts(file.read_bytes()).get(_DIGEST) == digest, hint
    assert file.stat().st_size < _MOST


def photographed(opened: Opened) -> bytes:
    page = opened.page
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    height = min(HIGHEST, page.evaluate("document.documentElement.scrollHeight"))
    return page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})


def test_every_image_of_the_docs_is_made_here() -> None:
    assert {file.stem for file in IMAGES.glob("*.png")} == set(SHOWN)
