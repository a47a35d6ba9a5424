"""`modelplane plan`: reconciles a fleet on the embedded control plane, and shows the result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from function.cli import plan_markdown, plan_report
from function.cli.epilog import epilog
from function.cli.files import Loaded
from function.cli.fleet import checked, settled
from function.cli.report import dump
from function.cli.target import chosen
from function.planning.comparison import PlanComparison, compare
from function.planning.unchanged import Listing, everything, touched

if TYPE_CHECKING:
    from function.sandbox.extensions import CompositionFunction
    from function.sandbox.store import Store

_EXAMPLE = epilog(
    [
        "modelplane plan examples/tour",
        "modelplane plan fleet/ --change edited.yaml",
        "modelplane plan fleet/ --change edited.yaml -o markdown > comment.md",
        "kubectl get inferenceclasses,inferenceclusters,modeldeployments,modelreplicas -A -o yaml | modelplane plan -",
    ],
    {
        0: "nothing changes: replicas, manifests, endpoints, services, clouds, and what falls short",
        3: "something changes",
        2: "something that serves would be lost",
        1: "an error: an invalid file or option",
    },
)
_FORMATS = ("table", "json", "yaml", "markdown")


@click.command(epilog=_EXAMPLE)
@click.argument("dirs", nargs=-1, required=True, metavar="DIR...")
@click.option(
    "--change",
    "changes",
    multiple=True,
    metavar="FILE",
    help="Objects to apply after the fleet has settled; repeatable.",
)
@click.option("--output", "-o", "form", type=click.Choice(_FORMATS), default="table", show_default=True)
@click.option("--all", "lists_all", is_flag=True, help="List what does not change, too, and diffs to their end.")
@click.option("--target", metavar="HOST:PORT", help="Call the function that is served there, over gRPC without TLS.")
@click.option("--seed", type=int, hidden=True, help="Shuffle the order of reconciles.")
def plan(
    dirs: tuple[str, ...],
    changes: tuple[str, ...],
    form: str,
    *,
    lists_all: bool,
    target: str | None,
    seed: int | None,
) -> None:
    """Reconcile a fleet until nothing changes, and show the result. No cluster is needed.

    DIR is one or more folders or files, or - for standard input. ModelReplicas in the files are the initial state of
    the fleet. With --change, the fleet settles first, and the output shows only the effect of the change; an object in
    it that has a deletionTimestamp is deleted. The plan assumes that referenced Secrets exist and that clusters apply
    what they are given.
    """
    fleet, edits = checked(dirs), checked(changes) if changes else []
    report = _settled(fleet, edits, chosen(target), seed)
    _show((everything if lists_all else touched)(report), form, dirs, changes)
    sys.exit(report.exit_code)


def _settled(
    fleet: Sequence[Loaded], edits: Sequence[Loaded], function: CompositionFunction, seed: int | None
) -> PlanComparison:
    """The fleet as loaded, or before the edits, compared with the one that has settled."""
    from function.planning import differences, parts

    before: list[Store] = []
    control = settled(
        fleet, edits, function=function, seed=seed, at=lambda control: before.append(control.store.copied())
    )
    is_edit = bool(edits)
    changed = differences.read(before[-1], control.store, is_settled=is_edit)
    return compare(parts.read(before[-1]), parts.read(control.store), changed, is_edit=is_edit)


def _show(report: Listing, form: str, dirs: Sequence[str], changes: Sequence[str]) -> None:
    if form == "table":
        most = None if report.listed is report.whole else plan_report.MOST_DIFFS
        plan_report.show(report, _next(report.whole, dirs, changes), most_diffs=most)
    elif form == "markdown":
        click.echo(plan_markdown.text(report), nl=False)
    else:
        dump(plan_report.data(report), form)


def _next(report: PlanComparison, dirs: Sequence[str], changes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Suggested next commands, and the purpose of each."""
    where = shlex.join(dirs)
    if changes or "-" in dirs:
        return
    short = next((d for d in report.outcome.deployments if d.missing), None)
    if short:
        yield (
            f"modelplane explain {where} ModelDeployment/{short.identity}",
            "why it is not placed, and what would help",
        )
    yield f"modelplane plan {where} -o yaml", "the complete result, with names and rejections"
    yield f"modelplane validate {where}", "check the files"
