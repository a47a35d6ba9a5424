"""Files as a fleet: validated, loaded into the embedded control plane, and reconciled until nothing changes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from function.cli import faults, inputs
from function.cli.files import Loaded, read
from function.cli.findings import FileFinding, located, plain
from function.cli.meant import is_ours, takes_part
from function.cli.progress import Progress
from function.cli.values import BrokenFile
from function.core import NamespacedName, plural
from function.planning import desired
from function.planning.edits import unknown
from function.sandbox.errors import DidNotConverge, Refused, Unreachable

if TYPE_CHECKING:
    from function.planning.control_plane import ControlPlane
    from function.sandbox.extensions import CompositionFunction
    from function.sandbox.store import Store
    from function.validation import Finding

_NO_OBSTACLE = ("selector", "refused")
"""Errors of `validate` that do not stop a plan: it shows how the function handles them."""


def settled(
    fleet: Sequence[Loaded],
    edits: Sequence[Loaded] | None = None,
    *,
    function: CompositionFunction | None = None,
    seed: int | None = None,
    at: Callable[[ControlPlane], None] = lambda _: None,
) -> ControlPlane:
    """A control plane that has converged.

    Args:
        fleet: The objects to load.
        edits: Objects to apply once the fleet has converged, or to delete if they have a deletionTimestamp. None if the
            fleet is loaded for the first time.
        function: The composition function; None for the one in this program.
        seed: Shuffles the order of reconciles.
        at: Called with the control plane after loading, and again before the edits unless they are None.

    Raises:
        ClickException: An object is refused, the fleet does not converge, or the function is unreachable.
    """
    from function.planning import stubs
    from function.planning.control_plane import ControlPlane, in_process

    control = ControlPlane(function=function or in_process, seed=seed)
    manifests, edited = [one.manifest for one in fleet], [one.manifest for one in edits or ()]
    with at_work(control):
        control.loop.load([*manifests, *stubs.objects([*manifests, *edited])])
        at(control)
        control.loop.settle()
        if edits is not None:
            at(control)
            for one in edits:
                _edit(control, one)
            control.loop.settle()
    return control


@contextmanager
def at_work(control: ControlPlane, doing: str = "", *, shown: bool = True) -> Iterator[None]:
    """Show the progress of a control plane, and translate its exceptions to ClickException."""
    try:
        with _without_collector(), Progress(doing, shown=shown) as progress:
            control.loop.progress = progress
            yield
    except (Refused, DidNotConverge, Unreachable) as problem:
        raise click.ClickException(str(problem)) from problem


def _edit(control: ControlPlane, edit: Loaded) -> None:
    """Apply an object, or delete it if it has a deletionTimestamp. Raises Refused, with its place in the file."""
    if desired.is_deletion(edit.manifest):
        _delete(control.store, edit)
        return
    try:
        control.loop.replace(edit.manifest)
    except Refused as problem:
        raise Refused(f"{edit.source.at()}: {problem}") from problem


def _delete(store: Store, edit: Loaded) -> None:
    """Delete an object. Raises Refused if it does not exist, with the closest name."""
    ref = store.located(edit.manifest)
    if store.get(ref) is None:
        known = [str(NamespacedName(*other[2:])) for other in store.refs(ref.api_version, ref.kind)]
        problem = unknown(ref.kind, str(NamespacedName(*ref[2:])), known)
        raise Refused(f"{edit.source.at(('metadata', 'name'))}: nothing to delete: {problem}")
    store.delete(ref)


def checked(paths: Sequence[str], exclude: Sequence[str] = (), *, as_edits: bool = False) -> list[Loaded]:
    """The objects in files. What was skipped is said on standard error.

    Args:
        paths: Files, folders, and - for standard input.
        exclude: Patterns of files and folders to pass over.
        as_edits: Whether an object with a deletionTimestamp is only to be deleted: then it needs no spec.

    Raises:
        ClickException: An API server would refuse an object, or there is none of ours. The errors are printed.
    """
    given = read(paths, exclude)
    loaded = _taking_part(given.loaded)
    _refuse(_errors(loaded, given.broken, as_edits=as_edits))
    if missing := given.missing(paths):
        raise click.ClickException("\n".join([missing[0].problem, *given.skipped.notes]))
    inputs.note(given.skipped)
    return loaded


def sound(loaded: Sequence[Loaded]) -> list[Loaded]:
    """Objects of a live fleet, which an API server has accepted.

    Raises:
        ClickException: This release would refuse an object, as one of another release can. The errors are printed.
    """
    _refuse(_errors(loaded, ()), "; the cluster has definitions of another release of Modelplane")
    return [*loaded]


def _refuse(errors: Sequence[tuple[int | None, FileFinding]], why: str = "") -> None:
    """Print errors, and raise ClickException if there are any."""
    findings = [finding for _, finding in errors]
    for finding in findings:
        click.echo(str(finding), err=True)
    if findings:
        text = f"{plural(len(findings), 'error')}; nothing was planned{why}"
        raise faults.InvalidInput(text, [plain(finding) for finding in findings])


def _taking_part(loaded: Sequence[Loaded]) -> list[Loaded]:
    """The objects that a plan reads: of ours, and of kinds that ours read or compose."""
    return [one for one in loaded if is_ours(one.manifest) or takes_part(one.manifest)]


def admitted(loaded: Sequence[Loaded], broken: Sequence[BrokenFile]) -> list[Loaded]:
    """The objects that an API server accepts. The errors of the others are printed as warnings: they exist nowhere."""
    loaded = _taking_part(loaded)
    errors = _errors(loaded, broken)
    for _, finding in errors:
        click.echo(f"{replace(finding, severity='warning')}; left out", err=True)
    wrong = {index for index, _ in errors}
    return [one for index, one in enumerate(loaded) if index not in wrong]


def warnings(loaded: Sequence[Loaded]) -> list[FileFinding]:
    """The warnings of `validate` about some objects."""
    from function import validation

    found = located(validation.validate([one.manifest for one in loaded]), loaded, ())
    return [finding for finding in found if finding.severity == "warning"]


def _errors(
    loaded: Sequence[Loaded], broken: Sequence[BrokenFile], *, as_edits: bool = False
) -> list[tuple[int | None, FileFinding]]:
    """The errors in files for which an API server would refuse them, in order of files and lines, with the indexes of
    the objects."""
    from function import validation
    from function.cli import dump_check

    found = [
        finding
        for finding in validation.validate([one.manifest for one in loaded])
        if finding.is_error
        and not (as_edits and _is_of_the_spec(finding) and desired.is_deletion(loaded[finding.index].manifest))
    ]
    wrong = {finding.index for finding in found}
    sound = [(index, one) for index, one in enumerate(loaded) if index not in wrong]
    errors: list[tuple[int | None, FileFinding]] = [(None, one) for one in located((), loaded, broken)]
    errors += [(f.index, one) for f in found if f.code not in _NO_OBSTACLE for one in located([f], loaded, ())]
    faulty = sound if any(dump_check.faults([one for _, one in sound])) else ()
    errors += [(index, fault) for index, one in faulty for fault in located((), [], [*dump_check.faults([one])])]
    errors = [(index, error) for index, error in errors if error.severity == "error"]
    return sorted(errors, key=lambda error: error[1])


def _is_of_the_spec(finding: Finding) -> bool:
    """Whether a finding is about neither the identity of an object nor its metadata."""
    return finding.path[:1] not in (("apiVersion",), ("kind",), ("metadata",))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable the garbage collector. A fleet is kept until the command ends, and a plan creates no cycles; each
    collection would read all of the fleet, together a quarter of the time that one of 250 clusters takes."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
