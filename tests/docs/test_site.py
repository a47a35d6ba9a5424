"""docs/ as a site: the strict build passes, and nothing is loaded from another host."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.docs import site

URL = re.compile(r"(?:https?:)?//")


def test_every_page_is_published_and_loads_only_from_the_site(built: Path) -> None:
    """Styles and pictures may name others, too."""
    pages = {path: site.read(path) for path in built.rglob("*.html")}
    loaded = {path.name: [one for one in page.loaded if URL.match(one)] for path, page in pages.items()}
    styles = [
        path.name
        for path in built.rglob("*.css")
        if re.search(rf"(?:url\(|@import)[\s'\"]*{URL.pattern}", path.read_text())
    ]

    sources = {path.relative_to(site.ROOT / "docs").with_suffix("") for path in (site.ROOT / "docs").rglob("*.md")}
    names = {path.relative_to(built).with_suffix("") for path in pages}
    assert {path.parent / "index" if path.name == "README" else path for path in sources} <= names
    assert {name: urls for name, urls in loaded.items() if urls} == {}
    assert styles == []


def test_what_a_page_would_load_is_found() -> None:
    page = site.Page()
    page.feed('<a href="//a"></a><img src="//b"><link rel=stylesheet href="https://c"><picture><source srcset="//d">')

    assert page.loaded == ["//b", "https://c", "//d"]


def test_every_image_and_script_is_there(built: Path) -> None:
    missing = {
        f"{path.relative_to(built)}: {one}"
        for path in built.rglob("*.html")
        for one in site.read(path).loaded
        if not URL.match(one) and not one.startswith(("data:", "#")) and not target(built, path, one).exists()
    }

    assert missing == set()


def target(root: Path, page: Path, link: str) -> Path:
    path = re.split("[#?]", link)[0]
    return root / path.lstrip("/") if path.startswith("/") else page.parent / path


def test_no_markdown_is_left_in_the_text(built: Path) -> None:
    """The site's Markdown is stricter than that of the repository's web view: about lists, above all."""
    left = re.compile(r"\s*(?:```|[-*+] \w|1\. \w|\|.*\||#+ )")
    found = {
        f"{path.relative_to(built)}: {line}"
        for path in built.rglob("*.html")
        for line in site.read(path).prose
        if left.match(line)
    }

    assert found == set()


def test_the_search_knows_every_section(built: Path) -> None:
    index = (built / "search/search_index.js").read_text()

    assert index.startswith("var __index = {")
    assert all(f'"location":"{name}' in index for name in ("install.html", "reference/modeldeployment.html"))


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("../examples/none.yaml", "but the target is not found among documentation files"),
        ("../examples/tour/none/", "unrecognized relative link '../examples/tour/none/'"),
        ("none.md", "a link 'none.md', but the target is not found among documentation files"),
        ("install.md#none", "does not contain an anchor '#none'"),
        ("/install.md", "an absolute link '/install.md'"),
    ],
)
def test_a_broken_link_fails_the_build(link: str, problem: str, broken: str) -> None:
    assert f"'{link}'" in broken
    assert problem in broken


def test_a_page_of_no_section_fails_the_build(broken: str) -> None:
    assert 'not included in the "nav" configuration:\n  - stray.md' in broken


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the build says of a repository with broken links and a page that is in no section."""
    root = tmp_path_factory.mktemp("repository")
    for name in ("docs", "examples", "package", "website", "mkdocs.yml"):
        copy = shutil.copytree if (site.ROOT / name).is_dir() else shutil.copy
        copy(site.ROOT / name, root / name)
    links = ["../examples/none.yaml", "../examples/tour/none/", "none.md", "install.md#none", "/install.md"]
    (root / "docs/stray.md").write_text("# Stray\n\n" + "\n".join(f"[a]({link})" for link in links))

    done = site.build(root, root / "built")
    assert done.returncode != 0
    return done.stderr
