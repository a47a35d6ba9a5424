"""Which files a command passes over because its user says so: --exclude, and .modelplaneignore files.

Both have the syntax of .gitignore. Later patterns win over earlier ones, those of a folder over those above it, and
--exclude over both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from function.cli.values import BrokenFile

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Specs: TypeAlias = "tuple[tuple[Path, GitIgnoreSpec], ...]"
IGNORE_FILE = ".modelplaneignore"

option = click.option(
    "--exclude",
    "exclude",
    multiple=True,
    metavar="PATTERN",
    help=f"Pass over files and folders that match, as in .gitignore; repeatable. A file {IGNORE_FILE} does the same.",
)
"""The option of every command that reads folders."""


@dataclass(frozen=True, slots=True)
class Excludes:
    """The patterns that hold in a folder and below it."""

    rules: Specs
    """Patterns, each with the folder that they are relative to; the last one that matches decides."""

    def match(self, path: Path, *, is_folder: bool = False) -> bool:
        """Whether a file or folder is passed over. The path is absolute."""
        answers = [answer for base, spec in self.rules if (answer := _answer(base, spec, path, is_folder)) is not None]
        return bool(answers) and answers[-1]

    def match_file(self, path: Path) -> bool:
        """Whether a file, or a folder that contains it, is passed over."""
        tops = {base for base, _ in self.rules}
        folders = [folder for folder in path.parents if any(folder.is_relative_to(top) for top in tops)]
        return self.match(path) or any(self.match(folder, is_folder=True) for folder in folders)


def _answer(base: Path, spec: GitIgnoreSpec, path: Path, is_folder: bool) -> bool | None:  # noqa: FBT001
    """True for excluded, False for included again, None if no pattern matches."""
    if not path.is_relative_to(base) or path == base:
        return None
    return spec.check_file(f"{path.relative_to(base).as_posix()}{'/' * is_folder}").include


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one run of a command."""

    patterns: tuple[str, ...] = ()
    """Those of --exclude."""
    ignores_named: bool = False
    """Whether ignore files hold for files that are named themselves, as a hook names every changed file."""
    _known: dict[Path, Specs] = field(default_factory=dict)
    """The ignore files that hold in a folder, the topmost first."""

    def around(self, folder: Path) -> Excludes:
        """The patterns that hold in a folder: of the ignore files in it and above it, up to the root of the git
        repository, and of --exclude, which are relative to the folder and to the current one.

        Args:
            folder: An absolute path.

        Raises:
            BrokenFile: An ignore file cannot be read, or a pattern is none.
        """
        if folder not in self._known:
            self._known[folder] = tuple(_ignored(folder))
        return Excludes((*self._known[folder], *self._given(folder)))

    def of_named(self, file: Path) -> Excludes:
        """The patterns that hold for a file that is named itself. Raises BrokenFile."""
        return self.around(file.parent) if self.ignores_named else Excludes(tuple(self._given(file.parent)))

    def _given(self, folder: Path) -> Iterator[tuple[Path, GitIgnoreSpec]]:
        for base in dict.fromkeys((folder, Path.cwd())) if self.patterns else ():
            yield base, _spec("--exclude", self.patterns)


def _ignored(folder: Path) -> Iterator[tuple[Path, GitIgnoreSpec]]:
    for place in reversed(list(_places(folder))):
        if os.path.isfile(place / IGNORE_FILE):  # noqa: PTH113
            yield place, _spec(str(place / IGNORE_FILE), _lines(place / IGNORE_FILE))


def _places(folder: Path) -> Iterator[Path]:
    """A folder, and those above it up to the root of its git repository. Without a repository, the folder alone.

    A folder above may be unreadable: os.path then finds nothing in it, where pathlib would raise.
    """
    above = (folder, *folder.parents)
    root = next((place for place in above if os.path.exists(place / ".git")), folder)  # noqa: PTH110
    yield from above[: above.index(root) + 1]


def _lines(file: Path) -> Sequence[str]:
    try:
        return file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise BrokenFile(str(file), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BrokenFile(str(file), "is not UTF-8 text") from error


def _spec(file: str, lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        wrong = next((line for line in lines if not _is_pattern(line)), "")
        raise BrokenFile(file, f"{wrong!r} is not a pattern of .gitignore") from error


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
