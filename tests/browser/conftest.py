"""Headless Chromium, and the pages that the tests open."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, sync_playwright

from function import picture
from function.main import main
from tests.support import pictures

ROOT = Path(__file__).parents[2]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (1440, 768, 375)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.fail("there is no Chromium on PATH: run `make browser` as root on Debian, or install it")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


def written(folder: Path, name: str, *arguments: str) -> Path:
    """The page that a command of the examples writes."""
    file = folder / f"{name}.html"
    found = CliRunner().invoke(main, [*arguments, "--html", str(file)])
    assert file.exists(), found.output
    return file


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of the examples, of a large fleet, and of one with all states."""
    folder = tmp_path_factory.mktemp("pages")
    tour = str(ROOT / "examples/tour")
    found = {
        "plan": written(folder, "plan", "plan", tour),
        "what-if": written(folder, "what-if", "what-if", tour, "--lose", "europe"),
        "drain": written(folder, "drain", "what-if", str(ROOT / "examples/spare"), "--drain", "iowa"),
        "n-1": written(folder, "n-1", "what-if", tour, "--lose", "any"),
        "explain": written(folder, "explain", "explain", tour, "mistral-7b"),
        "shared": written(folder, "shared", "plan", str(ROOT / "examples/shared-nodes")),
    }
    for name, data in (
        ("large", pictures.large(1_000)),
        ("states", pictures.states()),
        ("hostile", pictures.hostile()),
    ):
        found[name] = folder / f"{name}.html"
        found[name].write_text(picture.render(picture.of_plan(data)))
    return found


@dataclass(slots=True)
class Opened:
    """A page in the browser, and what it did."""

    page: Page
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """Messages of the console, and errors."""


@pytest.fixture
def visit(browser: Browser, pages: dict[str, Path]) -> Iterator[object]:
    """Opens a page by its name."""
    contexts = []

    def opened(name: str, width: int = 1440, *, scheme: str = "light", script: bool = True) -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        contexts.append(context)
        found = Opened(context.new_page())
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.on("console", lambda message: found.said.append(message.text))
        found.page.on("pageerror", lambda error: found.said.append(str(error)))
        found.page.goto(pages[name].as_uri())
        return found

    yield opened
    for context in contexts:
        context.close()
