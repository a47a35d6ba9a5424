"""Which files of the paths that a user names are read.

In a folder: files whose names end in .yaml, .yml or .json, in order, without hidden files and folders, node_modules,
what is excluded, and what another tool renders (rendered.py). A link to a file is read, a link to a folder is not
followed, so that links cannot loop. A file that is named itself is always read, unless it is excluded.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from function.cli import rendered
from function.cli.content import STDIN
from function.cli.excludes import Excludes, Rules
from function.cli.inputs import Skipped
from function.cli.values import BrokenFile
from function.core import closest, enumerate_names

SUFFIXES: Final = (".yaml", ".yml", ".json")
_NEVER: Final = ("node_modules",)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read."""

    path: str
    is_named: bool
    """Whether the user named the file itself, not a folder above it."""
    build: Path | None = None
    """The nearest folder at or above the file, in the folder that the user named, that has a kustomization."""


def files(path: str, rules: Rules, skipped: Skipped) -> Iterator[SourceFile | BrokenFile]:
    """The files that a path stands for, and what keeps some from being read. What is passed over is counted."""
    if path == STDIN:
        yield SourceFile(path, is_named=True)
        return
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  (a name that is not UTF-8 too)
    except (OSError, ValueError) as error:
        yield BrokenFile(path, _absent(path, error))
        return
    try:
        yield from _below(path, rules, skipped) if stat.S_ISDIR(mode) else _named(path, rules, skipped)
    except BrokenFile as problem:  # an ignore file, or a pattern
        yield problem
    except OSError as error:  # such as a current folder that was removed
        yield BrokenFile(path, f"cannot be read: {error.strerror}")


def _named(path: str, rules: Rules, skipped: Skipped) -> Iterator[SourceFile | BrokenFile]:
    place = _absolute(path)
    if rules.of_named(place).match_file(place):
        skipped.excluded += 1
    elif place.name in rendered.KUSTOMIZATIONS:
        skipped.note(rendered.kustomization(Path(path).parent))
    elif chart := rendered.chart_of(Path(path)) or rendered.chart_of(place):
        yield BrokenFile(path, f"a template of a Helm chart; {rendered.helm(chart)}")
    elif folder := rendered.patched_in(Path(path)):
        yield BrokenFile(path, f"a patch of Kustomize; {rendered.kustomize(folder)}")
    else:
        yield SourceFile(path, is_named=True)


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  (resolves no links: patterns are about names)


def _below(path: str, rules: Rules, skipped: Skipped) -> Iterator[SourceFile | BrokenFile]:
    before = skipped.files
    walk = _Walk(rules.around(_absolute(path)), skipped, [])
    found = list(walk.below(path))
    yield from walk.broken
    patches = rendered.patches([*walk.kustomized, *rendered.above(Path(path))])
    for file in found:
        folder = patches.get(os.path.realpath(file)) if patches else None
        if folder is None:
            yield SourceFile(file, is_named=False, build=_build(file, walk.kustomized))
        else:
            skipped.patches += 1
            skipped.note_if(rendered.patch(folder, Path(file)))
    if not found and not walk.broken and skipped.files == before:
        yield BrokenFile(path, f"no {enumerate_names(SUFFIXES, len(SUFFIXES))} files in this folder")


def _build(file: str, kustomized: Collection[Path]) -> Path | None:
    above = Path(file).parents if kustomized else ()
    return next((folder for folder in above if folder in kustomized), None)


class _Walk:
    """A walk through one folder."""

    def __init__(self, excludes: Excludes, skipped: Skipped, broken: list[BrokenFile]) -> None:
        self._excludes, self._skipped, self.broken = excludes, skipped, broken
        self.kustomized: dict[Path, None] = {}
        """The folders with a kustomization."""

    def below(self, top: str) -> Iterator[str]:
        """The files to read, sorted by their paths."""
        chart = rendered.chart_of(Path(top)) or rendered.chart_of(_absolute(top))
        found = [] if chart else list(self._walk(top))
        if chart:
            self._pass_templates(Path(top), chart)
        yield from map(str, sorted(found))

    def _walk(self, top: str) -> Iterator[Path]:
        for folder, folders, names in os.walk(top, onerror=self._unreadable):
            place = Path(folder)
            self._prune(place, folders, is_chart=rendered.CHART in names)
            for name in names:
                if name in rendered.KUSTOMIZATIONS:
                    self.kustomized[place] = None
                elif self._is_wanted(place, name):
                    yield place / name

    def _prune(self, place: Path, folders: list[str], *, is_chart: bool) -> None:
        """Remove the folders to pass over. os.walk goes only into those that are left."""
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NEVER)
        if is_chart and rendered.TEMPLATES in folders:
            folders.remove(rendered.TEMPLATES)
            self._pass_templates(place / rendered.TEMPLATES, place)
        if self._excludes.rules:
            kept = [n for n in folders if not self._excludes.match(_absolute(str(place / n)), is_folder=True)]
            self._skipped.excluded += len(folders) - len(kept)
            folders[:] = kept

    def _is_wanted(self, place: Path, name: str) -> bool:
        if name.startswith(".") or not name.lower().endswith(SUFFIXES):
            return False
        if self._excludes.rules and self._excludes.match(_absolute(str(place / name))):
            self._skipped.excluded += 1
            return False
        return self._is_file(str(place / name))

    def _is_file(self, path: str) -> bool:
        """Whether a path is a regular file. A pipe or a device is none; a link to nothing is a fault."""
        try:
            return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
        except OSError as error:
            self.broken.append(BrokenFile(path, _absent(path, error)))
            return False

    def _pass_templates(self, templates: Path, chart: Path) -> None:
        names = (name for _, _, names in os.walk(templates) for name in names)
        self._skipped.templates += sum(name.lower().endswith(SUFFIXES) for name in names)
        self._skipped.note(f"{chart}: the templates of this Helm chart were skipped; {rendered.helm(chart)}")

    def _unreadable(self, error: OSError) -> None:
        self.broken.append(BrokenFile(str(error.filename), f"cannot be read: {error.strerror}"))


def _absent(path: str, error: OSError | ValueError) -> str:
    """Why a path cannot be opened."""
    if isinstance(error, ValueError):
        return "not a path: it contains a NUL character"
    if error.errno == errno.ELOOP:
        return "a link that leads back to itself"
    if error.errno not in (errno.ENOENT, errno.ENOTDIR):
        return f"cannot be read: {error.strerror}"
    if os.path.islink(path):  # noqa: PTH114
        return f"a link to {os.readlink(path)}, which does not exist"  # noqa: PTH115
    return f"no such file or folder{_meant(path)}"


def _meant(path: str) -> str:
    """The nearest path that exists, by the first part that does not."""
    place = Path(path)
    there = next((parent for parent in place.parents if parent.is_dir()), None)
    if there is None:
        return ""
    missing = place.parts[len(there.parts)] if str(there) != "." else place.parts[0]
    try:
        names = [entry for entry in os.listdir(there) if not entry.startswith(".")]  # noqa: PTH208
    except OSError:
        return ""
    found = closest(missing, names)
    return f"; did you mean {there / found}?" if found else ""
