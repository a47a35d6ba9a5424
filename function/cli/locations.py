"""Files as other programs name them: relative to the root of the repository, and as URIs.

The root is the nearest folder, from the working directory upwards, that has a `.git`; else the working directory.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

ROOT = "%SRCROOT%"
"""The usual name of the root in SARIF files. Who reads one knows where it is."""
STDIN = "<stdin>"


def shown(file: str) -> str:
    """A file relative to the root; as it is if it is elsewhere."""
    return _below_root(file) or file


def artifact(file: str) -> dict[str, str]:
    """The `artifactLocation` of a file (SARIF 2.1.0, 3.4): relative to the root, or absolute if it is elsewhere."""
    if file == STDIN:
        return {"uri": quote(file)}
    relative = _below_root(file)
    if relative is None:
        return {"uri": _absolute(file).as_uri()}
    return {"uri": quote(os.fsencode(relative)), "uriBaseId": ROOT}


def _below_root(file: str) -> str | None:
    """The path of a file below the root, without `.` and `..`; None if it is elsewhere."""
    if file == STDIN:
        return None
    path = _absolute(file)
    root = _root(Path.cwd())
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def _absolute(file: str) -> Path:
    """A path without `.` and `..`. Links stay: the repository has them under their own names."""
    return Path(os.path.normpath(Path(file).absolute()))


def _root(folder: Path) -> Path:
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
