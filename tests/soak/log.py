"""The log of a soak: a file with one JSON object on each line, one for each run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from function.planning.simulation.invariants import Invariant
from tests.soak.runs import Record, Run


def recorded(path: Path, runs: Sequence[Run], program: str) -> dict[tuple[str, int, int], Record]:
    """The records of runs that were done with this program, by the key of the run."""
    wanted = {run.key for run in runs}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = [record for line in lines if (record := _read(line)).get("program") == program]
    by_key = {(record["fleet"], record["seed"], record["wanted"]): record for record in found}
    return {key: record for key, record in by_key.items() if key in wanted}


def _read(line: str) -> Record:
    """A record; empty if its writer was stopped in the middle of the line."""
    try:
        found: Record = json.loads(line)
    except ValueError:
        return {}
    return found


def append(path: Path, record: Record) -> None:
    """Add a record to the end of a log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(record) + "\n")


def summary(records: Sequence[Record]) -> list[str]:
    """What the runs did together. The last line is counted as pytest counts tests."""
    broken = [record for record in records if "violation" in record]
    untested = unchecked(records)
    steps = sum(record["steps"] for record in records)
    cases = _total(record.get("checked", {}) for record in records)
    kinds = _total(record.get("counts", {}) for record in records)
    return [
        "steps: " + ", ".join(f"{title} {count}" for title, count in sorted(kinds.items())),
        "cases: " + ", ".join(f"{one.title} {cases[one.title]}" for one in Invariant),
        _rounds(records),
        *(f"no case of the invariant {title}: it was not tested" for title in untested),
        f"{steps} steps, {len(records)} runs, {len(broken)} violations",
        f"{len(broken)} failed, {len(records) - len(broken)} passed" if broken else f"{len(records)} passed",
    ]


def _rounds(records: Sequence[Record]) -> str:
    """How many rounds fleets took to settle, and how often a field returned to a value."""
    counts = _total(record.get("rounds", {}) for record in records)
    taken = sorted(int(rounds) for rounds, count in counts.items() for _ in range(count)) or [0]
    parts = ", ".join(
        f"{part} % within {taken[min(len(taken) - 1, len(taken) * part // 100)]}" for part in (50, 90, 99)
    )
    returns = max((record.get("returns", 0) for record in records), default=0)
    return f"rounds to settle: {parts}, at most {taken[-1]}; a field returned to a value {returns} times at most"


def unchecked(records: Iterable[Record]) -> list[str]:
    """The invariants of which no run had a case."""
    cases = _total(record.get("checked", {}) for record in records)
    return [one.title for one in Invariant if not cases[one.title]]


def _total(counts: Iterable[dict[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total
