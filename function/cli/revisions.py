"""Files as they were in a git revision, read by git itself. Positions in messages are `REV:path:line:column`."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO, NoReturn

import click

from function.cli import files
from function.cli.content import STDIN
from function.cli.excludes import IGNORE_FILE
from function.cli.files import Loaded
from function.cli.values import BrokenFile
from function.cli.walk import SUFFIXES
from function.core import closest

_LINK = "120000"
"""The mode of a link (git-fast-import(1))."""
_GIT = ("git", "--no-optional-locks", "--literal-pathspecs")

_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


def read(revision: str, paths: Sequence[str], exclude: Sequence[str] = ()) -> tuple[list[Loaded], list[BrokenFile]]:
    """Read every object that was in some files and folders in a revision. A path that did not exist has none.

    What is passed over today was passed over then: by the patterns given, and by the ignore files as they are.

    Returns:
        The objects, and everything that cannot be read as objects.

    Raises:
        ClickException: There is no git, no repository, or no such revision.
    """
    loaded: list[Loaded] = []
    broken: list[BrokenFile] = []
    with tempfile.TemporaryDirectory(prefix="modelplane-") as folder:
        for index, path in enumerate(paths):
            there = _extracted(revision, path, Path(folder, str(index)).resolve())
            if there is None:
                continue
            found = files.read([str(there)], _below(path, exclude))
            spelled = _speller(revision, path, str(there))
            loaded += [replace(one, source=replace(one.source, file=spelled(one.source.file))) for one in found.loaded]
            broken += [BrokenFile(spelled(fault.file), fault.problem, fault.position) for fault in found.broken]
    return loaded, broken


def _below(path: str, patterns: Sequence[str]) -> list[str]:
    """Patterns relative to a folder, of those relative to it or to the current one."""
    return [*patterns, *(one.removeprefix(f"{path.rstrip('/')}/") for one in patterns)]


def _speller(revision: str, path: str, there: str) -> Callable[[str], str]:
    """Spells an extracted file as it was given, after the revision."""
    return lambda file: f"{revision}:{path.rstrip('/')}{file.removeprefix(there)}"


def _extracted(revision: str, path: str, folder: Path) -> Path | None:
    """Write a file or folder of a revision into a folder. Returns its place; None if it has no manifests there."""
    if path == STDIN:
        raise click.UsageError("--base needs files or folders in a git repository; standard input has no revision")
    repository = _Repository.of(path)
    commit = repository.commit(revision)
    inside = repository.inside(path)
    entries = [entry for entry in repository.entries(commit, inside) if _is_read(entry, inside)]
    if not entries:
        return None
    repository.write(commit, entries, folder)
    repository.copy_ignored(folder / inside, folder)
    return folder / inside


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file or a link of a revision."""

    mode: str
    path: str
    """From the top of the repository."""


def _is_read(entry: _Entry, inside: str) -> bool:
    """Whether an entry may be read: one that was given itself, or one in a folder that looks like manifests."""
    name = PurePosixPath(entry.path)
    return entry.path == inside or name.suffix in SUFFIXES


@dataclass(frozen=True, slots=True)
class _Repository:
    """A git repository with a working tree."""

    top: Path

    @staticmethod
    def of(path: str) -> _Repository:
        """The repository that a path is in. Raises ClickException."""
        place = Path(path).resolve()
        if not place.exists():
            raise click.ClickException(f"{path}: no such file or folder")
        found = _run(place if place.is_dir() else place.parent, "rev-parse", "--show-toplevel")
        if found.returncode:
            _fail(f"--base: {path} is not in a git repository that can be read", found)
        return _Repository(Path(_text(found.stdout)))

    def inside(self, path: str) -> str:
        """A path from the top of the repository; empty for the top itself."""
        place = Path(path).resolve().relative_to(self.top.resolve()).as_posix()
        return "" if place == "." else place

    def commit(self, revision: str) -> str:
        """The commit of a revision. Raises ClickException, with the closest name or what to fetch."""
        found = _run(self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if not found.returncode:
            return _text(found.stdout)
        hint = self._shallow(revision) or self._closest(revision)
        raise click.ClickException(f"--base {revision}: there is no such revision in {self.top}{hint}")

    def _shallow(self, revision: str) -> str:
        """What to do in a repository with a part of the history, such as that of a CI job."""
        if _text(_run(self.top, "rev-parse", "--is-shallow-repository").stdout) != "true":
            return ""
        branch = revision.removeprefix("origin/")
        named = f"git fetch --depth=1 origin {branch} and use --base FETCH_HEAD"
        whole = "get the whole history: git fetch --unshallow, or fetch-depth: 0 of actions/checkout"
        return f"; this clone is shallow: {f'run {named}, or ' if _is_a_name(revision) else ''}{whole}"

    def _closest(self, revision: str) -> str:
        listed = _run(self.top, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
        known = ["HEAD", *_text(listed.stdout).split()]
        meant = f"origin/{revision}" if f"origin/{revision}" in known else closest(revision, known)
        return f"; did you mean {meant}?" if meant else ""

    def entries(self, commit: str, inside: str) -> Iterator[_Entry]:
        """The files and links of a commit at a path and below it."""
        found = _run(self.top, "ls-tree", "-r", "-z", "--full-tree", commit, *(["--", inside] if inside else []))
        if found.returncode:
            _fail(f"--base: cannot list {inside or 'the files'} of {commit}", found)
        for line in found.stdout.decode(errors="surrogateescape").split("\0")[:-1]:
            described, _, path = line.partition("\t")
            yield _Entry(described.partition(" ")[0], path)

    def write(self, commit: str, entries: Sequence[_Entry], folder: Path) -> None:
        """Write files of a commit into a folder. Links stay links where they lead to another file that is written."""
        contents = self._contents(commit, entries)
        for entry, content in sorted(zip(entries, contents, strict=True), key=lambda pair: pair[0].mode == _LINK):
            file = folder / entry.path
            file.parent.mkdir(parents=True, exist_ok=True)
            target = self._target(commit, entry, folder) if entry.mode == _LINK else None
            if target is not None:
                file.symlink_to(target)
            elif content is not None:
                file.write_bytes(content)

    def copy_ignored(self, place: Path, folder: Path) -> None:
        """Copy the ignore files of the working tree that hold in a place, below a folder that is the top."""
        (folder / ".git").mkdir(exist_ok=True)  # where the ignore files end that hold
        for above in (place, *place.parents):
            if not above.is_relative_to(folder):
                return
            found = self.top / above.relative_to(folder) / IGNORE_FILE
            if found.is_file() and above.is_dir():
                (above / IGNORE_FILE).write_bytes(found.read_bytes())

    def _target(self, commit: str, entry: _Entry, folder: Path) -> Path | None:
        """Where a link leads to, if that is a file that was written."""
        link = _run(self.top, "cat-file", "blob", f"{commit}:{entry.path}").stdout.decode(errors="surrogateescape")
        target = (folder / entry.path).parent.joinpath(link).resolve()
        return target if target.is_relative_to(folder) and target.is_file() else None

    def _contents(self, commit: str, entries: Sequence[_Entry]) -> Iterator[bytes | None]:
        """The contents of files; None for a link that leads nowhere."""
        odd = next((entry.path for entry in entries if "\n" in entry.path), None)
        if odd is not None:
            raise click.ClickException(f"--base: git cannot be asked for {odd!r}, whose name has a line break")
        asked = "".join(f"{commit}:{entry.path}\n" for entry in entries).encode(errors="surrogateescape")
        found = _run(self.top, "cat-file", "--batch", "--follow-symlinks", stdin=asked)
        if found.returncode:
            _fail(f"--base: cannot read the files of {commit}", found)
        answers = io.BytesIO(found.stdout)
        return (_next(answers) for _ in entries)


def _is_a_name(revision: str) -> bool:
    """Whether a revision is a branch, a tag or a commit, rather than relative to one."""
    return re.fullmatch(r"[\w./-]+", revision) is not None and ".." not in revision


def _next(answers: IO[bytes]) -> bytes | None:
    """The next content in the answers of `git cat-file --batch --follow-symlinks`; None if there is no file, but a link
    that leads nowhere, or a submodule."""
    words = answers.readline().rstrip(b"\n").split(b" ")
    if words[-1] == b"missing":
        return None
    size = int(words[-1])
    content = answers.read(size)
    answers.read(1)  # the line end behind it
    return content if words[1] == b"blob" else None


# git


def _run(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603  (no shell, and every argument is git's own or behind one that ends options)
            [*_GIT, "-C", str(folder), *arguments], input=stdin, env=_environment(), capture_output=True, check=False
        )
    except FileNotFoundError as missing:
        raise click.ClickException("--base needs git, which is not installed") from missing


def _environment() -> dict[str, str]:
    """The environment without the repository of the hook that may run the command: a path says where it is."""
    return {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK} | {"LC_ALL": "C"}


def _fail(problem: str, failed: subprocess.CompletedProcess[bytes]) -> NoReturn:
    said = " ".join(failed.stderr.decode(errors="replace").split())
    raise click.ClickException(f"{problem}: {said}" if said else problem)


def _text(output: bytes) -> str:
    return output.decode(errors="surrogateescape").rstrip("\n")
