"""From a revision of the hub to a directory that is whole.

A directory of work collects the files of one commit, each checked against the hub's tree as soon as it is there. When
all are, the directory is renamed to its final name: who sees that name sees everything, and a try that was killed goes
on where it ended.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from function.hydrate import hub as hubs
from function.hydrate.hub import Hub
from function.hydrate.selection import HubFile, leads_out, selected
from function.vocabulary.exit_codes import MEANING, ExitCode

MARKER = ".modelplane.json"
"""In a staged directory: which commit it holds."""
_WORK = ".modelplane-work"
_LEDGER = ".modelplane-checked"
_CLIENT_FILES = ".cache"
"""What the hub's client keeps beside the files: partial downloads, locks."""
_WORKERS = 8
_SPARE = 2**26
"""Bytes that must stay free beside the weights."""
_CHUNK = 2**22

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a try ended, and why in words."""

    exit_code: ExitCode
    message: str


class _Mismatch(Exception):
    """A file is not what the hub's tree says it is."""


class _Final(Exception):
    """No other try would end better."""

    def __init__(self, exit_code: ExitCode, why: str) -> None:
        super().__init__(why)
        self.exit_code = exit_code


def stage(hub: Hub, *, revision: str, to: Path, say: Say) -> Ended:
    """Everything of one commit that an engine loads, in the directory `to`; or nothing under that name."""
    if (to / MARKER).is_file():
        return Ended(ExitCode.STAGED, f"{to} is staged already: {(to / MARKER).read_text().strip()}")
    if to.exists():
        return Ended(ExitCode.INVALID, f"{to} exists, and was not staged by modelplane")
    os.umask(0o022)  # engines run as other users
    try:
        return _stage(hub, revision, to, say)
    except _Final as final:
        return Ended(final.exit_code, str(final))
    except _Mismatch as mismatch:
        return Ended(ExitCode.RETRY, str(mismatch))
    except Exception as fault:  # noqa: BLE001  (a fault of whatever library: the exit code must say whether to retry)
        exit_code = hubs.exit_code(fault)
        said = str(fault).partition("\n")[0]
        return Ended(exit_code, f"{MEANING[exit_code]}: {type(fault).__name__}: {said}")


def _stage(hub: Hub, revision: str, to: Path, say: Say) -> Ended:
    commit = hub.commit(revision)
    listed = hub.files(commit)
    strange = next(filter(leads_out, listed), None)
    if strange:
        raise _Final(ExitCode.INVALID, f"the hub lists a file outside of its repository: {strange.path}")
    files = selected(listed)
    if not files:
        raise _Final(ExitCode.NOTHING, MEANING[ExitCode.NOTHING])
    work = _work_directory(to, commit)
    ledger = _Ledger(work / _LEDGER)
    missing = [file for file in files if not _is_checked(work, file, ledger)]
    _check_room(work, missing)
    say(f"commit {commit}: {len(files)} files, {len(missing)} to fetch ({_size(missing)})")

    def fetch(file: HubFile) -> None:
        if not _is_whole(work / file.path, file):  # a try may have been killed while it checked
            hub.fetch(file, commit, work)
            _check(work / file.path, file)
        ledger.add(file)
        say(f"{file.path} ({_gib(file.size)})")

    _each(fetch, missing)
    return _publish(work, to, revision, commit, files)


def _work_directory(to: Path, commit: str) -> Path:
    """One for each commit: a branch that has moved on since the last try must not mix two. Nobody comes back to
    another one: a volume has one Job at a time."""
    root = to.parent / _WORK
    work = root / f"{to.name}-{commit}"
    for other in root.glob("*"):
        if other != work:
            shutil.rmtree(other)
    work.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(work / _CLIENT_FILES, ignore_errors=True)  # the client never clears what a killed try left
    return work


class _Ledger:
    """The files that were checked, so that a later try need not read terabytes again. A line each, written at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self._checked = set(lines)
        self._writing = Lock()

    def __contains__(self, file: HubFile) -> bool:
        return self._line(file) in self._checked

    def add(self, file: HubFile) -> None:
        with self._writing, self._path.open("a") as ledger:
            ledger.write(f"{self._line(file)}\n")
            ledger.flush()
            os.fsync(ledger.fileno())

    @staticmethod
    def _line(file: HubFile) -> str:
        return json.dumps([file.path, file.size, file.sha256 or file.blob])


def _is_checked(work: Path, file: HubFile, ledger: _Ledger) -> bool:
    path = work / file.path
    return file in ledger and path.is_file() and path.stat().st_size == file.size


def _check_room(work: Path, missing: Iterable[HubFile]) -> None:
    """Before hours of download. A file system may tell too much, so that a full one is an outcome later too."""
    free, needed = shutil.disk_usage(work).free, sum(file.size - _there(work / file.path) for file in missing)
    if missing and needed + _SPARE > free:
        raise _Final(ExitCode.NO_ROOM, f"{MEANING[ExitCode.NO_ROOM]}: {_gib(needed)} needed, {_gib(free)} free")


def _there(path: Path) -> int:
    """Bytes that a file which nobody has checked takes already."""
    return path.stat().st_size if path.is_file() else 0


def _each(fetch: Callable[[HubFile], None], files: Iterable[HubFile]) -> None:
    """Several at a time; the first fault ends it, once those under way have ended."""
    pool = ThreadPoolExecutor(_WORKERS)
    try:
        for _ in pool.map(fetch, files):
            pass
    finally:
        pool.shutdown(cancel_futures=True)


def _check(path: Path, file: HubFile) -> None:
    """A file that is wrong is taken away: the client would take it for right the next time."""
    if _is_whole(path, file):
        return
    path.unlink()
    raise _Mismatch(f"{file.path} is not what the hub lists; it was removed and is fetched again")


def _is_whole(path: Path, file: HubFile) -> bool:
    has_size = path.is_file() and path.stat().st_size == file.size
    return has_size and _content_name(path, file) == (file.sha256 or file.blob)


def _content_name(path: Path, file: HubFile) -> str:
    """SHA-256 of a large file; of others what git calls a blob of that content."""
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
    with path.open("rb") as content:
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _publish(work: Path, to: Path, revision: str, commit: str, files: tuple[HubFile, ...]) -> Ended:
    """The marker is written before the name is given, and the name is given in one step."""
    shutil.rmtree(work / _CLIENT_FILES, ignore_errors=True)
    (work / _LEDGER).unlink(missing_ok=True)
    marker = {"revision": revision, "commit": commit, "files": len(files), "bytes": sum(file.size for file in files)}
    with (work / MARKER).open("w") as written:
        json.dump(marker, written)
        written.flush()
        os.fsync(written.fileno())
    work.rename(to)
    return Ended(ExitCode.STAGED, f"{to}: {len(files)} files of commit {commit}, {_size(files)}")


def _size(files: Iterable[HubFile]) -> str:
    return _gib(sum(file.size for file in files))


def _gib(size: int) -> str:
    return f"{size / 2**30:.2f} GiB"
