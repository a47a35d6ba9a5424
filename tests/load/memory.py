"""What the memory of one process does over many calls that never repeat (variations.py)."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import grpc
from rich.console import Console
from rich.table import Table

from tests.bench.processes import HERE
from tests.load import plot, report, servers, variations
from tests.load.replay import Call, Replay

CALLS = 10_000
PLOT = HERE / "docs" / "memory.svg"
REQUEST = 512
"""MiB that the package requests for a pod of the function (function/publish/runtime.py)."""
PER_CALL = 4 * 1024
"""Bytes of the live heap that a call may leave, at most, once the caches are filled: less than any request has."""
RESIDENT_PER_CALL = 16 * 1024
"""The same for resident memory, which also has what malloc cannot reuse at once."""
_SLACK = 8.0
"""MiB by which the least values of two parts may differ: the caches drop an entry for each new one, of another size."""
_CALLERS = 4
_DEADLINE = 300.0
_SHOWN = 10


class Sample(NamedTuple):
    """The memory of the process after some calls. MiB."""

    calls: int
    resident: float
    live: float
    """What is allocated and not freed."""


class Run(NamedTuple):
    """The memory of a process over its calls."""

    samples: list[Sample]
    peak: float
    """MiB that were resident at most."""
    outcomes: Counter[str]
    """Calls by their sort and gRPC status."""


def run(replay: Replay, count: int, step: int = 100, filling: int = variations.FILLING, *, large: bool = True) -> Run:
    """Make so many calls, and look at the memory after each `step` of them."""
    outcomes: Counter[str] = Counter()
    with servers.watched() as (started, live), ThreadPoolExecutor(_CALLERS) as pool:
        (process,) = started.processes
        call, turn = started.call, _shared(islice(variations.varied(replay, filling=filling, large=large), count))
        samples = [Sample(0, process.memory(), live() / 2**20)]

        def caller(_: int) -> list[str]:
            return [_status(call, one) for one in islice(turn(), step // _CALLERS)]

        for calls in range(step, count + 1, step):
            outcomes.update(chain.from_iterable(pool.map(caller, range(_CALLERS))))
            samples.append(Sample(calls, process.memory(), live() / 2**20))
        return Run(samples, process.memory("VmHWM"), outcomes)


def _shared(source: Iterator[Call]) -> Callable[[], Iterator[Call]]:
    """Let several threads take from one iterator."""
    lock = Lock()

    def taking() -> Iterator[Call]:
        while True:
            with lock:
                found = next(source, None)
            if found is None:
                return
            yield found

    return taking


def _status(call: grpc.UnaryUnaryMultiCallable[bytes, bytes], one: Call) -> str:
    """Make a call. Returns its sort and what came of it."""
    try:
        call(one.data, timeout=_DEADLINE)
    except grpc.RpcError as error:
        return f"{one.phase}: {error.code().name}"
    return f"{one.phase}: OK"


def growth(samples: Sequence[Sample], filling: int = variations.FILLING) -> tuple[float, float]:
    """MiB by which the live heap grows after the caches are filled, from the first to the second third of the calls,
    and from the second to the last.

    The least values are compared, because calls that are under way and garbage only add to the heap.
    """
    later = [one for one in samples if one.calls > filling]
    third = max(1, len(later) // 3)
    first, second, last = (
        min(one.live for one in part) for part in (later[:third], later[third:-third], later[-third:])
    )
    return second - first, last - second


def drift(samples: Sequence[Sample], filling: int = variations.FILLING) -> float:
    """MiB by which resident memory grows in these thirds: the medians of the first and of the last."""
    later = [one.resident for one in samples if one.calls > filling]
    third = max(1, len(later) // 3)
    return statistics.median(later[-third:]) - statistics.median(later[:third])


def problems(found: Run, filling: int = variations.FILLING) -> Counter[str]:
    """What is wrong with the growth of the memory, and with the statuses of calls."""
    first, second = growth(found.samples, filling)
    calls = found.samples[-1].calls - filling
    wrong = Counter({text: count for text, count in found.outcomes.items() if not text.endswith((": OK", "ARGUMENT"))})
    if first + second > calls * PER_CALL / 2**20 + _SLACK:
        wrong[f"the heap grew by {first + second:.0f} MiB in {calls:,} calls after the caches were filled"] += 1
    if second > max(first, 0) / 2 + _SLACK:
        wrong[f"the heap goes on growing: by {first:.1f} MiB in the second third, by {second:.1f} in the last"] += 1
    if drift(found.samples, filling) > calls * RESIDENT_PER_CALL / 2**20 + REQUEST / 8:
        wrong[f"resident memory grew by {drift(found.samples, filling):.0f} MiB in {calls:,} calls"] += 1
    return wrong


def main(replay: Replay, count: int, file: Path | None, console: Console, *, large: bool = True) -> Counter[str]:
    """Print the memory over calls, and write the plot. Returns what is wrong."""
    filling = min(variations.FILLING, count // 2)
    found = run(
        replay, count, step=min(100, max(_CALLERS, count // 20 // _CALLERS * _CALLERS)), filling=filling, large=large
    )
    table = Table("calls", "RSS MiB", "live heap MiB", title="Memory of one process over calls that never repeat")
    for one in found.samples[:: max(1, len(found.samples) // _SHOWN)]:
        table.add_row(f"{one.calls:,}", f"{one.resident:.0f}", f"{one.live:.1f}")
    console.print(table)
    first, second = growth(found.samples, filling)
    console.print(
        f"at most {found.peak:.0f} MiB; once the caches are filled, from third to third of the calls, the live heap "
        f"grows by {first:.1f} and {second:.1f} MiB, and resident memory by {drift(found.samples, filling):.1f}; "
        f"load average {report.load_average():.0f}; "
        f"calls: {dict(sorted(found.outcomes.items()))}",
        highlight=False,
    )
    if file:
        file.write_text(drawn(found))
    return problems(found, filling)


def drawn(found: Run) -> str:
    """The plot."""
    resident = plot.Series("resident (RSS)", "before", [(one.calls, one.resident) for one in found.samples])
    live = plot.Series("live heap", "now", [(one.calls, one.live) for one in found.samples])
    large = [n for n in range(1, found.samples[-1].calls + 1) if variations.large_sort(n)]
    return plot.svg([resident, live], large, [(f"request, {REQUEST} MiB", REQUEST)])
