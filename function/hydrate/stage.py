"""Downloads one revision of a repository into a directory that appears only when it is complete.

Phases of `stage`, in call order:

1. Resolve the revision to a commit, list its files, and select those that an engine loads (selection.py).
2. Collect them in a work directory of that commit. Each file is verified against the hub's tree directly after its
   download, and then recorded, so that a later try does not verify it again.
3. Write a marker, and rename the work directory. A rename is atomic, so a directory with the final name is complete.

A try that was killed leaves its work directory, and the next try continues there.
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
"""A file in a staged directory that names its commit."""
_WORK = ".modelplane-work"
_LEDGER = ".modelplane-checked"
_CLIENT_FILES = ".cache"
"""The folder of the hub's client: partial downloads and locks."""
_WORKERS = 8
_SPARE = 2**26
"""Bytes that must stay free on the volume."""
_CHUNK = 2**22

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a try, and its reason in words."""

    exit_code: ExitCode
    message: str


class _Mismatch(Exception):
    """A file differs from the hub's tree."""


class _Final(Exception):
    """A failure that another try would repeat."""

    def __init__(self, exit_code: ExitCode, why: str) -> None:
        super().__init__(why)
        self.exit_code = exit_code


def stage(hub: Hub, *, revision: str, to: Path, say: Say) -> Ended:
    """Download the files of one commit that an engine loads into the directory `to`, or leave no such directory.

    Args:
        hub: The repository.
        revision: A branch, tag or commit.
        to: The final directory.
        say: Called with each line of progress.

    Returns:
        The exit code, and why. Raises nothing: every failure is an exit code.
    """
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
    except Exception as fault:  # noqa: BLE001  (whatever a library raises, the exit code must tell whether to retry)
        exit_code = hubs.exit_code(fault)
        message = str(fault).partition("\n")[0]
        return Ended(exit_code, f"{MEANING[exit_code]}: {type(fault).__name__}: {message}")


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
        if not _is_whole(work / file.path, file):  # a try can have been killed during verification
            hub.fetch(file, commit, work)
            _check(work / file.path, file)
        ledger.add(file)
        say(f"{file.path} ({_gib(file.size)})")

    _each(fetch, missing)
    return _publish(work, to, revision, commit, files)


def _work_directory(to: Path, commit: str) -> Path:
    """The work directory of a commit: if a branch has moved since the last try, two commits must not be mixed. Those of
    other commits are removed, because a volume has one Job at a time."""
    root = to.parent / _WORK
    work = root / f"{to.name}-{commit}"
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
    """Check the free space before hours of download. File systems can overstate it, so ENOSPC is handled later too."""
    free, needed = shutil.disk_usage(work).free, sum(file.size - _there(work / file.path) for file in missing)
    if missing and needed + _SPARE > free:
        raise _Final(ExitCode.NO_ROOM, f"{MEANING[ExitCode.NO_ROOM]}: {_gib(needed)} needed, {_gib(free)} free")


def _there(path: Path) -> int:
    """Bytes of a file that exists and was not verified."""
    return path.stat().st_size if path.is_file() else 0


def _each(fetch: Callable[[HubFile], None], files: Iterable[HubFile]) -> None:
    """Fetch several files at a time. The first failure stops it, after the fetches in progress."""
    pool = ThreadPoolExecutor(_WORKERS)
    try:
        for _ in pool.map(fetch, files):
            pass
    finally:
        pool.shutdown(cancel_futures=True)


def _check(path: Path, file: HubFile) -> None:
    """Verify a file. Remove a wrong one: the client would not download it again otherwise."""
    if _is_whole(path, file):
        return
    path.unlink()
    raise _Mismatch(f"{file.path} is not what the hub lists; it was removed and is fetched again")


def _is_whole(path: Path, file: HubFile) -> bool:
    has_size = path.is_file() and path.stat().st_size == file.size
    return has_size and _content_name(path, file) == (file.sha256 or file.blob)


def _content_name(path: Path, file: HubFile) -> str:
    """The SHA-256 of a large file; of others the hash of their git blob."""
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
    with path.open("rb") as content:
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _publish(work: Path, to: Path, revision: str, commit: str, files: tuple[HubFile, ...]) -> Ended:
    """Write the marker, then rename the directory atomically."""
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
