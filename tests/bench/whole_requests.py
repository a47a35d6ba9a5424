"""Calls with the whole fleet in the request: what a last resort costs, and an older Crossplane's answers.

The floor is a gRPC server that parses the same request with the SDK's message and answers nothing: whoever reads
requests that way cannot be faster. A fresh call places every replica; a steady one finds all placed and ready. The
older code is sent the same fleet, with the answers that it asks for.
"""

from __future__ import annotations

import resource
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.table import Table

from tests.bench import fleet, processes, reads
from tests.bench.processes import Request, Server, Taken
from tests.bench.reads import Size

SIZES = (Size(10, 50), Size(100, 1000), Size(300, 3000), Size(1000, 10000))
_RUNS = {10: 8, 100: 8, 300: 3, 1000: 2}
"""Calls of each, of which the median is shown, by the number of clusters: to encode 50 MB takes seconds."""
_LARGE = 1000
"""Clusters from which one shape is measured."""


def table(trees: Mapping[str, Path], sizes: int) -> Table:
    """Measure the trees `now` and, if there is one, `before`, in so many of the sizes."""
    made = Table(
        "clusters, replicas", "shape", "state", "MB before", "CPU / floor", "MB now", "CPU / floor", "CPU / before",
        "ms", "peak MB",
        title="Calls with the whole fleet in the request; floor: parse the same request",
    )  # fmt: skip
    with ExitStack() as stack:
        floor = stack.enter_context(processes.server("floor"))
        servers = {name: stack.enter_context(processes.server("ours", tree)) for name, tree in trees.items()}
        for size in SIZES[:sizes]:
            for shape in fleet.SHAPES if size.clusters < _LARGE else (reads.SHAPE,):
                misleading = reads.misleading(size, shape)
                calls = {name: reads.whole(server.call, misleading, shape) for name, server in servers.items()}
                for state in reads.Whole._fields:
                    requests = {name: getattr(whole, state) for name, whole in calls.items()}
                    made.add_row(str(size), shape, state, *_cells(floor, servers, requests, _RUNS[size.clusters]))
    return made


def _cells(floor: Server, servers: Mapping[str, Server], requests: Mapping[str, Request], runs: int) -> list[str]:
    """The columns of both trees. Those of an older one are empty if there is none."""
    contestants = [(one, (request,)) for name, request in requests.items() for one in (floor, servers[name])]
    taken = processes.in_turn(contestants, runs)
    by_tree = dict(zip(requests, zip(taken[::2], taken[1::2], strict=True), strict=True))
    now, before = by_tree["now"], by_tree.get("before")
    return [
        *_sized(requests.get("before"), before), *_sized(requests["now"], now),
        _ratio(now[1], before[1]) if before else "", f"{now[1].wall:.1f}", f"{peak(servers['now'].pid):.0f}",
    ]  # fmt: skip


def _sized(request: Request | None, taken: Sequence[Taken] | None) -> tuple[str, str]:
    if request is None or taken is None:
        return "", ""
    floor, server = taken
    return f"{len(request()) / 1e6:.1f}", _ratio(server, floor)


def _ratio(one: Taken, other: Taken) -> str:
    return f"{one.cpu / other.cpu:.2f}" if other.cpu else f"{one.wall / other.wall:.2f} (wall)"


def peak(pid: int) -> float:
    """The most memory that a process has taken, in MB."""
    return status(pid, "VmHWM")


def status(pid: int, field: str) -> float:
    """MB, from Linux; elsewhere what the children of this process took at most."""
    try:
        with open(f"/proc/{pid}/status") as lines:  # noqa: PTH123
            return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
    except OSError:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
