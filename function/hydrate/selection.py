"""Which files of a repository an engine would load."""

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
"""Other formats of the same weights, up to half of a repository: engines that read safetensors never open them. And
what the hub's client and we ourselves keep beside the files."""
_WEIGHTS = (".safetensors", ".bin", ".pt")


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file as the hub's tree lists it."""

    path: str
    size: int
    """Bytes."""
    sha256: str | None
    """Of a large file (LFS or Xet); None for one that git holds."""
    blob: str
    """Git's name of the content."""


def leads_out(file: HubFile) -> bool:
    """Whether a path is none within a repository. A hub that lists such a file is no hub to believe."""
    path = PurePosixPath(file.path)
    return path.is_absolute() or ".." in path.parts


def selected(files: Iterable[HubFile]) -> tuple[HubFile, ...]:
    """Those that are staged, by path. Empty where there are no weights among them."""
    wanted = [file for file in files if not any(fnmatch(file.path, pattern) for pattern in _NEVER)]
    doubled = {str(PurePosixPath(f.path).parent) for f in wanted if f.path.endswith(".safetensors")}
    kept = [f for f in wanted if not (f.path.endswith(".bin") and str(PurePosixPath(f.path).parent) in doubled)]
    if not any(file.path.endswith(_WEIGHTS) for file in kept):
        return ()
    return tuple(sorted(kept, key=lambda file: file.path))
