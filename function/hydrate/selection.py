"""Selects the files to stage.

With `include`, exactly the files that match one of its patterns are staged. Without it, an origin's own rule decides:
of a repository of the hub the files that engines load, of a bucket all objects. Files that match `exclude` are left out
in both cases, and so are files that would be taken for those of the hub's client or ours.

Patterns are those of `hf download` (huggingface_hub 2.4, filter_repo_objects): fnmatch over the whole path, in which a
star matches slashes too, and a pattern that ends with a slash matches everything below it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from function.hydrate.files import File

_OURS = (".gitattributes", ".cache/*", ".modelplane*")
"""Files of git, of the hub's client and of ours."""
_OTHER_FORMATS = (
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
)
"""Other formats of the same weights, up to half of a repository, which engines that read safetensors never open."""
_WEIGHTS = (".safetensors", ".bin", ".pt")
_LOADABLE = (*_WEIGHTS, ".gguf", ".pth", ".onnx", ".engine", ".plan", ".nemo", ".tar", ".h5", ".msgpack")
"""Endings of files with weights, in any format."""
_NEAREST = 3
"""Files that a message names beside a pattern that matches none."""
_LONGEST_LISTING = 5_000
"""Paths that are compared with such a pattern."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Which files the user wants."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class Nothing(Exception):
    """No file is selected, or none with weights. The message says why."""


def selected(files: Iterable[File], patterns: Patterns, *, is_repository: bool) -> tuple[File, ...]:
    """Return the files to stage, by path.

    Args:
        files: All files of the origin.
        patterns: What the user includes and excludes.
        is_repository: Whether the files are a repository of the hub, of which engines load only a part.

    Raises:
        Nothing: No file is left, or an include pattern matches none and no other file has weights.
    """
    listed = [file for file in files if not _matches(file, _OURS)]
    if not listed:
        raise Nothing("")
    if patterns.include:
        wanted = _included(listed, patterns)
    else:
        kept = [file for file in listed if not _matches(file, patterns.exclude)]
        wanted = _loaded(kept) if is_repository else kept
    if not wanted:
        raise Nothing(f"exclude {_quoted(patterns.exclude)} leaves no file to load" if patterns.exclude else "")
    return tuple(sorted(wanted, key=lambda file: file.path))


def _included(listed: Sequence[File], patterns: Patterns) -> list[File]:
    found = [file for file in listed if _matches(file, patterns.include)]
    idle = [pattern for pattern in patterns.include if not any(_matches(file, (pattern,)) for file in listed)]
    if not found or (idle and not any(file.path.lower().endswith(_LOADABLE) for file in found)):
        nearest = _nearest(idle, [file.path for file in listed])
        raise Nothing(f"no file matches include {_quoted(idle)}; the nearest are {', '.join(nearest)}")
    return [file for file in found if not _matches(file, patterns.exclude)]


def _loaded(files: Sequence[File]) -> list[File]:
    """Return the files of a repository that an engine loads; none if there are no weights among them."""
    wanted = [file for file in files if not _matches(file, _OTHER_FORMATS)]
    doubled = {str(PurePosixPath(f.path).parent) for f in wanted if f.path.endswith(".safetensors")}
    kept = [f for f in wanted if not (f.path.endswith(".bin") and str(PurePosixPath(f.path).parent) in doubled)]
    return kept if any(file.path.endswith(_WEIGHTS) for file in kept) else []


def _matches(file: File, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(file.path, f"{p}*" if p.endswith("/") else p) for p in patterns)


def _nearest(patterns: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the paths that resemble a pattern most, whatever their case; else the first paths with weights."""
    lowered = {path.lower(): path for path in paths[:_LONGEST_LISTING]}
    close = [
        lowered[name]
        for pattern in patterns
        for name in difflib.get_close_matches(pattern.replace("*", "").lower(), lowered, _NEAREST, cutoff=0.3)
    ]
    weights = sorted((path for path in paths if path.lower().endswith(_LOADABLE)), key=len)
    return list(dict.fromkeys([*close, *weights, *paths]))[:_NEAREST]


def _quoted(patterns: Iterable[str]) -> str:
    return ", ".join(patterns)
