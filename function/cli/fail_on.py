"""`--fail-on`: what makes a plan or a what-if fail, in addition to an error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import click

from function.core import closest, enumerate_names, visible
from function.planning.exit_codes import FAILED_ON

SHORT, LOST, CHANGE, WARNING = "short", "lost", "change", "warning"
MEANINGS: Mapping[str, str] = {
    SHORT: "a deployment has fewer serving replicas than it wants",
    LOST: "something that serves would be lost",
    CHANGE: "something changes",
    WARNING: "validate would warn, or an object reports a problem",
}
Cause = Callable[[], str]
"""Says why something is so; empty if it is not."""


def option(*names: str) -> Callable[[Any], Any]:
    """The option of a command that can fail on some names."""

    def read(_ctx: click.Context, _param: click.Parameter, given: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for value in given for name in _named(value, names)))

    meanings = "; ".join(f"{name}: {MEANINGS[name]}" for name in names)
    return click.option(
        "--fail-on",
        "failing",
        multiple=True,
        metavar="|".join(names),
        callback=read,
        help=f"Exit with {FAILED_ON} if that is so. Repeatable, or separated by commas. {meanings}.",
    )


def failures(causes: Mapping[str, Cause], names: Collection[str]) -> list[str]:
    """Why a command fails, a line each.

    Args:
        causes: By name, what would make the command fail.
        names: The names that were given.
    """
    return [visible(f"--fail-on {name}: {cause}") for name in names if (cause := causes[name]())]


def listed(what: str, names: Sequence[str]) -> str:
    """A cause that names what it is about; empty if there is nothing."""
    return f"{what}: {enumerate_names(names)}" if names else ""


def _named(value: str, known: Sequence[str]) -> Iterator[str]:
    """The names in a value. Raises BadParameter."""
    for name in (part.strip() for part in value.split(",")):
        if name not in known:
            meant = closest(name, known)
            hint = f"did you mean {meant}?" if meant else f"use {', '.join(known)}"
            raise click.BadParameter(f"{name!r} is not accepted; {hint}")
        yield name
