"""Servers in processes of their own, of this tree or of an older one, and what they take for a call."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import grpc

CALL = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
HERE = Path(__file__).parents[2]
"""The tree of this bench."""
_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]

Call = Callable[[bytes], bytes]
Request = Callable[[], bytes]
"""Encodes a request anew each time."""


class Server(NamedTuple):
    """A running server."""

    call: Call
    pid: int


class Taken(NamedTuple):
    """Milliseconds of one call."""

    wall: float
    cpu: float
    """Of the server alone, which a busy machine changes little; 0 where the system does not tell."""


@contextmanager
def server(which: str, tree: Path = HERE) -> Iterator[Server]:
    """Run a server of `tests.bench.servers`, with the code of a tree."""
    with process(which, tree) as (pid, channel):
        yield Server(channel.unary_unary(CALL), pid)  # type: ignore[arg-type]


@contextmanager
def process(which: str, tree: Path = HERE) -> Iterator[tuple[int, grpc.Channel]]:
    """Run a server. Yields its pid, and a channel to it."""
    command = [sys.executable, "-m", "tests.bench.servers", which]
    started = subprocess.Popen(command, cwd=tree, env=environment(tree), stdout=subprocess.PIPE, text=True)
    try:
        assert started.stdout
        port = int(started.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=_UNLIMITED) as channel:
            yield started.pid, channel
    finally:
        started.kill()
        started.wait()


def environment(tree: Path) -> Mapping[str, str]:
    """The environment of a process that imports the code of a tree."""
    return {**os.environ, "PYTHONPATH": str(tree)}


def in_turn(contestants: Sequence[tuple[Server, Sequence[Request]]], runs: int) -> list[Taken]:
    """Return the medians of several servers, each for all of its requests together.

    They are called in turn, so that a slow moment of the machine hits all. Each goes first in some runs: a request that
    several get is read faster the second time.
    """
    taken: list[list[Taken]] = [[] for _ in contestants]
    for run in range(runs + 1):
        encoded: dict[Request, bytes] = {}
        for i in range(len(contestants)):
            at = (i + run) % len(contestants)
            one, requests = contestants[at]
            data = [encoded.get(request) or encoded.setdefault(request, request()) for request in requests]
            taken[at].append(_called(one, data))
    return [_middle(several[1:]) for several in taken]


def _called(one: Server, requests: Sequence[bytes]) -> Taken:
    cpu, start = _cpu(one.pid), time.perf_counter()
    for data in requests:
        one.call(data)
    return Taken((time.perf_counter() - start) * 1e3, _cpu(one.pid) - cpu)


def _middle(taken: Sequence[Taken]) -> Taken:
    return Taken(*(statistics.median(column) for column in zip(*taken, strict=True)))


def _cpu(pid: int) -> float:
    """Milliseconds that all threads of a process have run (Linux, /proc/PID/task/TID/schedstat)."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e6
