"""A function that is served over real gRPC, and worlds that ask it, or ours in process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from function.cli import files
from function.planning import stubs
from function.planning.control_plane import ControlPlane, in_process
from function.sandbox.extensions import CompositionFunction
from function.sandbox.remote import RemoteFunction

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def served() -> Iterator[str]:
    """Where the function listens."""
    command = [sys.executable, "-c", "from function.main import main; main()", "serve", "--insecure"]
    process = subprocess.Popen(
        [*command, "--address", "127.0.0.1:0"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield f"127.0.0.1:{_port(process)}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _port(process: subprocess.Popen[str]) -> int:
    """From its log. What it logs later is read and dropped, so that it never waits for a reader."""
    found: list[int] = []
    listening = threading.Event()

    def read(stream: object) -> None:
        for line in stream:  # type: ignore[attr-defined]
            if '"port"' in line and not found:
                found.append(int(json.loads(line)["port"]))
                listening.set()

    for stream in (process.stdout, process.stderr):
        threading.Thread(target=read, args=(stream,), daemon=True).start()
    assert listening.wait(timeout=60), "the function did not start"
    return found[0]


@pytest.fixture(params=["in process", "over gRPC"])
def compose(request: pytest.FixtureRequest) -> Iterator[CompositionFunction]:
    """Asks the function, by either way."""
    if request.param == "in process":
        yield in_process
        return
    remote = RemoteFunction(request.getfixturevalue("served"))
    yield remote
    remote.close()


@pytest.fixture
def settled(compose: CompositionFunction) -> Callable[..., ControlPlane]:
    """Makes a world of example files, at rest."""

    def make(*paths: str, seed: int | None = None) -> ControlPlane:
        control = ControlPlane(function=compose, seed=seed)
        manifests = [one.manifest for one in files.load([ROOT / "examples" / path for path in paths])]
        control.loop.load([*manifests, *stubs.objects(manifests)])
        control.loop.settle()
        return control

    return make
