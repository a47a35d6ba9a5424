"""MkDocs hooks: the repository's own links work on the site, and the navigation takes whole folders.

The pages in docs/ link to examples, manifests and code, as a reader of the repository needs it. Each file or folder
that a page links to is published below `source/`: Markdown as a page, any other text as a page that shows it, a folder
as its README or as a page that shows its files. MkDocs itself reports a link that leads nowhere, because nothing is
published for it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(_ROOT))  # MkDocs loads a hook as a file, not as a module of a package

from website.github_lists import GitHubLists  # noqa: E402

_DOCS = "docs"
_SOURCE = "source"
_HOME = {"README.md": "docs/index.md", ".": "docs/index.md"}
"""The README introduces the repository as the home page introduces the site."""
_LINK = re.compile(r"\]\(([^)\s#]+)")
_STATIC = {".md", ".svg", ".png"}
"""Endings of the files in docs/ that MkDocs publishes as they should be."""
_LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".py": "python", ".sh": "sh", ".toml": "toml"}
_FIELD = re.compile(r"<tr>\s*<td><code>[^<]*</code>")
"""The first cell of a row of fields."""
_PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)" ?/?>\s*'
    r'<img((?: \w+="[^"]*")*) src="([^"]+)" ?/?>\s*</picture>'
)
"""A picture for dark screens, attributes of both, and the picture for light screens."""
_SHOWN_BYTES = 60_000
"""A file of a folder is shown up to this size. A page of its own shows any file."""


def on_config(config: MkDocsConfig) -> None:
    """Read lists as the repository's web view does."""
    config.markdown_extensions.insert(0, GitHubLists())


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Publish what the pages link to, and fill the navigation's folders."""
    config.nav = _filled(config.nav or [], files)
    pages = [file for file in files if file.src_uri.endswith(".md")]
    published = _published([f"{_DOCS}/{page.src_uri}" for page in pages], _named(config.nav))
    return Repository(files, [_file(path, config) for path in published])


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Drop the note of a generated page: MkDocs takes a page's title only from its first element."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    return re.sub(r"\A<!--.*?-->\s*", "", markdown, flags=re.DOTALL)


def on_page_content(html: str, **_: Any) -> str:
    """Adapt what the repository's web view shows otherwise.

    The path of a field breaks after its dots, a prompt is not copied with its command, and a picture follows the
    site's theme rather than the system's.
    """
    html = _FIELD.sub(lambda cell: cell[0].replace(".", ".<wbr>"), html)
    html = html.replace('<span class="gp">$ </span>', '<span class="gp" data-prompt="$ "></span>')
    return _PICTURE.sub(r'<img\2 src="\1#only-dark"><img\2 src="\3#only-light">', html)


def on_post_page(output: str, **_: Any) -> str:
    """Give the theme's dialog for the search a name."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')


class Repository(Files):
    """The site's files, found by the path at which the repository has them."""

    def __init__(self, files: Iterable[File], others: Iterable[File]) -> None:
        super().__init__([*files, *others])

    def get_file_from_path(self, path: str) -> File | None:
        """Return the file for a path relative to docs/, or to the place below `source/` of the page that links."""
        here = _repository_path(path)
        return super().get_file_from_path(_site_path(here)) or super().get_file_from_path(path)


def _repository_path(path: str) -> str:
    """Return a path in the repository for one in the site."""
    inner = path.removeprefix(f"{_SOURCE}/")
    return normpath(inner if inner != path else join(_DOCS, path))


def _site_path(path: str) -> str:
    """Return the site's page for a path in the repository."""
    home = _HOME.get(path, path)
    target = _ROOT / home
    if target.is_dir():
        readme = f"{home}/README.md"
        return _site_path(readme) if (_ROOT / readme).exists() else f"{_SOURCE}/{home}.md"
    if PurePosixPath(home).is_relative_to(_DOCS) and target.suffix in _STATIC:
        return str(PurePosixPath(home).relative_to(_DOCS))
    return f"{_SOURCE}/{home}" if target.suffix == ".md" else f"{_SOURCE}/{home}.md"


def _published(pages: Iterable[str], named: Iterable[str]) -> list[str]:
    """Return the paths, in the repository, that pages link to, and that pages which are published so link to."""
    found: dict[str, None] = {}
    queue = [*named, *(link for page in pages for link in _links(page))]
    while queue:
        path = queue.pop()
        target = _ROOT / path
        if path in found or not target.exists() or not _site_path(path).startswith(f"{_SOURCE}/"):
            continue
        if (target / "README.md").exists():
            queue.append(f"{path}/README.md")
            continue
        found[path] = None
        queue += _links(path) if target.suffix == ".md" else ()
    return sorted(found)


def _links(page: str) -> Iterator[str]:
    """Yield the paths, in the repository, that a page links to."""
    for link in _LINK.findall((_ROOT / page).read_text(encoding="utf-8")):
        path = normpath(join(dirname(page), link))
        if "://" not in link and not path.startswith("../"):
            yield path


def _file(path: str, config: MkDocsConfig) -> File:
    target = _ROOT / path
    text = target.read_text(encoding="utf-8") if target.suffix == ".md" else _page(path)
    return File.generated(config, _site_path(path), content=text, inclusion=InclusionLevel.NOT_IN_NAV)


def _page(path: str) -> str:
    """Return a page that shows a file, or the files of a folder. The search prefers pages of prose."""
    target = _ROOT / path
    lines = [f"---\ntitle: {path}\nsearch:\n  boost: 0.3\n---\n", f"# `{path}`\n"]
    if target.is_file():
        return "\n".join([*lines, _shown(target)])
    for one in sorted(target.iterdir()):
        if one.is_file() and one.suffix in _LANGUAGES and one.stat().st_size < _SHOWN_BYTES:
            lines += [f"## `{one.name}`\n", _shown(one)]
    folders = [one.name for one in sorted(target.iterdir()) if one.is_dir() and not one.name.startswith(("_", "."))]
    if folders:
        lines += ["## Folders\n", *(f"- `{path}/{name}`" for name in folders)]
    return "\n".join(lines)


def _shown(file: Path) -> str:
    return f"``````{_LANGUAGES.get(file.suffix, 'text')}\n{file.read_text(encoding='utf-8').rstrip()}\n``````\n"


def _filled(nav: Any, files: Files) -> Any:
    """Return the navigation with the pages of a folder in place of the folder."""
    named = {*_names(nav)}
    rest = [file.src_uri for file in files if file.src_uri.endswith(".md") and file.src_uri not in named]

    def fill(entry: Any) -> list[Any]:
        match entry:
            case dict():
                return [{title: _section(below, fill)} for title, below in entry.items()]
            case str() if entry.endswith("/"):
                return sorted((page for page in rest if join(dirname(page), "") == entry), key=_order)
            case _:
                return [entry]

    return [filled for entry in nav for filled in fill(entry)]


def _section(below: Any, fill: Any) -> Any:
    """Return what is below a title: a page, or a list. A folder is a list."""
    if isinstance(below, list):
        return [filled for entry in below for filled in fill(entry)]
    return fill(below) if below.endswith("/") else below


def _order(page: str) -> tuple[bool, str]:
    """Return the key that sorts the page of a folder before the others."""
    return not page.endswith(("README.md", "index.md")), page


def _names(nav: Any) -> Iterator[str]:
    """Yield every page that the navigation names."""
    match nav:
        case str():
            yield nav
        case dict():
            yield from (name for below in nav.values() for name in _names(below))
        case list():
            yield from (name for entry in nav for name in _names(entry))


def _named(nav: Any) -> list[str]:
    """Return the paths, in the repository, of the pages that the navigation names."""
    return [normpath(join(_DOCS, name)) for name in _names(nav)]
