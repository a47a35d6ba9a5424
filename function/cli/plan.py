"""`modelplane plan`: a fleet to a fixed point, on the embedded control plane."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Self

import click

from function.cli import plan_report
from function.cli.files import Loaded, examine
from function.cli.findings import Finding, found, unreadable
from function.cli.target import function
from function.offline.store import Refused
from function.offline.world import Restless

_EXAMPLE = """
\b
Examples:
  modelplane plan examples/tour
  modelplane plan fleet/ --change edited.yaml
  kubectl get inferenceclasses,inferenceclusters,modeldeployments,modelreplicas -A -o yaml | modelplane plan -

\b
Exit codes:
  0  nothing changes
  3  something changes
  2  something that serves would be lost
  1  an error: a bad file, a bad option
"""
_FORMATS = ("table", "json", "yaml")
_NO_OBSTACLE = ("selector",)
"""Errors of `validate` with which a plan goes on: it shows what the function makes of them."""


@click.command(epilog=_EXAMPLE)
@click.argument("dirs", nargs=-1, required=True, metavar="DIR...")
@click.option(
    "--change", "changes", multiple=True, metavar="FILE", help="Apply this after the fleet has settled; repeatable."
)
@click.option("--output", "-o", "form", type=click.Choice(_FORMATS), default="table", show_default=True)
@click.option("--target", metavar="HOST:PORT", help="Ask a function that is served there, in plain text, over gRPC.")
@click.option("--seed", type=int, hidden=True, help="Shuffle the order of reconciles.")
def plan(dirs: tuple[str, ...], changes: tuple[str, ...], form: str, *, target: str | None, seed: int | None) -> None:
    """Run a fleet to a fixed point and show what comes of it, without any cluster.

    DIR may be folders, files, or - for standard input. Replicas that are among the files are where the fleet starts.
    With --change, the fleet settles first, and what is shown is what the change changes. Secrets that the fleet names
    are assumed to exist, and clusters to do what they are told.
    """
    fleet, edits = _checked(dirs), _checked(changes) if changes else []
    try:
        before, after = _settled(fleet, edits, function(target), seed)
    except (Refused, Restless) as problem:
        raise click.ClickException(str(problem)) from problem
    report = plan_report.compare(before, after)
    _show(report, form, dirs, changes)
    sys.exit(report.exit_code)


def _settled(fleet: Sequence[Loaded], edits: Sequence[Loaded], compose: Any, seed: int | None) -> tuple[Any, Any]:
    from function.offline import assumed, outcome
    from function.offline.control_plane import ControlPlane

    control = ControlPlane(compose=compose, seed=seed)
    world = control.world
    manifests = [loaded.manifest for loaded in fleet]
    edited = [loaded.manifest for loaded in edits]
    world.load([*manifests, *assumed.objects([*manifests, *edited])])
    before = outcome.read(control.store)
    with _Progress() as progress:
        world.progress = progress
        world.settle()
        if edits:
            before = outcome.read(control.store)
            for manifest in edited:
                world.replace(manifest)
            world.settle()
    return before, outcome.read(control.store)


def _show(report: plan_report.Report, form: str, dirs: Sequence[str], changes: Sequence[str]) -> None:
    if form == "table":
        plan_report.show(report, _next(dirs, changes))
    elif form == "json":
        import json

        click.echo(json.dumps(plan_report.data(report), indent=2, ensure_ascii=False))
    else:
        import yaml

        click.echo(yaml.safe_dump(plan_report.data(report), sort_keys=False, width=120, allow_unicode=True), nl=False)


def _next(dirs: Sequence[str], changes: Sequence[str]) -> Iterator[str]:
    """Commands to try after this one."""
    where = " ".join(dirs)
    if changes or where == "-":
        return
    yield f"modelplane plan {where} -o yaml    all of it, with names and rejections"
    if where.rstrip("/") == "examples/tour":
        yield "modelplane plan examples/bad-edit    a typo in an edit: what serves stays"
    yield f"modelplane validate {where}    check the files"


def _checked(paths: Sequence[str]) -> list[Loaded]:
    """The objects in files, once nothing is wrong with them that an API server would refuse."""
    from function import validation

    loaded, broken = examine(paths)
    flaws = validation.validate([one.manifest for one in loaded])
    findings = sorted([*map(unreadable, broken), *(found(flaw, loaded[flaw.index]) for flaw in flaws)])
    errors = [f for f in findings if f.severity == "error" and f.code not in _NO_OBSTACLE]
    for finding in errors:
        click.echo(str(finding), err=True)
    if errors:
        raise click.ClickException(_summary(errors))
    return loaded


def _summary(errors: Sequence[Finding]) -> str:
    return f"{len(errors)} {'error' if len(errors) == 1 else 'errors'}; nothing was planned"


class _Progress:
    """How far a long plan is: on standard error, and only where a person looks at it."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._last:
            click.echo("\r\x1b[K", err=True, nl=False)

    def __call__(self, count: int, left: int) -> None:
        if self._shown and left % 50 == 0:
            self._last = count
            click.echo(f"\r\x1b[Kround {count}: {left} to reconcile", err=True, nl=False)
