"""Prometheus' own checks: promtool of the machine, or of Debian's package, unpacked into a cache outside the tree."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest


def run(*arguments: str, stdin: str | None = None, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run promtool. Skips the test where it cannot be had, unless it must run there."""
    program = _program()
    if program is None:
        assert "CI" not in os.environ, "promtool is wanted where this must run"
        pytest.skip("there is no promtool, and no apt-get to fetch it with")
    return subprocess.run([program, *arguments], input=stdin, cwd=folder, capture_output=True, text=True, check=False)


@cache
def _program() -> Path | None:
    if found := shutil.which("promtool"):
        return Path(found)
    cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "modelplane/conformance/promtool"
    if not cached.exists() and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        _fetch(cached)
    return cached if cached.exists() else None


def _fetch(program: Path) -> None:
    """Unpack the program into the cache, unless another test process has just done so."""
    program.parent.mkdir(parents=True, exist_ok=True)
    with program.with_suffix(".lock").open("w") as lock, tempfile.TemporaryDirectory(dir=program.parent) as scratch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program.exists():
            return
        download = ["apt-get", "-q", "download", "prometheus"]
        if subprocess.run(download, cwd=scratch, check=False).returncode:  # the lists of packages are old
            subprocess.run(["apt-get", "-q", "update"], check=False)
            if subprocess.run(download, cwd=scratch, check=False).returncode:
                return
        (package,) = Path(scratch).glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", package, scratch], check=True)
        (Path(scratch) / "usr/bin/promtool").replace(program)
