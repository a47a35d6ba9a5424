"""The docs as a site, opened from disk: it loads nothing from elsewhere, can be searched, and is accessible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.docs import site

Scheme = Literal["light", "dark"]
PAGES = ("index.html", "install.html", "concepts/overview.html")
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = site.build(site.ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    yield context.new_page()
    context.close()


def test_nothing_is_loaded_from_elsewhere_and_no_script_fails(built: Path, page: Page) -> None:
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.on("requestfailed", lambda request: failed.append(request.url))
    for name in PAGES:
        page.goto((built / name).as_uri())
        page.wait_for_load_state("networkidle")

    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
    assert failed == []


def test_the_search_finds_a_page_from_disk(built: Path, page: Page) -> None:
    page.goto((built / "install.html").as_uri())
    page.wait_for_load_state("networkidle")
    page.keyboard.press("/")
    page.keyboard.type("InsufficientCapacity", delay=20)
    first = page.locator(".md-search-result__link").first
    first.wait_for()

    assert "InsufficientCapacity" in page.locator(".md-search-result__list").inner_text()
    first.click()
    page.wait_for_load_state()
    assert page.url.startswith(built.as_uri())


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible(name: str, scheme: Scheme, built: Path, browser: Browser) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.goto((built / name).as_uri())
    page.wait_for_load_state("networkidle")
    violations = Axe().run(page).response["violations"]
    context.close()

    assert [f"{one['id']}: {node['html'][:120]}" for one in violations for node in one["nodes"]] == []


def test_the_picture_follows_the_theme_of_the_site(built: Path, page: Page) -> None:
    """Not that of the system, which a reader may override."""
    page.emulate_media(color_scheme="light")
    page.goto((built / "index.html").as_uri())
    shown = [one.get_attribute("src") for one in page.locator("article img").all() if one.is_visible()]

    assert shown == ["images/plan-light.png#only-light"]


def test_no_page_is_wider_than_a_phone(built: Path, page: Page) -> None:
    page.set_viewport_size({"width": 375, "height": 800})
    widths = {}
    for name in (*PAGES, "reference/modelreplica.html"):
        page.goto((built / name).as_uri())
        widths[name] = page.evaluate("document.documentElement.scrollWidth")

    assert {name: width for name, width in widths.items() if width > 375} == {}
