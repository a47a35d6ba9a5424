"""The built site, once for all tests of a run."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from tests.docs import site


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, testrun_uid: str) -> Path:
    """The folder with the built site. The first worker that asks builds it."""
    folder = tmp_path_factory.getbasetemp().parent / f"site-{testrun_uid}"
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            done = site.build(site.ROOT, folder)
            assert done.returncode == 0, done.stderr
    return folder
