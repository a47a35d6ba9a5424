"""Files as a fleet: checked strictly, loaded into the embedded control plane, run to a fixed point."""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeVar

import click

from function.cli.files import Loaded, examine
from function.cli.findings import located
from function.core import dig, plural, visible
from function.sandbox.errors import DidNotConverge, Refused, Unreachable

if TYPE_CHECKING:
    from function.core import Manifest
    from function.planning.control_plane import ControlPlane
    from function.sandbox.extensions import CompositionFunction

T = TypeVar("T")
_NO_OBSTACLE = ("selector", "refused")
"""Errors of `validate` with which a plan goes on: it shows what the function makes of them."""


def settled(
    fleet: Sequence[Loaded],
    edits: Sequence[Loaded] = (),
    *,
    function: CompositionFunction | None = None,
    seed: int | None = None,
    at: Callable[[ControlPlane], None] = lambda _: None,
) -> ControlPlane:
    """A control plane at rest. `at` is called with it as loaded, and again before the edits if there are any.

    Raises ClickException where it refuses an object, never comes to rest, or has nobody to ask.
    """
    from function.planning import stub_secrets
    from function.planning.control_plane import ControlPlane, in_process

    control = ControlPlane(function=function or in_process, seed=seed)
    manifests, edited = [one.manifest for one in fleet], [one.manifest for one in edits]
    with at_work(control):
        control.loop.load([*manifests, *stub_secrets.objects([*manifests, *edited])])
        at(control)
        control.loop.settle()
        if edits:
            at(control)
            for manifest in edited:
                _edit(control, manifest)
            control.loop.settle()
    return control


@contextmanager
def at_work(control: ControlPlane, doing: str = "", *, shown: bool = True) -> Iterator[None]:
    """Shows how far a control plane is. Raises ClickException where it refuses something or never comes to rest."""
    try:
        with _without_collector(), _Progress(doing, shown=shown) as progress:
            control.loop.progress = progress
            yield
    except (Refused, DidNotConverge, Unreachable) as problem:
        raise click.ClickException(str(problem)) from problem


def _edit(control: ControlPlane, manifest: Manifest) -> None:
    """What a user does with an object: one that says when it was deleted is deleted."""
    if dig(manifest, "metadata", "deletionTimestamp"):
        control.store.delete(control.store.located(manifest))
    else:
        control.loop.replace(manifest)


def checked(paths: Sequence[str]) -> list[Loaded]:
    """The objects in files, once nothing is wrong with them that an API server would refuse."""
    from function import validation
    from function.cli import dump_check

    loaded, broken = examine(paths)
    checked = validation.validate([one.manifest for one in loaded])
    wrong = {finding.index for finding in checked if finding.is_error}
    broken += dump_check.faults([one for index, one in enumerate(loaded) if index not in wrong])
    findings = located(checked, loaded, broken)
    errors = [f for f in findings if f.severity == "error" and f.code not in _NO_OBSTACLE]
    for finding in errors:
        click.echo(str(finding), err=True)
    if errors:
        raise click.ClickException(f"{plural(len(errors), 'error')}; nothing was planned")
    return loaded


@contextmanager
def counted(doing: str, total: int) -> Iterator[Callable[[str, T], T]]:
    """Shows how many of many are done, as each is passed through with its name."""
    with _Progress(doing) as progress:
        done = itertools.count(1)

        def count(name: str, result: T) -> T:
            progress.say(f"{name}, {next(done)} of {total}")
            return result

        yield count


@contextmanager
def _without_collector() -> Iterator[None]:
    """What a plan makes stays until its end, and it makes no cycles: to look for them takes a sixth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Progress:
    """How far a long plan is: on standard error, and only where a person looks at it."""

    def __init__(self, doing: str, *, shown: bool = True) -> None:
        self._doing = f"{doing}: " if doing else ""
        self._shown = shown and sys.stderr.isatty()
        self._said = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._said:
            click.echo("\r\x1b[K", err=True, nl=False)

    def __call__(self, count: int, left: int) -> None:
        if left % 50 == 0:
            self.say(f"round {count}: {left} to reconcile")

    def say(self, what: str) -> None:
        if self._shown:
            self._said = True
            click.echo(f"\r\x1b[K{self._doing}{visible(what)}", err=True, nl=False)
