"""`python -m tests.soak`: random edits, faults and orders of reconciles on many fleets, on all cores.

The same seed is the same soak: its runs, their steps and their digests. Each run appends a line to a log. `--resume`
takes over what the log has of this program. The exit code is 1 if any run breaks an invariant, or if there was no case
of one.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from tests.soak import log
from tests.soak.runs import Record, Run, begin, done, planned, program

_LOG = Path("build/soak.jsonl")
_EVERY = 30.0
"""Seconds between two lines that say how far it is."""


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    runs = list(planned(given.seed, given.steps, given.only))
    known = log.recorded(given.log, runs, program()) if given.resume else {}
    records = list(known.values())
    if known:
        print(f"{len(known)} of {len(runs)} runs are in {given.log}", flush=True)
    ends = time.monotonic() + given.minutes * 60 if given.minutes else None
    began, before = time.monotonic(), sum(record["steps"] for record in records)
    told = began
    for record in _results([run for run in runs if run.key not in known], given.jobs, ends):
        log.append(given.log, record)
        records.append(record)
        if "violation" in record:
            print(f"{record['fleet']}, seed {record['seed']}: {record['violation']}\n{record['replay']}", flush=True)
        if time.monotonic() - told > _EVERY:
            told = time.monotonic()
            print(_progress(records, len(runs), before, told - began), flush=True)
    return _end(records, len(runs), before, time.monotonic() - began)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000, help="In all runs together.")
    parser.add_argument("--seed", type=int, default=1, help="Of the first run.")
    parser.add_argument("--only", default="", help="Play on the examples whose folder contains this.")
    parser.add_argument("--minutes", type=float, default=0.0, help="Start no run after so many minutes.")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="Processes.")
    parser.add_argument("--log", type=Path, default=_LOG)
    parser.add_argument("--resume", action="store_true", help="Do only the runs that the log does not have.")
    return parser


def _results(runs: Sequence[Run], jobs: int, ends: float | None) -> Iterator[Record]:
    """Do runs in processes, and yield each record when it is there. No run starts after `ends`."""
    left = iter(runs)
    with ProcessPoolExecutor(jobs, get_context("forkserver"), begin) as pool:
        waiting = {pool.submit(done, run) for run in islice(left, 2 * jobs)}
        while waiting:
            ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for one in ready:
                yield one.result()
            if ends is None or time.monotonic() < ends:
                waiting |= {pool.submit(done, run) for run in islice(left, len(ready))}


def _progress(records: Sequence[Record], runs: int, before: int, seconds: float) -> str:
    steps, broken = sum(record["steps"] for record in records), sum("violation" in record for record in records)
    speed = (steps - before) / max(seconds, 0.001)
    return f"{len(records)} of {runs} runs, {steps} steps, {broken} violations; {speed:.0f} steps per second"


def _end(records: Sequence[Record], runs: int, before: int, seconds: float) -> int:
    print(_progress(records, runs, before, seconds))
    if len(records) < runs:
        print(f"the time is over: {runs - len(records)} runs were not done; --resume does them")
    for line in log.summary(records):
        print(line)
    return 1 if log.unchecked(records) or any("violation" in record for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
