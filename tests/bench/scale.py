"""What a fleet costs, beside an older revision of the code in the same run.

    python -m tests.bench.scale --sizes 3

- Reads: bytes and calls of a settled deployment's reconcile and of one that places ten replicas, over gRPC.
- Wakes: reconciles of other deployments that a placement causes, on the embedded control plane.
- Plans: CPU time and reconciles of `plan` and `what-if --lose any`, on the same.
- Whole: calls with the whole fleet in the request, over gRPC.

Counts depend on the code alone. Of times only ratios within one run mean something: the machine may be busy.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Column, Table

from tests.bench import plot, processes, reads, revisions, whole_requests
from tests.bench.processes import HERE, Server
from tests.bench.reads import Read, Size
from tests.bench.reconciles import Call

SIZES = (Size(10, 100), Size(30, 300), Size(100, 1000), Size(300, 3000), Size(1000, 10000))
PLOT = HERE / "docs" / "performance.svg"
_PLOT_HELP = "where the plot is written; the plot of the docs is only written if all sizes are measured"
PARTS = ["reads", "wakes", "plans", "whole"]
_WAKES = (10, 100, 1000)
_PLANS = (100, 300, 1000)
_MOST_LOST = {"before": 100, "now": 1000}
"""The largest fleet in which every cluster is lost in turn: the older code takes hours beyond it."""
_RUNS, _FEW_RUNS, _LARGE = 8, 2, 20_000_000
"""Timed runs of each reconcile, and those of one that reads more bytes."""


@dataclass(frozen=True, slots=True)
class Trees:
    """The code that is compared."""

    now: Path
    before: Path | None
    """None if there is no older revision to compare with."""

    def named(self) -> Iterator[tuple[str, Path]]:
        """The trees, the older one first."""
        if self.before:
            yield "before", self.before
        yield "now", self.now


class ReadRow(NamedTuple):
    """What one reconcile reads, by the name of the tree."""

    name: str
    size: Size
    goal: str
    reads: Mapping[str, Read]
    cpu: Mapping[str, float]
    """Milliseconds, also of the `floor`: a server that parses what the older code is sent."""


class Options(argparse.Namespace):
    """The options that `options` adds."""

    sizes: int
    against: str
    plot: Path
    parts: list[str]


def main(given: Options) -> None:
    """Print the tables, and write the plot if there is an older revision to compare with."""
    console = Console(width=140)
    sizes = SIZES[: given.sizes]
    with revisions.checked_out(given.against) as before:
        trees = Trees(HERE, before)
        there = f"before: revision {given.against}" if before else f"no column before: no revision {given.against} here"
        console.print(there)
        if "reads" in given.parts:
            rows = list(_read_rows(trees, sizes))
            console.print(_read_table(rows))
            if before and len(sizes) > 1 and (sizes == SIZES or given.plot != PLOT):  # a part would not fit the report
                given.plot.write_text(plot.svg(_series(rows)))
        if "wakes" in given.parts:
            console.print(_wake_table(trees, [n for n in _WAKES if n <= sizes[-1].clusters]))
        if "plans" in given.parts:
            console.print(_plan_table(trees, [n for n in _PLANS if n <= sizes[-1].clusters]))
        if "whole" in given.parts:
            console.print(whole_requests.table(dict(trees.named()), given.sizes))


# Reads


def _read_rows(trees: Trees, sizes: Sequence[Size]) -> Iterator[ReadRow]:
    with ExitStack() as stack:
        servers = {name: stack.enter_context(processes.server("ours", tree)) for name, tree in trees.named()}
        floor = stack.enter_context(processes.server("floor"))
        for size in sizes:
            for name, goal, measure in _measures(size):
                found = {tree: measure(one.call) for tree, one in servers.items()}
                yield ReadRow(name, size, goal, found, _cpu(found, servers, floor))


def _measures(size: Size) -> Iterator[tuple[str, str, Callable[[Call], Read]]]:
    """Names, goals and measures."""
    made = reads.roomy(size)
    for version, seeded in (("2.4", True), ("2.3", False)):
        measure = partial(reads.settled, made=made, seeded=seeded)
        yield f"settled, Crossplane {version}", "0.5 MB", measure
    for name, make in reads.FLEETS.items():
        goal = "" if make is reads.misleading else "8 MB"
        yield f"10 placed, {name}", goal, partial(reads.placement, made=make(size))


def _cpu(found: Mapping[str, Read], servers: Mapping[str, Server], floor: Server) -> Mapping[str, float]:
    first = next(iter(found.values()))
    contestants = [(floor, first.requests), *((servers[tree], read.requests) for tree, read in found.items())]
    is_large = first.done.size > _LARGE
    taken = processes.in_turn(contestants, _FEW_RUNS if is_large else _RUNS)
    return {tree: one.cpu for tree, one in zip(("floor", *found), taken, strict=True)}


def _read_table(rows: Sequence[ReadRow]) -> Table:
    table = Table(
        Column("reconcile", no_wrap=True), Column("clusters, replicas", no_wrap=True),
        "calls before", "MB", "calls now", "MB", "/ before", "goal", "CPU before / floor", "CPU now / floor",
        title="What a ModelDeployment's reconcile reads, all calls together; floor: parse what was read before",
    )  # fmt: skip
    for row in rows:
        before, now, cpu = row.reads.get("before"), row.reads["now"], row.cpu
        table.add_row(
            row.name, str(row.size),
            str(before.done.calls) if before else "", _mb(before) if before else "",
            str(now.done.calls), _mb(now), f"{now.done.size / before.done.size:.1%}" if before else "", row.goal,
            _ratio(cpu.get("before", 0), cpu["floor"]), _ratio(cpu["now"], cpu["floor"]),
        )  # fmt: skip
    return table


def _mb(read: Read) -> str:
    return f"{read.done.size / 1e6:.2f}"


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.3g}" if one and other else ""


def _series(rows: Sequence[ReadRow]) -> list[plot.Series]:
    """Bytes over clusters, as the plot shows them."""
    settled, placing = "settled, Crossplane 2.4", "10 placed, room everywhere"
    shown = (
        (settled, "before", "before", "before: settled"),
        (placing, "before", "before dashed", "before: placing 10"),
        (placing, "now", "now dashed", "placing 10 replicas"),
        (settled, "now", "now", "settled"),
    )
    return [
        plot.Series(label, tuple((r.size.clusters, r.reads[tree].done.size) for r in rows if r.name == name), style)
        for name, tree, style, label in shown
    ]


# Wakes and plans


def _planned(tree: Path, measure: str, size: int) -> Mapping[str, float]:
    command = [sys.executable, "-m", "tests.bench.planned", measure, str(size)]
    run = subprocess.run(
        command, cwd=tree, env=processes.environment(tree), stdout=subprocess.PIPE, text=True, check=True
    )
    found: Mapping[str, float] = json.loads(run.stdout)
    return found


def _wake_table(trees: Trees, sizes: Sequence[int]) -> Table:
    table = Table(
        "deployments at rest", "code", "itself", "on its cluster", "waiting", "all others", "all kinds",
        title="Reconciles that one placement causes, of deployments and of all kinds; in brackets, how many there are",
    )  # fmt: skip
    for size in sizes:
        for name, tree in trees.named():
            found = _planned(tree, "wakes", size)
            near, waiting = found["neighbours"], found["waiting"]
            table.add_row(
                f"{size:,}", name, f"{found['itself']:.1f}",
                f"{found['of neighbours']:.1f} ({near:.0f})", f"{found['of waiting']:.1f} ({waiting:.0f})",
                f"{found['of others']:.1f} ({size - near:.0f})", f"{found['reconciles']:.1f}",
            )  # fmt: skip
    return table


def _plan_table(trees: Trees, sizes: Sequence[int]) -> Table:
    table = Table(
        "command", "clusters and deployments", "CPU s before", "reconciles", "CPU s now", "reconciles",
        title="Whole fleets on the embedded control plane",
    )  # fmt: skip
    for shown, measure, most in (
        ("plan", "plan", {}),
        ("what-if --lose any", "what-if", _MOST_LOST),
    ):
        for size in sizes:
            cells = {"before": ("", ""), "now": ("", "")}
            for name, tree in trees.named():
                if size <= most.get(name, size):
                    found = _planned(tree, measure, size)
                    cells[name] = f"{found['cpu']:.1f}", f"{found['reconciles']:,.0f}"
            table.add_row(shown, f"{size:,}", *cells["before"], *cells["now"])
    return table


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this bench."""
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="how many of the fleet sizes, from the smallest")
    parser.add_argument("--against", metavar="REV", default=revisions.BEFORE_STAGES, help="revision to compare with")
    parser.add_argument("--plot", metavar="FILE", type=Path, default=PLOT, help=_PLOT_HELP)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="which of the tables")


if __name__ == "__main__":
    _parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options(_parser)
    main(_parser.parse_args(namespace=Options()))
