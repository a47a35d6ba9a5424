"""The files of a model, as their origin lists them, and their checksums."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

_CHUNK = 2**22

Checksum = Callable[[bytes, int], int]
"""Continues a checksum by a chunk."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What the content of a file must add up to."""

    algorithm: str
    """One of `ALGORITHMS`."""
    value: str
    """In hexadecimal digits, lower-case."""


@dataclass(frozen=True, slots=True)
class File:
    """A file as its origin lists it."""

    path: str
    """Relative to the repository or the prefix."""
    size: int
    """Bytes."""
    version: str
    """Changes with the content: the SHA-256 or git blob of the hub, the ETag of a store."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of an origin at one time."""

    version: str
    """Changes with any of the files. Part of the name of a directory."""
    told: str
    """The version in words, for the log."""
    files: tuple[File, ...]
    facts: Mapping[str, Any]
    """What the marker of a staged directory says about where its files are from."""


def leads_out(file: File) -> bool:
    """Whether a path leaves its directory, or two paths could name one file. An origin that lists it is not trusted."""
    parts = file.path.split("/")
    return not all(parts) or not {".", ".."}.isdisjoint(parts) or "\0" in file.path


def collides(files: tuple[File, ...]) -> str | None:
    """Return a path that is both a file and the directory of another. Object stores can hold both."""
    paths = {file.path for file in files}
    directories = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return min(paths & directories, default=None)


def size_of(path: Path) -> int:
    """Bytes of a file; 0 if there is none."""
    return path.stat().st_size if path.is_file() else 0


def digest_of(path: Path, algorithm: str) -> str:
    """Return the digest of a file in hexadecimal digits."""
    if algorithm in _HASHES:
        digest = _HASHES[algorithm](size_of(path))
        for chunk in _chunks(path):
            digest.update(chunk)
        return str(digest.hexdigest())
    width, checksum = _CHECKSUMS[algorithm]
    value = 0
    for chunk in _chunks(path):
        value = checksum(chunk, value)
    return f"{value:0{width}x}"


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as content:
        while chunk := content.read(_CHUNK):
            yield chunk


def _git_blob(size: int) -> Any:
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)


_HASHES: Mapping[str, Callable[[int], Any]] = {
    "sha256": lambda _: hashlib.sha256(),
    "sha1": lambda _: hashlib.sha1(usedforsecurity=False),
    "md5": lambda _: hashlib.md5(usedforsecurity=False),
    "git-blob": _git_blob,
}


def _checksums() -> Iterator[tuple[str, tuple[int, Checksum]]]:
    """Yield the width in digits and the function of each checksum. Those of AWS's library are missing without it."""
    yield "crc32", (8, zlib.crc32)
    try:
        from awscrt import checksums
    except ImportError:
        return
    yield "crc32c", (8, checksums.crc32c)
    yield "crc64nvme", (16, checksums.crc64nvme)


_CHECKSUMS = dict(_checksums())
ALGORITHMS = frozenset({*_HASHES, *_CHECKSUMS})
"""The algorithms that can be computed here."""
