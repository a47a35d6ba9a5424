"""`python -m tests.fuzz`: what nobody should send, through the function's door, until a number of attempts.

- `places` puts hostile values at random places of golden cases.
- `bytes` sends requests with wrong bytes.
- `sweep` puts every hostile value into every field of every kind.
- `reads` does so with every field that composers read of other objects.
- `guided` lets coverage choose the bytes and texts. It needs atheris, and is left out where that is not installed.

Every attempt has a number, and a mode, a seed and a number are the same attempt each time: `--mode bytes --seed 7
--from 1234 --attempts 1` repeats one. The exit code is 1 if any attempt found a fault.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

import structlog

from tests.fuzz import bounded, guided, messages, reads, sweep
from tests.fuzz.attempts import Attempt, invented
from tests.fuzz.laws import faults, faults_of_bytes
from tests.support.cases import CASES

_SHOWN = 20
_ATTEMPTS = {"places": 2000, "bytes": 6000, "sweep": 3000, "reads": 1500, "guided": 20000}
"""By default, each about a minute of CPU."""


class Try(NamedTuple):
    """One attempt, and what it finds."""

    shown: object
    faults: Callable[[], list[str]]


Mode: TypeAlias = Callable[[int, int, int, str], Iterator[Try]]
"""From a seed, a first number, a count, and the cases: attempts."""


def places(seed: int, start: int, count: int, only: str = "") -> Iterator[Try]:
    cases = _cases(only)
    for number in range(start, start + count):
        random = Random(f"{seed}/{number}")
        yield _try(invented(random, random.choice(cases)))


def wrong_bytes(seed: int, start: int, count: int, only: str = "") -> Iterator[Try]:
    cases = _cases(only)
    for number in range(start, start + count):
        data = messages.invented(Random(f"{seed}/{number}"), cases)
        yield Try(f"{len(data)} bytes", partial(faults_of_bytes, data))


def systematic(attempts: Callable[[int], Sequence[Attempt]]) -> Mode:
    """Return a mode that tries some of the attempts of a seed, in the order of the seed."""

    def some(seed: int, start: int, count: int, only: str = "") -> Iterator[Try]:
        chosen = [a for a in attempts(seed) if only in _name(a.case)]
        order = Random(seed).sample(range(len(chosen)), len(chosen))
        return (_try(chosen[i]) for i in order[start : start + count])

    return some


MODES: Mapping[str, Callable[[], Mode]] = {
    "places": lambda: places,
    "bytes": lambda: wrong_bytes,
    "sweep": lambda: systematic(lambda _: sweep.attempts()),
    "reads": lambda: systematic(reads.attempts),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--mode", choices=_ATTEMPTS, action="append", help="One of them, not all.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="start")
    parser.add_argument("--attempts", type=int, help="Of each mode.")
    parser.add_argument("--only", default="", help="Cases whose KIND/NAME contains this.")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    bounded.begin()
    passed, failed = map(sum, zip(*(_ran(mode, given) for mode in given.mode or _ATTEMPTS), strict=True))
    print(f"{failed} failed, {passed} passed" if failed else f"{passed} passed", flush=True)
    return 1 if failed else 0


def _ran(mode: str, given: argparse.Namespace) -> tuple[int, int]:
    """Run a mode, print its counts, and return how many attempts found no fault, and how many found one."""
    count, begun = given.attempts or _ATTEMPTS[mode], time.process_time()
    if mode == "guided":
        bounded.end()
        return guided.run_all(given.seed, count)
    found: Counter[str] = Counter()
    tried = failed = 0
    for number, attempt in enumerate(MODES[mode]()(given.seed, given.start, count, given.only), given.start):
        tried += 1
        all_of_it = bounded.faults_of(attempt.faults)
        failed += bool(all_of_it)
        for fault in all_of_it:
            found[fault] += 1
            if found[fault] == 1 and len(found) <= _SHOWN:
                print(f"{mode} {number}: {fault}\n  {attempt.shown}\n  {_again(mode, given, number)}", flush=True)
    cpu = time.process_time() - begun
    print(f"{mode}: {tried} attempts with seed {given.seed} in {cpu:.0f} s of CPU: {len(found)} faults", flush=True)
    return tried - failed, failed


def _again(mode: str, given: argparse.Namespace, number: int) -> str:
    only = f" --only {given.only}" if given.only else ""
    return f"again: python -m tests.fuzz --mode {mode} --seed {given.seed} --from {number} --attempts 1{only}"


def _try(attempt: Attempt) -> Try:
    return Try(attempt, partial(faults, attempt))


def _cases(only: str) -> list[Path]:
    return [case for case in CASES if only in _name(case)]


def _name(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


if __name__ == "__main__":
    sys.exit(main())
