"""`make bench`: medians of several runs, beside a floor measured in the same run.

The floor is a gRPC server that parses the same request with the SDK's message and answers nothing: whoever reads
requests that way cannot be faster. A fresh call places every replica; a steady one finds all placed and ready.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from rich.console import Console
from rich.table import Table

from tests.bench import cel, deployments, fleet, neighbours, templates, worst

_CALL = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
_SIZES = ((10, 50), (100, 1000), (300, 3000), (1000, 10000))
_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
_WANTED = 10

Call = Callable[[bytes], bytes]


class Server(NamedTuple):
    call: Call
    pid: int


class Taken(NamedTuple):
    """Milliseconds of one call."""

    wall: float
    cpu: float
    """Of the server alone, which a busy machine changes little; 0 where the system does not tell."""


Request = Callable[[], bytes]
"""Encoded anew each time."""


def main() -> None:
    options = _options()
    console = Console(width=120)
    table = Table(
        "clusters, replicas", "shape", "state", "MiB", "floor ms", "ours ms", "ours / floor", "of CPU", "peak MB"
    )
    with _server("floor") as floor, _server("ours") as ours:
        for clusters, replicas in _SIZES[: options.sizes]:
            for shape in fleet.SHAPES:
                for state, request in _requests(clusters, replicas, shape, ours.call):
                    parsed, answered = _paired(floor, ours, request, options.runs)
                    table.add_row(
                        f"{clusters}, {replicas}", shape, state, f"{len(request()) / 2**20:.1f}",
                        f"{parsed.wall:.1f}", f"{answered.wall:.1f}", f"{answered.wall / parsed.wall:.2f}",
                        f"{answered.cpu / parsed.cpu:.2f}" if parsed.cpu else "", f"{_peak(ours.pid):.0f}",
                    )  # fmt: skip
    console.print(table)
    neighbours.main(_odd, _CALL, console, options.runs)
    cel.main()
    templates.main()
    worst.main()
    deployments.main()
    console.print(f"start until the first answer: {_median(_start, 3):.0f} ms; idle: {_idle():.0f} MB")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, default=len(_SIZES), help="how many of the fleet sizes, from the smallest")
    parser.add_argument("--runs", type=int, default=8, help="runs of each, of which the median is shown")
    return parser.parse_args()


def _requests(clusters: int, replicas: int, shape: str, ours: Call) -> Iterator[tuple[str, Request]]:
    """The fresh call, and the one once everything is placed and ready."""
    everything = fleet.clusters(clusters), fleet.replicas(replicas, clusters, shape)
    xr = fleet.deployment(shape, _WANTED)
    observed: dict[str, fleet.Object] = {}
    request = partial(fleet.request, xr, *everything, observed)
    yield "fresh", request
    for _ in range(2):
        rsp = fnv1.RunFunctionResponse.FromString(ours(request()))
        assert not rsp.results or rsp.results[0].severity != fnv1.SEVERITY_FATAL, rsp.results[0].message
        observed |= fleet.carried_out(rsp)
    yield "steady", request


def _paired(floor: Server, ours: Server, request: Request, runs: int) -> tuple[Taken, Taken]:
    """Medians of both, taken in turn so that a slow moment of the machine hits both. Each goes first in every other
    run: a request is read faster the second time."""
    taken: dict[Server, list[Taken]] = {floor: [], ours: []}
    for i in range(runs + 1):
        data = request()
        for server in (floor, ours)[:: 1 if i % 2 else -1]:
            taken[server].append(_taken(server, data))
    return _middle(taken[floor][1:]), _middle(taken[ours][1:])


def _taken(server: Server, data: bytes) -> Taken:
    cpu, start = _cpu(server.pid), time.perf_counter()
    server.call(data)
    return Taken((time.perf_counter() - start) * 1e3, _cpu(server.pid) - cpu)


def _middle(taken: Sequence[Taken]) -> Taken:
    return Taken(*(statistics.median(column) for column in zip(*taken, strict=True)))


def _median(measure: Callable[[], float], runs: int) -> float:
    return statistics.median(measure() for _ in range(runs))


# Servers


@contextmanager
def _server(which: str) -> Iterator[Server]:
    with _process(which) as (pid, channel):
        yield Server(channel.unary_unary(_CALL), pid)


@contextmanager
def _process(which: str) -> Iterator[tuple[int, grpc.Channel]]:
    """A server in a process of its own, and a channel to it."""
    process = subprocess.Popen([sys.executable, "-m", "tests.bench.servers", which], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        port = int(process.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=_UNLIMITED) as channel:
            yield process.pid, channel
    finally:
        process.kill()
        process.wait()


@contextmanager
def _odd() -> Iterator[grpc.Channel]:
    """Ours, with kinds that take as long as one likes."""
    with _process("odd") as (_, channel):
        yield channel


def _start() -> float:
    """Milliseconds until a new server has answered."""
    start = time.perf_counter()
    with _server("ours") as server:
        server.call(b"")
    return (time.perf_counter() - start) * 1e3


def _idle() -> float:
    with _server("ours") as server:
        server.call(b"")
        return _status(server.pid, "VmRSS")


def _peak(pid: int) -> float:
    return _status(pid, "VmHWM")


def _cpu(pid: int) -> float:
    """Milliseconds that all threads of a process have run (Linux, /proc/PID/task/TID/schedstat)."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e6


def _status(pid: int, field: str) -> float:
    """MB, from Linux; elsewhere what the children of this process took at most."""
    try:
        with open(f"/proc/{pid}/status") as status:  # noqa: PTH123
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith(field))
    except OSError:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


if __name__ == "__main__":
    main()
