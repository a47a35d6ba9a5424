"""Processes of the function as Crossplane has them: replicas behind a client that takes them in turn.

Crossplane dials the Service of a function with the balancer `round_robin` (crossplane v2.4,
internal/xfn/function_runner.go). So does the channel here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from tests.bench.processes import CALL, HERE, environment
from tests.load.watched import ANSWERS

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
]
_OURS = ("function", "serve", "--insecure", "--address", "127.0.0.1:0")
_WATCHED = ("tests.load.watched", *_OURS[1:])
_FLOOR = ("tests.bench.servers", "floor")
_TICKS = os.sysconf("SC_CLK_TCK")
_STARTING = 60.0
"""Seconds for a server to listen."""


@dataclass(frozen=True, slots=True)
class Process:
    """A server process. Figures are from Linux' /proc."""

    pid: int
    port: int
    log: Path

    def cpu(self) -> float:
        """CPU seconds so far, in steps of 10 ms."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS  # utime and stime: proc_pid_stat(5)

    def memory(self, field: str = "VmRSS") -> float:
        """MiB that are resident (VmRSS), or were at most (VmHWM)."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))

    def outcomes(self) -> Counter[str]:
        """What the log says of the calls, by outcome; an event of another level than info by its text."""
        return Counter(map(_outcome, filter(_is_record, self.log.read_text().splitlines())))


@dataclass(frozen=True, slots=True)
class Servers:
    """Server processes, and a channel over which calls go to each in turn."""

    processes: tuple[Process, ...]
    channel: grpc.Channel

    @property
    def call(self) -> grpc.UnaryUnaryMultiCallable[bytes, bytes]:
        return self.channel.unary_unary(CALL)

    def cpu(self) -> float:
        """CPU seconds of all processes."""
        return sum(one.cpu() for one in self.processes)


Runner = Callable[[int], AbstractContextManager[Servers]]


@contextmanager
def ours(count: int = 1) -> Iterator[Servers]:
    """Run processes of the function, as the image does, but in plain text."""
    with _running(_OURS, count) as servers:
        yield servers


@contextmanager
def floor(count: int = 1) -> Iterator[Servers]:
    """Run processes that parse a request with the SDK's message, and answer nothing."""
    with _running(_FLOOR, count) as servers:
        yield servers


@contextmanager
def watched() -> Iterator[tuple[Servers, Callable[[], int]]]:
    """Run a process of the function that also tells the bytes of its live heap."""
    answers, theirs = os.pipe()
    asked, ours_ = os.pipe()
    with ExitStack() as stack:
        for descriptor in (answers, theirs, asked, ours_):
            stack.callback(os.close, descriptor)
        environ = {ANSWERS: str(theirs)}
        servers = stack.enter_context(_running(_WATCHED, 1, stdin=asked, pass_fds=(theirs,), environ=environ))
        yield servers, lambda: (os.write(ours_, b"\n"), int(os.read(answers, 64)))[1]


@contextmanager
def _running(module: Sequence[str], count: int, **given: Any) -> Iterator[Servers]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="modelplane-load-")))
        processes = tuple(stack.enter_context(_process(module, folder / f"{i}.log", **given)) for i in range(count))
        target = "ipv4:" + ",".join(f"127.0.0.1:{one.port}" for one in processes)
        channel = stack.enter_context(grpc.insecure_channel(target, options=_OPTIONS))
        grpc.channel_ready_future(channel).result(_STARTING)
        yield Servers(processes, channel)


@contextmanager
def _process(
    module: Sequence[str], log: Path, environ: Mapping[str, str] | None = None, **given: Any
) -> Iterator[Process]:
    env = {**environment(HERE), **(environ or {})}
    with log.open("w") as out:
        command = [sys.executable, "-m", *module]
        started = subprocess.Popen(command, cwd=HERE, env=env, stdout=out, stderr=subprocess.STDOUT, **given)
    try:
        yield Process(started.pid, _port(started, log), log)
    finally:
        started.kill()
        started.wait()


def _port(started: subprocess.Popen[bytes], log: Path) -> int:
    """The port that a server says in its first line, once it listens."""
    end = time.monotonic() + _STARTING
    while started.poll() is None and time.monotonic() < end:
        first, newline, _ = log.read_text().partition("\n")
        if newline:
            return int(first) if first.isdigit() else int(json.loads(first)["port"])
        time.sleep(0.02)
    raise AssertionError(f"the server does not listen: {log.read_text()[-2000:]}")


def _is_record(line: str) -> bool:
    return line.startswith("{")


def _outcome(line: str) -> str:
    record = json.loads(line)
    return record.get("outcome") or record["msg"]
