"""`make bench`: medians of several runs, beside a floor and an older revision of the code in the same run.

The floor is a gRPC server that parses the same request with the SDK's message and answers nothing: whoever reads
requests that way cannot be faster. The first table has calls with the whole fleet in the request. A fresh call places
every replica; a steady one finds all placed and ready.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import grpc
from rich.console import Console
from rich.table import Table

from tests.bench import cel, deployments, fleet, neighbours, processes, reads, revisions, scale, templates, worst
from tests.bench.processes import Request, Server, Taken
from tests.bench.reads import Size

_SIZES = (Size(10, 50), *(size for size in scale.SIZES if size.clusters >= 100))


def main() -> None:
    given = _options()
    console = Console(width=140)
    console.print(_whole_requests(given))
    scale.main(given)
    neighbours.main(_odd, processes.CALL, console, given.runs)
    cel.main()
    templates.main()
    worst.main()
    deployments.main()
    console.print(f"start until the first answer: {_median(_start, 3):.0f} ms; idle: {_idle():.0f} MB")


class _Options(scale.Options):
    runs: int


def _options() -> _Options:
    parser = argparse.ArgumentParser(description=__doc__)
    scale.options(parser)
    parser.add_argument("--runs", type=int, default=8, help="runs of each, of which the median is shown")
    return parser.parse_args(namespace=_Options())


# Whole requests


def _whole_requests(given: _Options) -> Table:
    table = Table(
        "clusters, replicas", "shape", "state", "MiB before", "CPU / floor", "MiB now", "CPU / floor", "now / before",
        "wall ms", "peak MB",
        title="Calls with the whole fleet in the request; floor: parse the same request",
    )  # fmt: skip
    with revisions.checked_out(given.against) as before, ExitStack() as stack:
        floor = stack.enter_context(processes.server("floor"))
        ours = stack.enter_context(processes.server("ours"))
        older = stack.enter_context(processes.server("ours", before)) if before else None
        for size in _SIZES[: given.sizes]:
            for shape in fleet.SHAPES:
                now = reads.whole(ours.call, size, shape)
                then = reads.whole(older.call, size, shape) if older else None
                for state in reads.Whole._fields:
                    pairs = [(ours, getattr(now, state)), *([(older, getattr(then, state))] if older else ())]
                    table.add_row(str(size), shape, state, *_cells(floor, pairs, given.runs), f"{_peak(ours.pid):.0f}")
    return table


def _cells(floor: Server, pairs: Sequence[tuple[Server, Request]], runs: int) -> list[str]:
    """The columns of the older code, which are empty without it, and those of ours."""
    contestants = [(one, (request,)) for server, request in pairs for one in (floor, server)]
    floor_now, now, *old = processes.in_turn(contestants, runs)
    sizes = [f"{len(request()) / 2**20:.1f}" for _, request in pairs]
    before = [sizes[1], _ratio(old[1], old[0])] if old else ["", ""]
    return [*before, sizes[0], _ratio(now, floor_now), _ratio(now, old[1]) if old else "", f"{now.wall:.1f}"]


def _ratio(one: Taken, other: Taken) -> str:
    return f"{one.cpu / other.cpu:.2f}" if other.cpu else f"{one.wall / other.wall:.2f} (wall)"


def _median(measure: Callable[[], float], runs: int) -> float:
    return statistics.median(measure() for _ in range(runs))


# Servers


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
        return _status(server.pid, "VmRSS")


def _peak(pid: int) -> float:
    return _status(pid, "VmHWM")


def _status(pid: int, field: str) -> float:
    """MB, from Linux; elsewhere what the children of this process took at most."""
    try:
        with open(f"/proc/{pid}/status") as status:  # noqa: PTH123
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith(field))
    except OSError:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


if __name__ == "__main__":
    main()
