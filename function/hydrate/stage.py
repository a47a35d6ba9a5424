"""Downloads a model into a directory that appears only when it is complete.

Terms. An *origin* is a repository of the Hugging Face hub (hub.py) or a folder of a bucket (bucket.py). Its *listing*
has the files and a version, which changes with any of them: the commit, or a hash over the ETags.

Phases of `stage`, in call order:

1. List the files of the origin, and select those that the user wants or an engine loads (selection.py).
2. Collect them in a work directory of that version. Each file is verified against the listing directly after its
   download, and then recorded, so that a later try does not verify it again.
3. Write a marker, and rename the work directory. A rename is atomic, so a directory with the final name is complete.

A try that was killed leaves its work directory, and the next try continues there.

Deliberately coarse. A file is one stream, and eight files are fetched at a time: a model of a few large files does not
use a fast network fully, and in return a killed download continues within a file.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

from function.hydrate.files import Digest, File, Listing, collides, digest_of, leads_out, size_of
from function.hydrate.selection import Nothing, Patterns, selected
from function.vocabulary.exit_codes import ExitCode, Meaning

MARKER = ".modelplane.json"
"""A file in a staged directory that says where its files are from."""
_WORK = ".modelplane-work"
_LEDGER = ".modelplane-checked"
_CLIENT_FILES = ".cache"
"""The folder of the hub's client: partial downloads and locks."""
_WORKERS = 8
_SPARE = 2**26
"""Bytes that must stay free on the volume."""

Say = Callable[[str], None]
ALL = Patterns()


class Origin(Protocol):
    """Where a model is downloaded from. Its methods raise whatever their client raises."""

    meaning: Meaning
    """What each exit code means here."""
    is_repository: bool
    """Whether engines load only a part of its files."""

    def listing(self) -> Listing:
        """All files. Called once, before anything else."""

    def fetch(self, file: File, listing: Listing, to: Path) -> None:
        """Download a file to its path below `to`, or continue what is there. Called from several threads."""

    def digest(self, file: File) -> Digest | None:
        """What the content adds up to, with an algorithm of `files.ALGORITHMS`. None if the origin does not say."""

    def exit_code(self, fault: Exception) -> ExitCode:
        """The exit code for an exception of these methods, or of the volume."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a try, and its reason in words."""

    exit_code: ExitCode
    message: str


class _Mismatch(Exception):
    """A file differs from the listing."""


class _Final(Exception):
    """A failure that another try would repeat."""

    def __init__(self, exit_code: ExitCode, why: str) -> None:
        super().__init__(why)
        self.exit_code = exit_code


def stage(origin: Origin, *, to: Path, say: Say, patterns: Patterns = ALL) -> Ended:
    """Download the selected files of an origin into the directory `to`, or leave no such directory.

    Args:
        origin: Where the files are from.
        to: The final directory.
        say: Called with each line of progress.
        patterns: Which files the user wants.

    Returns:
        The exit code, and why. Raises nothing: every failure is an exit code.
    """
    if (to / MARKER).is_file():
        return Ended(ExitCode.STAGED, f"{to} is staged already: {(to / MARKER).read_text().strip()}")
    if to.exists():
        return Ended(ExitCode.INVALID, f"{to} exists, and was not staged by modelplane")
    os.umask(0o022)  # engines run as other users
    try:
        return _stage(origin, patterns, to, say)
    except _Final as final:
        return Ended(final.exit_code, str(final))
    except _Mismatch as mismatch:
        return Ended(ExitCode.RETRY, str(mismatch))
    except Nothing as nothing:
        return Ended(ExitCode.NOTHING, str(nothing) or origin.meaning[ExitCode.NOTHING])
    except Exception as fault:  # noqa: BLE001  (whatever a library raises, the exit code must tell whether to retry)
        exit_code = origin.exit_code(fault)
        message = str(fault).partition("\n")[0]
        return Ended(exit_code, f"{origin.meaning[exit_code]}: {type(fault).__name__}: {message}")


def _stage(origin: Origin, patterns: Patterns, to: Path, say: Say) -> Ended:
    listing = origin.listing()
    strange = next(filter(leads_out, listing.files), None)
    if strange:
        raise _Final(ExitCode.INVALID, f"a file outside of its directory is listed: {strange.path}")
    files = selected(listing.files, patterns, is_repository=origin.is_repository)
    if twice := collides(files):
        raise _Final(ExitCode.INVALID, f"{twice} is listed as a file and as a directory")
    work = _work_directory(to, listing.version)
    ledger = _Ledger(work / _LEDGER)
    missing = [file for file in files if not _is_checked(work, file, ledger)]
    _check_room(work, missing, origin)
    say(f"{listing.told}: {len(files)} files, {len(missing)} to fetch ({_size(missing)})")

    def fetch(file: File) -> None:
        if not _is_whole(work / file.path, file, origin):  # a try can have been killed during verification
            origin.fetch(file, listing, work)
            _check(work / file.path, file, origin)
        ledger.add(file)
        say(f"{file.path} ({_gib(file.size)})")

    _each(fetch, missing)
    return _publish(work, to, listing, files)


def _work_directory(to: Path, version: str) -> Path:
    """The work directory of a version: if a branch has moved since the last try, two commits must not be mixed.

    Those of other versions are removed, because a volume has one Job at a time.
    """
    root = to.parent / _WORK
    work = root / f"{to.name}-{version}"
    for other in root.glob("*"):
        if other != work:
            shutil.rmtree(other)
    work.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(work / _CLIENT_FILES, ignore_errors=True)  # the client never removes what a killed try left
    return work


class _Ledger:
    """The files that were verified, one per line, so that a later try need not read terabytes again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self._checked = set(lines)
        self._writing = Lock()

    def __contains__(self, file: File) -> bool:
        return self._line(file) in self._checked

    def add(self, file: File) -> None:
        with self._writing, self._path.open("a") as ledger:
            ledger.write(f"{self._line(file)}\n")
            ledger.flush()
            os.fsync(ledger.fileno())

    @staticmethod
    def _line(file: File) -> str:
        return json.dumps([file.path, file.size, file.version])


def _is_checked(work: Path, file: File, ledger: _Ledger) -> bool:
    path = work / file.path
    return file in ledger and path.is_file() and path.stat().st_size == file.size


def _check_room(work: Path, missing: Iterable[File], origin: Origin) -> None:
    """Check the free space before hours of download. File systems can overstate it, so ENOSPC is handled later too."""
    free, needed = shutil.disk_usage(work).free, sum(file.size - size_of(work / file.path) for file in missing)
    if missing and needed + _SPARE > free:
        why = f"{origin.meaning[ExitCode.NO_ROOM]}: {_gib(needed)} needed, {_gib(free)} free"
        raise _Final(ExitCode.NO_ROOM, why)


def _each(fetch: Callable[[File], None], files: Iterable[File]) -> None:
    """Fetch several files at a time. The first failure stops it, after the fetches in progress."""
    pool = ThreadPoolExecutor(_WORKERS)
    try:
        for _ in pool.map(fetch, files):
            pass
    finally:
        pool.shutdown(cancel_futures=True)


def _check(path: Path, file: File, origin: Origin) -> None:
    """Verify a file. Remove a wrong one: the client would not download it again otherwise."""
    if _is_whole(path, file, origin):
        return
    path.unlink()
    raise _Mismatch(f"{file.path} is not what was listed; it was removed and is fetched again")


def _is_whole(path: Path, file: File, origin: Origin) -> bool:
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    digest = origin.digest(file)
    return digest is None or digest_of(path, digest.algorithm) == digest.value


def _publish(work: Path, to: Path, listing: Listing, files: tuple[File, ...]) -> Ended:
    """Write the marker, then rename the directory atomically."""
    shutil.rmtree(work / _CLIENT_FILES, ignore_errors=True)
    (work / _LEDGER).unlink(missing_ok=True)
    marker = {**listing.facts, "files": len(files), "bytes": sum(file.size for file in files)}
    with (work / MARKER).open("w") as written:
        json.dump(marker, written)
        written.flush()
        os.fsync(written.fileno())
    work.rename(to)
    return Ended(ExitCode.STAGED, f"{to}: {len(files)} files of {listing.told}, {_size(files)}")


def _size(files: Iterable[File]) -> str:
    return _gib(sum(file.size for file in files))


def _gib(size: int) -> str:
    return f"{size / 2**30:.2f} GiB"
