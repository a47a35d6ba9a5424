"""The code of an older revision beside the tests of this one, in a temporary directory."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.processes import HERE

BEFORE_STAGES = "3db1ac8"
"""The last revision in which a ModelDeployment read the whole fleet in each reconcile."""


@contextmanager
def checked_out(revision: str) -> Iterator[Path | None]:
    """Yield a tree with the code of a revision and with the bench of this tree; None if there is none.

    There is none without git, or where the history lacks the revision.
    """
    archive = _archive(revision)
    if archive is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="modelplane-bench-") as name:
        tree = Path(name)
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            packed.extractall(tree, filter="data")
        ours = shutil.ignore_patterns("__pycache__")
        for tests in ("bench", "support"):
            shutil.copytree(HERE / "tests" / tests, tree / "tests" / tests, ignore=ours)
        yield tree


def _archive(revision: str) -> bytes | None:
    command = ["git", "archive", "--format=tar", revision, "function"]
    try:
        return subprocess.run(command, cwd=HERE, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
