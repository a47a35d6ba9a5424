"""Kubernetes' own library as a program that answers: built from `oracle/` into a cache outside the tree."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).parent / "oracle"
_BUILD = ("go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-o")


def is_buildable() -> bool:
    return shutil.which("go") is not None


def answers(questions: Iterable[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """For each expression and device: the outcome, its detail, and the cost that is estimated and paid."""
    lines = [json.dumps({"expression": expression, "device": device}) for expression, device in questions]
    run = subprocess.run([_program()], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(found) == len(lines), "the oracle answers every case"
    return found


def _program() -> Path:
    """The program, built once for what its source says and for this version of Go."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "modelplane" / "conformance"
    program = folder / f"oracle-{_key()}"
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder / "lock"), tempfile.TemporaryDirectory(dir=folder) as scratch:
        if not program.exists():
            built = Path(scratch) / "oracle"
            subprocess.run([*_BUILD, built, "."], cwd=_SOURCE, check=True)
            built.replace(program)
    return program


def _key() -> str:
    version = subprocess.run(["go", "version"], capture_output=True, check=True, cwd=_SOURCE).stdout
    parts = [version, *(path.read_bytes() for path in sorted(_SOURCE.iterdir()))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
