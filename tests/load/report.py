"""Tables of what a replay took: by number of processes, and by kind."""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.table import Table

from tests.load import alone
from tests.load.alone import Alone
from tests.load.callers import Answered, Run

_QUANTILES = (0.5, 0.9, 0.99, 0.999)
_NAMES = ("p50", "p90", "p99", "p99.9")


class Measured(NamedTuple):
    """A replay against some processes."""

    name: str
    run: Run
    cpu: float
    """Seconds of all processes."""
    resident: float
    """MiB of the largest process, after the run."""
    peak: float
    """MiB of the largest process, at most."""
    load: float
    """The load average of the machine after the run."""


def load_average() -> float:
    """Of the last minute. Above the number of cores, times say little."""
    return os.getloadavg()[0]


def wrong(run: Run, known: Mapping[bytes, Alone]) -> Counter[str]:
    """What is wrong with the answers: errors, and answers that differ from those alone. By text."""
    found: Counter[str] = Counter()
    for one in run.answers:
        if one.error:
            found[one.error[:200]] += 1
        elif alone.digest(one.answer) != known[one.call.data].digest:
            found[f"another answer than alone: {one.call.kind}, {one.call.phase}"] += 1
    return found


def by_servers(measured: Sequence[Measured]) -> Table:
    """Throughput, CPU and memory. The first is the floor."""
    table = Table(
        "servers", "calls", "calls/s", "/ floor", "CPU ms a call", "/ floor", *(f"{name} ms" for name in _NAMES),
        "max ms", "RSS MiB", "peak MiB", "load",
        title="All kinds together; RSS is that of the largest process",
    )  # fmt: skip
    floor = measured[0]
    for one in measured:
        count = len(one.run.answers)
        rate, cpu = count / one.run.seconds, one.cpu / count
        table.add_row(
            one.name, f"{count:,}", f"{rate:.0f}", f"{rate / (len(floor.run.answers) / floor.run.seconds):.2f}",
            f"{cpu * 1e3:.2f}", f"{cpu / (floor.cpu / len(floor.run.answers)):.1f}",
            *quantiles(answered.seconds for answered in one.run.answers),
            f"{one.resident:.0f}", f"{one.peak:.0f}", f"{one.load:.1f}",
        )  # fmt: skip
    return table


def by_kind(one: Measured, floor: Measured, known: Mapping[bytes, Alone]) -> Table:
    """Latencies by kind, and what a call takes alone."""
    table = Table(
        "kind", "calls", "kB, mean", *(f"{name} ms" for name in _NAMES), "max ms", "p50 / floor", "p99 / floor",
        "alone, CPU ms", "/ parse",
        title=f"By kind: {one.name}",
    )  # fmt: skip
    fastest = _of_kinds(floor.run.answers)
    for kind, answers in sorted(_of_kinds(one.run.answers).items(), key=lambda pair: -len(pair[1])):
        seconds, least = _seconds(answers), _seconds(fastest[kind])
        own = [known[answered.call.data] for answered in answers]
        cpu, parse = sum(a.cpu for a in own), sum(a.floor for a in own)
        table.add_row(
            kind, f"{len(answers):,}", f"{sum(len(a.call.data) for a in answers) / len(answers) / 1e3:.0f}",
            *quantiles(seconds),
            f"{_quantile(seconds, 0.5) / _quantile(least, 0.5):.1f}",
            f"{_quantile(seconds, 0.99) / _quantile(least, 0.99):.1f}",
            f"{cpu / len(answers) * 1e3:.1f}", f"{cpu / parse:.1f}",
        )  # fmt: skip
    return table


def quantiles(seconds: Iterable[float]) -> list[str]:
    """p50, p90, p99, p99.9 and the maximum, in milliseconds."""
    ordered = sorted(seconds)
    return [f"{_quantile(ordered, share) * 1e3:.1f}" for share in (*_QUANTILES, 1.0)]


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The least value that is not exceeded by this share of the values."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _seconds(answers: Iterable[Answered]) -> list[float]:
    return sorted(one.seconds for one in answers)


def _of_kinds(answers: Iterable[Answered]) -> dict[str, list[Answered]]:
    found: dict[str, list[Answered]] = defaultdict(list)
    for one in answers:
        found[one.call.kind].append(one)
    return found
