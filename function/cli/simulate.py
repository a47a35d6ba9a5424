"""`modelplane simulate`: random edits, faults and orders of reconciles, checked against invariants."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from function.cli import simulation_report, terminal
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.fleet import checked, settled
from function.cli.progress import parts
from function.cli.report import dump
from function.cli.simulation_report import Run
from function.cli.target import chosen
from function.core import closest, visible
from function.planning.simulation import replays
from function.planning.simulation.generator import KINDS, Generator
from function.planning.simulation.play import play, play_chosen
from function.planning.simulation.shrink import MOST_STEPS, Shrunk, shrink
from function.planning.simulation.start import Start
from function.sandbox.errors import Unreachable

if TYPE_CHECKING:
    from function.planning.simulation.invariants import Violation
    from function.planning.simulation.steps import Step

BROKEN = 3
_CHOOSING = ("seed", "steps", "runs", "kinds")
"""Options by which steps are chosen."""
_EXAMPLE = epilog(
    [
        "modelplane simulate examples/fragmented --steps 200",
        "modelplane simulate fleet/ --seed 7 --runs 20 --faults edits,clusters,stale",
        "modelplane simulate fleet/ --seed 7 > broken.txt",
        "modelplane simulate fleet/ --replay broken.txt",
    ],
    {
        0: "every invariant holds",
        BROKEN: "an invariant is broken",
        1: "an error: an invalid file, or a fleet that does not settle",
        2: INVALID_OPTION,
    },
)


def _kinds(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The kinds of steps that an option names. Raises BadParameter."""
    named = tuple(dict.fromkeys(filter(None, (word.strip() for word in (value or "").split(",")))))
    for name in named:
        if name not in KINDS:
            meant = closest(name, KINDS)
            hint = f"did you mean {meant}?" if meant else f"known: {', '.join(KINDS)}"
            raise click.BadParameter(f"{visible(name)} is no kind of step; {hint}")
    return named


@click.command(epilog=_EXAMPLE)
@click.argument("dirs", nargs=-1, required=True, metavar="DIR...")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="What all choices are drawn from.")
@click.option("--steps", type=click.IntRange(1), default=1000, show_default=True, help="Number of steps of a run.")
@click.option(
    "--runs", type=click.IntRange(1), default=1, show_default=True, help="Number of runs, each with the next seed."
)
@click.option(
    "--faults", "kinds", metavar="KIND,...", callback=_kinds, help=f"Choose from {', '.join(KINDS)}.  [default: all]"
)
@click.option("--replay", metavar="FILE", help="Play the steps in a file, or in - for standard input, and choose none.")
@click.option("--output", "-o", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--target", metavar="HOST:PORT", help="Call the function that is served there, over gRPC without TLS.")
@click.pass_context
def simulate(
    ctx: click.Context,
    /,
    dirs: tuple[str, ...],
    seed: int,
    steps: int,
    runs: int,
    *,
    kinds: tuple[str, ...],
    replay: str | None,
    form: str,
    target: str | None,
) -> None:
    """Simulate a fleet under random edits, faults and orders of reconciles, and check that invariants hold.

    DIR is one or more folders or files, or - for standard input. The fleet settles first; each run then begins with it.
    The same files, seed and number of steps give the same run. If an invariant is broken, the steps are reduced to the
    few that break it, and printed so that --replay plays them again.
    """
    _check_replay(ctx, replay)
    replayed = _replayed(replay) if replay else None
    start = Start.of(settled(checked(dirs), function=chosen(target)))
    began = time.monotonic()
    try:
        found = (
            [_replay(start, replayed)]
            if replayed is not None
            else list(_runs(start, range(seed, seed + runs), steps, kinds))
        )
    except Unreachable as problem:
        raise click.ClickException(str(problem)) from problem
    if form == "json":
        dump(simulation_report.data(found), form)
    else:
        simulation_report.show(found, _command(dirs, found[-1], steps, kinds))
    _show_speed(found, time.monotonic() - began)
    sys.exit(BROKEN if found[-1].violation else 0)


def _check_replay(ctx: click.Context, replay: str | None) -> None:
    """Refuse options that choose steps beside those that are replayed. Raises UsageError."""
    given = [name for name in _CHOOSING if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if replay and given:
        option = next(parameter.opts[0] for parameter in ctx.command.params if parameter.name == given[0])
        raise click.UsageError(f"{option} cannot be combined with --replay, which plays the steps of a file")


def _runs(start: Start, seeds: range, steps: int, kinds: Sequence[str]) -> Iterator[Run]:
    """Run one seed after the other, until one breaks an invariant."""
    with parts("simulate", len(seeds) * steps) as count:
        for seed in seeds:
            played = play_chosen(start, Generator(seed, steps, kinds), partial(_shown, count, f"seed {seed}"))
            if played.violation is None:
                yield Run(seed, played)
                continue
            yield Run(seed, played, _shrunk(start, played.steps, played.violation))
            return


def _shrunk(start: Start, steps: Sequence[Step], violation: Violation) -> Shrunk:
    with parts("reduce the steps", MOST_STEPS) as count:
        return shrink(start, steps, violation, progress=lambda left: _shown(count, f"{left} left", left))


def _shown(count: Callable[[str, int], int], name: str, done: int) -> None:
    count(name, done)


def _replay(start: Start, steps: Sequence[Step]) -> Run:
    with parts("replay", len(steps)) as count:
        played = play(start, steps, lambda done: _shown(count, str(steps[done - 1]), done))
    return Run(None, played)


def _replayed(name: str) -> tuple[Step, ...]:
    """The steps in a file. Raises ClickException."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8"
        raise click.ClickException(f"cannot read {visible(name)}: {reason}") from problem
    try:
        found = replays.read(text)
    except replays.Unreadable as wrong:
        raise click.ClickException(f"{visible(name)}:{wrong}") from wrong
    if not found:
        raise click.ClickException(f"{visible(name)} has no steps")
    return found


def _command(dirs: Sequence[str], run: Run, steps: int, kinds: Sequence[str]) -> list[str]:
    """The command line that repeats a run."""
    chosen = [] if run.seed is None else ["--seed", str(run.seed), "--steps", str(steps)]
    return ["modelplane", "simulate", *dirs, *chosen, *(["--faults", ",".join(kinds)] if kinds else [])]


def _show_speed(runs: Sequence[Run], seconds: float) -> None:
    """Show how fast it was, on a terminal: it differs each time."""
    if terminal.shows_progress():
        steps = sum(len(run.played.steps) for run in runs)
        click.echo(f"{steps / max(seconds, 0.001):,.0f} steps per second", err=True)
