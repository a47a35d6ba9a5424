"""Plays steps on a world, and checks the invariants after each of them.

`play` is a function of the start and the steps: no clock, no order of hashes, no randomness. So a sequence of steps
that breaks an invariant breaks it again, in any process.
"""

from __future__ import annotations

import hashlib
import json
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from function.core import plain
from function.planning.simulation.invariants import INJECTED, TAKEN, Checked, Invariant, Violation
from function.planning.simulation.settled import Settled
from function.planning.simulation.start import Start, located
from function.planning.simulation.steps import Rest, Settle, Step, verb
from function.planning.simulation.world import World
from function.sandbox.errors import DidNotConverge, Unreachable

_PACKAGE = Path(__file__).parents[2]
_FAILURES = ("cannot apply composed resource", "fatal result", "did not settle")
"""Failures of a reconcile that only a fault of the function explains, unless they are INJECTED or TAKEN. `settled`
reports the latter if they last."""
_GOING = "if the object is being deleted"
"""Part of what the API server refuses to who has not read yet that an object is being deleted."""
_SHOWN = 5

Chosen = Callable[[World], Iterable[Step]]
"""The next steps, of a generator that looks at the world."""


@dataclass(slots=True)
class Played:
    """What was played, and what came of it."""

    steps: list[Step] = field(default_factory=list)
    checked: Checked = field(default_factory=Checked)
    refused: int = 0
    """Edits that admission refused."""
    reconciles: int = 0
    rounds: Counter[int] = field(default_factory=Counter)
    """How many rounds the fleet took to settle, and how often."""
    returns: int = 0
    """The most returns of one field to a value that it had, while nothing happened."""
    violation: Violation | None = None
    """The first one. It ends the play."""
    digest: str = ""
    """Of the last state of all objects."""

    @property
    def counts(self) -> Counter[str]:
        """The steps by their verbs."""
        return Counter(verb(type(step)) for step in self.steps)


def play(start: Start, steps: Iterable[Step], progress: Callable[[int], None] = lambda _count: None) -> Played:
    """Play steps in order, until one breaks an invariant.

    Args:
        start: The fleet. It does not change.
        steps: The steps.
        progress: Called with the number of steps that were played.

    Raises:
        Unreachable: The function cannot be called.
    """
    queue = iter(steps)
    return play_chosen(start, lambda _world: [step] if (step := next(queue, None)) is not None else (), progress)


def play_chosen(start: Start, choose: Chosen, progress: Callable[[int], None] = lambda _count: None) -> Played:
    """Play the steps that `choose` returns for the world as it is then, until there are none. See `play`."""
    world = World(start)
    played = Played(checked=world.checked)
    before = world.control.loop.counts
    while played.violation is None and (chosen := list(choose(world))):
        for step in chosen:
            played.violation = _broken_by(step, world, played)
            played.steps.append(step)
            progress(len(played.steps))
            if played.violation:
                break
    played.refused, played.rounds, played.returns = world.refused, world.rounds, world.swings.most
    played.reconciles = (world.control.loop.counts - before).reconciles.total()
    played.checked[Invariant.ACCEPTED] = played.reconciles
    played.checked[Invariant.NO_BUG] = len(played.steps)
    played.digest = _digest(world)
    return played


def _broken_by(step: Step, world: World, played: Played) -> Violation | None:
    """The first invariant that a step breaks."""
    was_settled = bool(played.steps) and isinstance(played.steps[-1], Settle | Rest)
    version = world.store.version
    if step.disturbs:
        world.calm.disturb(located(target) if (target := getattr(step, "target", None)) else None)
    try:
        step(world)
    except DidNotConverge as problem:
        swing = next(world.swings.end(world.size), None)
        return swing or Violation(Invariant.CONVERGES, "fleet", str(problem))
    except Unreachable:
        raise
    except Exception as bug:  # noqa: BLE001
        return Violation(Invariant.NO_BUG, str(step), _described(bug))
    return next(_found(step, world, version if was_settled else None), None)


def _found(step: Step, world: World, version: int | None) -> Iterator[Violation]:
    yield from world.losses.violations
    yield from world.decisions.violations
    yield from _failures(world, reads_old=step.reads_old)
    if isinstance(step, Settle | Rest):
        world.checked[Invariant.CONVERGES] += 1
        yield from world.swings.end(world.size)
        yield from world.calm.settled(world.store)
        yield from Settled(world.control, world.checked, world.is_healthy).violations()
    if isinstance(step, Rest) and version is not None:
        yield from _restless(world, version)


def _restless(world: World, version: int) -> Iterator[Violation]:
    """What changed since a version, after which nothing happened."""
    world.checked[Invariant.AT_REST] += 1
    if changed := sorted(map(str, world.store.since(version))):
        shown = ", ".join(changed[:_SHOWN]) + (" …" if len(changed) > _SHOWN else "")
        yield Violation(Invariant.AT_REST, "fleet", f"{len(changed)} objects change though nothing happened: {shown}")


def _failures(world: World, *, reads_old: bool) -> Iterator[Violation]:
    """What the API server refused, and fatal results, since the last step."""
    events = world.control.loop.reconciler.events
    for ref, kind, reason, message in events:
        is_caused = TAKEN in message or INJECTED in message or (reads_old and _GOING in message)
        is_failure = (kind, reason) == ("Warning", "ComposeResources") and not is_caused
        if is_failure and any(text in message for text in _FAILURES):
            yield Violation(Invariant.ACCEPTED, str(ref), message)
    events.clear()


def _digest(world: World) -> str:
    objects = json.dumps([plain(manifest) for manifest in world.store.all()], sort_keys=True)
    return hashlib.sha256(objects.encode()).hexdigest()[:12]


def _described(bug: Exception) -> str:
    """The type of an exception and its innermost place in this program. Its message may hold a secret value."""
    frames = [frame for frame in traceback.extract_tb(bug.__traceback__) if _PACKAGE in Path(frame.filename).parents]
    where = frames[-1] if frames else traceback.extract_tb(bug.__traceback__)[-1]
    return f"{type(bug).__name__} at {Path(where.filename).name}:{where.lineno}"
