"""Shows what simulations did and checked. What a broken one prints can be replayed as it is."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from function.cli import report
from function.core import plural, visible
from function.planning.simulation import replays
from function.planning.simulation.invariants import Invariant, Violation
from function.planning.simulation.play import Played
from function.planning.simulation.shrink import Shrunk

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Run:
    """A run, and the steps that are left of it if it broke an invariant."""

    seed: int | None
    """None for a replay."""
    played: Played
    shrunk: Shrunk | None = None

    @property
    def violation(self) -> Violation | None:
        return self.played.violation


def show(runs: Sequence[Run], command: Sequence[str]) -> None:
    """Print runs. The last one may have broken an invariant."""
    if runs[-1].violation:
        steps = runs[-1].shrunk.steps if runs[-1].shrunk else runs[-1].played.steps
        click.echo(visible_lines(replays.text(steps, _comments(runs[-1], shlex.join(command)))), nl=False)
        return
    report.show([report.Lines("", [_summary(runs), *_rounds(runs)]), _steps(runs), _checked(runs)])


def visible_lines(text: str) -> str:
    """Escape a text for the terminal, line by line."""
    return "".join(f"{visible(line)}\n" for line in text.splitlines())


def _comments(run: Run, command: str) -> Iterator[str]:
    assert run.violation is not None
    yield command
    yield f"Step {len(run.played.steps)} breaks an invariant: {run.violation.invariant.claim}."
    yield f"  {run.violation}"
    if run.shrunk is None:
        return
    total, left = len(run.played.steps), len(run.shrunk.steps)
    needed = "and each is needed" if run.shrunk.is_minimal else "and some may not be needed: the search ended early"
    yield f"{left} of {plural(total, 'step')} are enough, {needed}. They break it so:"
    yield f"  {run.shrunk.violation}"
    yield "To play them again, save this text, and use --replay FILE instead of --seed."


def _summary(runs: Sequence[Run]) -> str:
    seeds = [run.seed for run in runs if run.seed is not None]
    of = "" if not seeds else f"seed {seeds[0]}: " if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}: "
    steps = plural(sum(len(run.played.steps) for run in runs), "step")
    reconciles = sum(run.played.reconciles for run in runs)
    refused = sum(run.played.refused for run in runs)
    digests = ", ".join(run.played.digest for run in runs[:_SHOWN]) + (", …" if len(runs) > _SHOWN else "")
    facts = f"{reconciles} reconciles, {refused} edits refused by admission"
    return f"{of}{steps}, {facts}; every invariant holds (digest {digests})"


def _rounds(runs: Sequence[Run]) -> Iterator[str]:
    """How long the fleet took to settle."""
    counts = sum((run.played.rounds for run in runs), Counter[int]())
    taken = sorted(counts.elements())
    if taken:
        half, most = taken[len(taken) // 2], taken[len(taken) * 99 // 100]
        often = plural(len(taken), "time")
        yield f"settled {often}: half within {half} rounds, 99 % within {most}, all within {taken[-1]}"


def _steps(runs: Sequence[Run]) -> report.Table:
    counts = sum((run.played.counts for run in runs), Counter[str]())
    return report.Table("Steps", ("STEP", "COUNT"), [(title, str(count)) for title, count in sorted(counts.items())])


def _checked(runs: Sequence[Run]) -> report.Table:
    counts = sum((run.played.checked for run in runs), Counter[Invariant]())
    rows = [(one.title, str(counts[one]), one.claim) for one in Invariant]
    return report.Table("Checked", ("INVARIANT", "CASES", "CLAIM"), rows)


def data(runs: Sequence[Run]) -> dict[str, Any]:
    """Runs for programs."""
    return {"holds": runs[-1].violation is None, "runs": [_run(run) for run in runs]}


def _run(run: Run) -> Mapping[str, Any]:
    found = run.shrunk
    return {
        **({} if run.seed is None else {"seed": run.seed}),
        "steps": len(run.played.steps),
        "reconciles": run.played.reconciles,
        "refused": run.played.refused,
        "rounds": {str(rounds): count for rounds, count in sorted(run.played.rounds.items())},
        "digest": run.played.digest,
        "counts": dict(sorted(run.played.counts.items())),
        "checked": {one.title: run.played.checked[one] for one in Invariant},
        **({"violation": _violation(run.violation)} if run.violation else {}),
        **(
            {"shrunk": {**_violation(found.violation), "minimal": found.is_minimal, "steps": [*map(str, found.steps)]}}
            if found
            else {}
        ),
    }


def _violation(found: Violation) -> dict[str, str]:
    return {"invariant": found.invariant.title, "subject": found.subject, "problem": found.problem}
