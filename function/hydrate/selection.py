"""Selects the files of a repository that an engine loads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import PurePosixPath

_NEVER = (
    "original/*",
    "*.gguf",
    "*.pth",
    "*.onnx",
    "*.onnx_data",
    "*.h5",
    "*.msgpack",
    "*.ot",
    "*.tflite",
    "*.mlmodel",
    ".gitattributes",
    ".cache/*",
    ".modelplane*",
)
"""Other formats of the same weights, up to half of a repository, which engines that read safetensors never open; and
files of the hub's client and of ours."""
_WEIGHTS = (".safetensors", ".bin", ".pt")


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file as the hub's tree lists it."""

    path: str
    size: int
    """Bytes."""
    sha256: str | None
    """Of a large file (LFS or Xet); None for one in git."""
    blob: str
    """The hash of the git blob."""


def leads_out(file: HubFile) -> bool:
    """Whether a path leaves the repository. A hub that lists such a file cannot be trusted."""
    path = PurePosixPath(file.path)
    return path.is_absolute() or ".." in path.parts


def selected(files: Iterable[HubFile]) -> tuple[HubFile, ...]:
    """The files to stage, by path; empty if there are no weights among them."""
    wanted = [file for file in files if not any(fnmatch(file.path, pattern) for pattern in _NEVER)]
    doubled = {str(PurePosixPath(f.path).parent) for f in wanted if f.path.endswith(".safetensors")}
    kept = [f for f in wanted if not (f.path.endswith(".bin") and str(PurePosixPath(f.path).parent) in doubled)]
    if not any(file.path.endswith(_WEIGHTS) for file in kept):
        return ()
    return tuple(sorted(kept, key=lambda file: file.path))
