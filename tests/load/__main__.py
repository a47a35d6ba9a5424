"""`make load`: a replay of a fleet's day against one and several processes of the function, and what memory it takes.

Prints throughput, latency, CPU and memory beside a floor: a server that parses requests and answers nothing. Fails if
an answer differs from the one that the same request gets alone. Times are never asserted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tests.bench.processes import HERE
from tests.load import alone, callers, memory, replay, report, servers
from tests.load.day import Size
from tests.load.replay import Replay
from tests.load.report import Measured

_PARTS = ("replay", "memory")
_OPEN_SHARE = 0.6
"""Of the throughput of one process: the rate of the open loop, unless one is given."""


class _Options(argparse.Namespace):
    clusters: int
    deployments: int
    calls: int
    seed: int
    callers: int
    processes: list[int]
    rate: float | None
    file: Path | None
    parts: list[str]
    memory_calls: int
    plot: Path | None
    large: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if an answer is wrong, or the memory grows."""
    given, console, begun = _options(arguments), Console(width=160), time.monotonic()
    made = _replay(given, console)
    problems: Counter[str] = Counter()
    if "replay" in given.parts:
        problems += _replayed(given, made, console)
    if "memory" in given.parts:
        problems += memory.main(made, given.memory_calls, given.plot, console, large=given.large)
    for text, count in problems.most_common(20):
        console.print(f"[red]{count} times: {text}", highlight=False)
    console.print(f"{time.monotonic() - begun:.0f} seconds in all", highlight=False)
    return 1 if problems else 0


def _replay(given: _Options, console: Console) -> Replay:
    if given.file and given.file.exists():
        made = replay.first(replay.load(given.file), given.calls)
    else:
        made = replay.make(Size(given.clusters, given.deployments, given.calls), given.seed)
        if given.file:
            replay.save(made, given.file)
    calls = replay.calls(made)
    console.print(
        f"{len(made):,} reconciles, {len(calls):,} calls, {sum(len(c.data) for c in calls) / 1e6:.0f} MB, the largest "
        f"{max(len(c.data) for c in calls) / 1e6:.2f} MB; by phase: {dict(Counter(c.phase for c in calls))}",
        highlight=False,
    )
    return made


def _replayed(given: _Options, made: Replay, console: Console) -> Counter[str]:
    """Print the tables. Returns what is wrong with the answers."""
    known = alone.answers(replay.calls(made))
    floor = _closed("floor, 1 process", servers.floor, 1, made, given.callers)
    measured = [floor]
    for count in given.processes:
        name = f"{count} process{'es' if count > 1 else ''}"
        measured.append(_closed(name, servers.ours, count, made, given.callers))
    one = measured[1]
    rate = given.rate or _OPEN_SHARE * len(one.run.answers) / one.run.seconds
    opened = _open(f"1 process, {rate:.0f} calls/s", made, rate)
    console.print(report.by_servers([*measured, opened]))
    console.print(report.by_kind(one, floor, known))
    console.print(report.by_kind(opened, floor, known))
    return sum((report.wrong(each.run, known) for each in (*measured[1:], opened)), Counter())


def _closed(name: str, run: servers.Runner, count: int, made: Replay, at_once: int) -> Measured:
    with run(count) as started:
        before = started.cpu()
        return _measured(name, started, callers.closed(started.call, made, at_once), before)


def _open(name: str, made: Replay, rate: float) -> Measured:
    with servers.ours() as started:
        before = started.cpu()
        return _measured(name, started, callers.opened(started.call, made, rate), before)


def _measured(name: str, started: servers.Servers, run: callers.Run, before: float) -> Measured:
    resident, peak = (max(one.memory(field) for one in started.processes) for field in ("VmRSS", "VmHWM"))
    return Measured(name, run, started.cpu() - before, resident, peak, report.load_average())


def _options(arguments: Sequence[str] | None) -> _Options:
    parser = argparse.ArgumentParser("python -m tests.load", description=__doc__)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--deployments", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=2000, help="calls of the replay")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--callers", type=int, default=16, help="reconciles under way at once, in the closed loop")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rate", type=float, help="calls a second in the open loop")
    parser.add_argument(
        "--file", type=Path, help="a replay that is read if it exists, up to --calls, and else made and written"
    )
    parser.add_argument("--parts", nargs="+", choices=_PARTS, default=["replay"])
    parser.add_argument("--memory-calls", type=int, default=memory.CALLS)
    parser.add_argument("--plot", type=Path, help=f"where the plot is written, such as {memory.PLOT.relative_to(HERE)}")
    large = "leave placements on 1,000 clusters out of the calls for memory"
    parser.add_argument("--no-large", dest="large", action="store_false", help=large)
    return parser.parse_args(arguments, namespace=_Options())


if __name__ == "__main__":
    sys.exit(main())
