"""Programs of ours over other projects' Go libraries, built into a cache outside the tree.

They read questions and print answers, one in a line.
"""

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

_HERE = Path(__file__).parent
_BUILD = ("go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-o")


def is_buildable() -> bool:
    return shutil.which("go") is not None


def answers(name: str, questions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the program in a folder here answers, question by question."""
    lines = [json.dumps(question) for question in questions]
    run = subprocess.run([_program(name)], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(found) == len(lines), f"the {name} answers every question"
    return found


def _program(name: str) -> Path:
    """The program, built once for what its source says and for this version of Go."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "modelplane" / "conformance"
    program = folder / f"{name}-{_key(_HERE / name)}"
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder / f"lock-{name}"), tempfile.TemporaryDirectory(dir=folder) as scratch:
        if not program.exists():
            built = Path(scratch) / name
            # As the end-to-end tests build, so that what both use is compiled once.
            subprocess.run([*_BUILD, built, "."], cwd=_HERE / name, check=True, env=os.environ | {"CGO_ENABLED": "0"})
            built.replace(program)
    return program


def _key(source: Path) -> str:
    version = subprocess.run(["go", "version"], capture_output=True, check=True, cwd=source).stdout
    parts = [version, *(path.read_bytes() for path in sorted(source.iterdir()))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
