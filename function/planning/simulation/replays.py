"""A sequence of steps as text: a step on each line, and comments that begin with `#`."""

from __future__ import annotations

from collections.abc import Iterable

from function.planning.simulation import steps
from function.planning.simulation.steps import Step, UnknownStep


class Unreadable(ValueError):
    """A text has a line that is no step. The message begins with the number of the line."""


def text(played: Iterable[Step], comments: Iterable[str] = ()) -> str:
    """The text of a sequence, with comments before it."""
    lines = [f"# {comment}".rstrip() for comment in comments]
    return "".join(f"{line}\n" for line in (*lines, *map(str, played)))


def read(written: str) -> tuple[Step, ...]:
    """Read a sequence.

    Raises:
        Unreadable: A line is no step.
    """
    found = []
    for number, line in enumerate(written.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found.append(steps.read(line))
            except UnknownStep as wrong:
                raise Unreadable(f"{number}: {wrong}") from wrong
    return tuple(found)
