"""`modelplane top`: a fleet at a glance, from the statuses that a control cluster wrote."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from function.cli import excludes, live, report, top_report
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.files import read
from function.core import closest, identity, visible
from function.planning import overview

if TYPE_CHECKING:
    from function.core import Manifest
    from function.planning.overview import Overview

_EXAMPLE = epilog(
    [
        "modelplane top",
        "modelplane top --context prod -n ml-team",
        "modelplane top -o wide",
        "modelplane top dump.yaml -o json",
    ],
    {
        0: "shown, whatever the state of the fleet is",
        1: "an error: the fleet cannot be read, or no object has a status",
        2: INVALID_OPTION,
    },
)
_DATA = ("json", "yaml")
_ORDERS = ("name", "free", "ready")


@click.command(epilog=_EXAMPLE)
@click.argument("dirs", nargs=-1, metavar="[DIR]...")
@click.option("--namespace", "-n", metavar="NAMESPACE", help="Only objects of this namespace, and the clusters.")
@click.option(
    "--sort",
    "order",
    type=click.Choice(_ORDERS),
    default="name",
    show_default=True,
    help="Order of clusters: by name, by free nodes, or those first that are not ready.",
)
@click.option(
    "--output", "-o", "form", type=click.Choice(("table", "wide", *_DATA)), default="table", show_default=True
)
@excludes.option
@live.connection
def top(
    dirs: tuple[str, ...],
    namespace: str | None,
    order: str,
    form: str,
    *,
    exclude: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
) -> None:
    """Show a fleet at a glance: who waits and why, what is degraded, and the capacity of clusters.

    The fleet is the one of the control cluster that your kubeconfig names, which is only read. With DIR, it is a dump
    in files. Statuses are shown as they are: nothing is reconciled or simulated. To see what would change, use plan.

    A deployment waits if fewer replicas serve than it wants. More than 20 clusters are counted by region; -o wide lists
    each.
    """
    objects = _in_files(dirs, exclude) if dirs else _live(live.Source(kubeconfig, context, namespace))
    if dirs and (kubeconfig or context):
        raise click.UsageError("--kubeconfig and --context cannot be combined with DIR")
    if namespace:
        _note_if_empty(namespace, {identity(one).namespace for one in objects})
    shown = overview.read(
        one for one in objects if identity(one).namespace in ("", namespace or identity(one).namespace)
    )
    if not shown.is_reconciled:
        raise click.ClickException(_no_status(dirs))
    _show(overview.ordered(shown, order), form)


def _live(source: live.Source) -> Sequence[Manifest]:
    found, access = live.read(source, source.namespace or "", composed=False)
    if found.forbidden and not found.objects:
        raise click.ClickException("\n".join(live.refusal(found, access, "no kind of it may be read")))
    live.keep(found, access, "objects of these kinds are not shown")
    return [one.manifest for one in live.located(found.objects)]


def _in_files(dirs: Sequence[str], exclude: Sequence[str]) -> Sequence[Manifest]:
    given = read(dirs, exclude)
    for broken in given.broken:
        raise click.ClickException(str(broken))
    if missing := given.missing(dirs):
        raise click.ClickException(missing[0].problem)
    return [one.manifest for one in given.loaded]


def _note_if_empty(namespace: str, known: set[str]) -> None:
    """Tell that nothing is in a namespace, with the nearest one that was read."""
    if namespace not in known:
        meant = closest(namespace, known - {""})
        hint = f"; did you mean {meant}?" if meant else ""
        click.echo(visible(f"no object of Modelplane is in namespace {namespace}{hint}"), err=True)


def _no_status(dirs: Sequence[str]) -> str:
    if not dirs:
        return "no object has a status; is Crossplane running, and the function installed?"
    return f"no object has a status, as a dump of a control cluster has; modelplane plan {' '.join(dirs)} computes it"


def _show(shown: Overview, form: str) -> None:
    if form in _DATA:
        report.dump(top_report.data(shown), form)
    else:
        report.show(top_report.tables(shown, wide=form == "wide", now=_now()))


def _now() -> datetime:
    return datetime.now(UTC)
