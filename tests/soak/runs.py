"""The runs of a soak, and what each of them adds to the log.

A run is a fleet, a seed and a number of steps. Its record is the same each time and in any process, but for the seconds
that it took.
"""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from function.planning.simulation import replays
from function.planning.simulation.generator import Generator
from function.planning.simulation.invariants import Invariant
from function.planning.simulation.play import Played, play_chosen
from function.planning.simulation.shrink import shrink
from function.planning.simulation.start import Start
from function.sandbox.errors import DidNotConverge
from tests.soak import fleets

_FUNCTION = Path(__file__).parents[2] / "function"
STEPS_OF_A_RUN = 500
_SHRINKING = 6_000
"""Steps to play at most to find the few that break an invariant."""

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """A run to do."""

    fleet: str
    seed: int
    steps: int

    @property
    def key(self) -> tuple[str, int, int]:
        return self.fleet, self.seed, self.steps


def planned(seed: int, steps: int, only: str = "") -> Iterator[Run]:
    """The runs of a soak. Every other one plays on an example, and the others on fleets that are drawn.

    Args:
        seed: Of the first run. Each has the next one.
        steps: In all runs together.
        only: Part of the names of the fleets to play on; all if empty.
    """
    named = [name for name in fleets.examples() if only in name]
    for number, start in enumerate(range(0, steps, STEPS_OF_A_RUN)):
        is_drawn = number % 2 == 1 and not only
        if not is_drawn and not named:
            return
        fleet = fleets.drawn(seed + number) if is_drawn else named[number // (1 if only else 2) % len(named)]
        yield Run(fleet, seed + number, min(STEPS_OF_A_RUN, steps - start))


def done(run: Run) -> Record:
    """Do a run, and return its record."""
    began = time.process_time()
    record = {"fleet": run.fleet, "seed": run.seed, "wanted": run.steps, "program": program()}
    try:
        start = _settled(run.fleet)
    except DidNotConverge as problem:
        return {**record, "steps": 0, "violation": f"converges: fleet: {problem}", "replay": ""}
    played = play_chosen(start, Generator(run.seed, run.steps))
    found = record | _facts(played)
    if played.violation:
        found |= {"violation": str(played.violation), "replay": _replay(run, start, played)}
    return found | {"seconds": round(time.process_time() - began, 1)}


def _facts(played: Played) -> Record:
    return {
        "steps": len(played.steps),
        "reconciles": played.reconciles,
        "refused": played.refused,
        "rounds": {str(rounds): count for rounds, count in sorted(played.rounds.items())},
        "returns": played.returns,
        "digest": played.digest,
        "counts": dict(sorted(played.counts.items())),
        "checked": {one.title: played.checked[one] for one in Invariant},
    }


def _replay(run: Run, start: Start, played: Played) -> str:
    assert played.violation is not None
    left = shrink(start, played.steps, played.violation, most=_SHRINKING)
    comments = [f"fleet: {run.fleet}", f"seed {run.seed}, {len(played.steps)} steps", str(left.violation)]
    return replays.text(left.steps, comments)


@lru_cache(maxsize=40)
def _settled(fleet: str) -> Start:
    return fleets.settled(fleet)


def begin() -> None:
    """Prepare a process that does nothing but runs: what stays is not looked through again and again."""
    program()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # nearly all garbage goes by reference counts


@cache
def program() -> str:
    """A digest of the program. Records of another one say nothing about this one."""
    found = hashlib.sha256()
    for path in sorted(_FUNCTION.rglob("*.py")):
        found.update(str(path.relative_to(_FUNCTION)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]
