"""Files as a fleet: validated, loaded into the embedded control plane, and reconciled until nothing changes."""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeVar

import click

from function.cli import inputs
from function.cli.files import Loaded, read
from function.cli.findings import located
from function.cli.meant import is_ours, takes_part
from function.core import dig, plural, visible
from function.sandbox.errors import DidNotConverge, Refused, Unreachable

if TYPE_CHECKING:
    from function.planning.control_plane import ControlPlane
    from function.sandbox.extensions import CompositionFunction

T = TypeVar("T")
_NO_OBSTACLE = ("selector", "refused")
"""Errors of `validate` that do not stop a plan: it shows how the function handles them."""


def settled(
    fleet: Sequence[Loaded],
    edits: Sequence[Loaded] = (),
    *,
    function: CompositionFunction | None = None,
    seed: int | None = None,
    at: Callable[[ControlPlane], None] = lambda _: None,
) -> ControlPlane:
    """A control plane that has converged.

    Args:
        fleet: The objects to load.
        edits: Objects to apply once the fleet has converged.
        function: The composition function; None for the one in this program.
        seed: Shuffles the order of reconciles.
        at: Called with the control plane after loading, and again before the edits if there are any.

    Raises:
        ClickException: An object is refused, the fleet does not converge, or the function is unreachable.
    """
    from function.planning import stubs
    from function.planning.control_plane import ControlPlane, in_process

    control = ControlPlane(function=function or in_process, seed=seed)
    manifests, edited = [one.manifest for one in fleet], [one.manifest for one in edits]
    with at_work(control), _uncollected():
        control.loop.load([*manifests, *stubs.objects([*manifests, *edited])])
        at(control)
        control.loop.settle()
        if edits:
            at(control)
            for one in edits:
                _edit(control, one)
            control.loop.settle()
    return control


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile. A fleet is kept until the command ends, and each collection would read all of it:
    together a quarter of the time that a fleet of 250 clusters takes."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def at_work(control: ControlPlane, doing: str = "", *, shown: bool = True) -> Iterator[None]:
    """Show the progress of a control plane, and translate its exceptions to ClickException."""
    try:
        with _without_collector(), _Progress(doing, shown=shown) as progress:
            control.loop.progress = progress
            yield
    except (Refused, DidNotConverge, Unreachable) as problem:
        raise click.ClickException(str(problem)) from problem


def _edit(control: ControlPlane, edit: Loaded) -> None:
    """Apply an object, or delete it if it has a deletionTimestamp. Raises Refused, with its place in the file."""
    if dig(edit.manifest, "metadata", "deletionTimestamp"):
        control.store.delete(control.store.located(edit.manifest))
        return
    try:
        control.loop.replace(edit.manifest)
    except Refused as problem:
        raise Refused(f"{edit.source.at()}: {problem}") from problem


def checked(paths: Sequence[str], exclude: Sequence[str] = ()) -> list[Loaded]:
    """The objects in files. What was skipped is said on standard error.

    Args:
        paths: Files, folders, and - for standard input.
        exclude: Patterns of files and folders to pass over.

    Raises:
        ClickException: An API server would refuse an object, or there is none of ours. The errors are printed.
    """
    from function import validation
    from function.cli import dump_check

    given = read(paths, exclude)
    loaded = [one for one in given.loaded if is_ours(one.manifest) or takes_part(one.manifest)]
    checked = validation.validate([one.manifest for one in loaded])
    wrong = {finding.index for finding in checked if finding.is_error}
    broken = [*given.broken, *dump_check.faults([one for index, one in enumerate(loaded) if index not in wrong])]
    findings = located(checked, loaded, broken)
    errors = [f for f in findings if f.severity == "error" and f.code not in _NO_OBSTACLE]
    for finding in errors:
        click.echo(str(finding), err=True)
    if errors:
        raise click.ClickException(f"{plural(len(errors), 'error')}; nothing was planned")
    if missing := given.missing(paths):
        raise click.ClickException("\n".join([missing[0].problem, *given.skipped.notes]))
    inputs.note(given.skipped)
    return loaded


@contextmanager
def counted(doing: str, total: int) -> Iterator[Callable[[str, T], T]]:
    """Show how many of `total` results are done. Yields a function that passes each result through, with its name."""
    with _Progress(doing) as progress:
        done = itertools.count(1)

        def count(name: str, result: T) -> T:
            progress.show(f"{name}, {next(done)} of {total}")
            return result

        yield count


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable the garbage collector: a plan creates no cycles, and the collector would take a sixth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Progress:
    """A progress line on standard error, if that is a terminal."""

    def __init__(self, doing: str, *, shown: bool = True) -> None:
        self._doing = f"{doing}: " if doing else ""
        self._shown = shown and sys.stderr.isatty()
        self._printed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._printed:
            click.echo("\r\x1b[K", err=True, nl=False)

    def __call__(self, count: int, left: int) -> None:
        if left % 50 == 0:
            self.show(f"round {count}: {left} to reconcile")

    def show(self, what: str) -> None:
        if self._shown:
            self._printed = True
            click.echo(f"\r\x1b[K{self._doing}{visible(what)}", err=True, nl=False)
