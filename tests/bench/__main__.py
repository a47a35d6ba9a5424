"""`make bench`: medians of several runs, beside a floor and an older revision of the code in the same run."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import grpc
from rich.console import Console

from tests.bench import (
    admission,
    cel,
    deployments,
    neighbours,
    packing,
    processes,
    proxies,
    scale,
    templates,
    whole_requests,
    worst,
)


def main() -> None:
    given = _options()
    console = Console(width=140)
    scale.main(given)
    neighbours.main(_odd, processes.CALL, console, given.runs)
    cel.main()
    templates.main()
    worst.main()
    deployments.main()
    packing.main()
    proxies.main()
    admission.main()
    console.print(f"start until the first answer: {_median(_start, 3):.0f} ms; idle: {_idle():.0f} MB")


class _Options(scale.Options):
    runs: int


def _options() -> _Options:
    parser = argparse.ArgumentParser(description=__doc__)
    scale.options(parser)
    parser.add_argument("--runs", type=int, default=8, help="runs of a short call beside long ones")
    return parser.parse_args(namespace=_Options())


def _median(measure: Callable[[], float], runs: int) -> float:
    return statistics.median(measure() for _ in range(runs))


@contextmanager
def _odd() -> Iterator[grpc.Channel]:
    """Ours, with kinds that take as long as one likes."""
    with processes.process("odd") as (_, channel):
        yield channel


def _start() -> float:
    """Milliseconds until a new server has answered."""
    start = time.perf_counter()
    with processes.server("ours") as server:
        server.call(b"")
    return (time.perf_counter() - start) * 1e3


def _idle() -> float:
    with processes.server("ours") as server:
        server.call(b"")
        return whole_requests.status(server.pid, "VmRSS")


if __name__ == "__main__":
    main()
