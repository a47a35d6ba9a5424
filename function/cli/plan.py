"""`modelplane plan`: reconciles a fleet on the embedded control plane, and shows the result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from function.cli import excludes, fail_on, html, live, plan_markdown, plan_report, refused, states, terminal
from function.cli.content import STDIN
from function.cli.epilog import epilog
from function.cli.fail_on import Cause
from function.cli.files import Loaded
from function.cli.findings import plain
from function.cli.fleet import admitted, checked, settled, warnings
from function.cli.report import dump
from function.cli.target import chosen
from function.core import plural
from function.planning.comparison import PlanComparison, compare
from function.planning.exit_codes import ERROR, FAILED_ON, NOTHING_CHANGES, SOMETHING_IS_LOST
from function.planning.unchanged import Listing, everything, touched

if TYPE_CHECKING:
    from function.planning.control_plane import ControlPlane
    from function.planning.refusals import Refusal
    from function.sandbox.extensions import CompositionFunction
    from function.sandbox.store import Store

_EXAMPLE = epilog(
    [
        "modelplane plan examples/tour",
        "modelplane plan fleet/ --change edited.yaml",
        "modelplane plan fleet/ --base origin/main -o markdown > comment.md",
        "modelplane plan live.yaml --to fleet/ --fail-on short,warning",
        "modelplane plan --live --change edited.yaml",
        "modelplane plan --live --context prod --to fleet/",
    ],
    {
        0: "nothing changes: replicas, manifests, endpoints, services, clouds, and what falls short",
        3: "something changes",
        2: "something that serves would be lost, or what --fail-on names",
        1: "an error: an invalid file or option, or a condition refuses an edit",
    },
    invalid_option=1,
)
_DATA = ("json", "yaml")
_FORMATS = ("table", *_DATA, "markdown")


@click.command(epilog=_EXAMPLE)
@click.argument("dirs", nargs=-1, metavar="[DIR]...")
@live.options
@click.option(
    "--namespace",
    "-n",
    metavar="NAMESPACE",
    help="With --live: namespace of objects in files that name none. By default, that of the context.",
)
@click.option(
    "--change",
    "changes",
    multiple=True,
    metavar="FILE",
    help="Objects to apply after the fleet has settled; repeatable.",
)
@click.option("--to", "heads", multiple=True, metavar="HEAD", help="The whole fleet after the change; repeatable.")
@click.option("--base", "revision", metavar="REV", help="Compare DIR with what it was in this git revision.")
@fail_on.option(fail_on.SHORT, fail_on.LOST, fail_on.CHANGE, fail_on.WARNING)
@click.option("--output", "-o", "form", type=click.Choice(_FORMATS), default="table", show_default=True)
@click.option("--all", "lists_all", is_flag=True, help="List what does not change, too, and diffs to their end.")
@html.option
@excludes.option
@click.option("--target", metavar="HOST:PORT", help="Call the function that is served there, over gRPC without TLS.")
@click.option("--seed", type=int, hidden=True, help="Shuffle the order of reconciles.")
def plan(
    dirs: tuple[str, ...],
    changes: tuple[str, ...],
    heads: tuple[str, ...],
    revision: str | None,
    form: str,
    *,
    lists_all: bool,
    page: str | None,
    exclude: tuple[str, ...],
    failing: tuple[str, ...],
    target: str | None,
    seed: int | None,
    is_live: bool,
    kubeconfig: Path | None,
    context: str | None,
    namespace: str | None,
) -> None:
    """Reconcile a fleet until nothing changes, and show the result. No cluster is needed.

    DIR is one or more folders or files, or - for standard input. ModelReplicas in the files are the initial state of
    the fleet. The plan assumes that referenced Secrets exist and that clusters apply what they are given.

    With --change, --to or --base, the fleet settles first, and the output shows only the effect of the change.
    --change FILE applies objects; one that has a deletionTimestamp is deleted. --to HEAD replaces the fleet in DIR,
    which may be a dump of a live fleet, by the one in HEAD: what HEAD does not contain is deleted. --base REV compares
    DIR in the git revision REV with DIR as it is.

    With --live, the fleet is the one of the control cluster that your kubeconfig names, which is only read. Without
    --change and --to, the plan shows what the function would do next: normally nothing. With --change FILE, it shows
    what `kubectl apply -f FILE` would do. --to HEAD compares the live fleet with HEAD, which is all of it.
    """
    html.check(page, form)
    source = live.source(dirs, kubeconfig, context, namespace, live=is_live)
    change = _Change(changes, heads, revision)
    change.check(source, dirs)
    given = _states(source, dirs, change, exclude=exclude)
    planned = _planned(given, chosen(target), seed, lists_fleet=lists_all or page is not None)
    errors = refused.findings(planned.refusals, given.state)
    failures = fail_on.failures(_causes(planned.comparison, given.state), failing)
    code = ERROR if errors else FAILED_ON if failures else planned.comparison.exit_code
    told = {"exitCode": code, "errors": [*map(plain, errors)]}
    if page is not None:
        from function import picture

        html.write(page, picture.render(picture.of_plan(_data(everything(planned.comparison), planned.fleet, told))))
    listing = (everything if lists_all else touched)(planned.comparison)
    with html.report_of(page):
        if form in _DATA:
            dump(_data(listing, planned.fleet if lists_all else {}, told), form)
        else:
            _show(listing, form, _next(planned.comparison, source, dirs) if given.edits is None else ())
    for line in (*map(str, errors), *failures):
        click.echo(line, err=True)
    sys.exit(code)


@dataclass(frozen=True, slots=True)
class _Planned:
    comparison: PlanComparison
    refusals: tuple[Refusal, ...]
    """What conditions refuse, due to the edits or on a first plan."""
    fleet: Mapping[str, Any] = field(default_factory=dict)
    """The whole fleet before and after as data, if somebody asks for it."""


@dataclass(frozen=True, slots=True)
class _States:
    """A fleet, and how it changes."""

    fleet: list[Loaded]
    edits: list[Loaded] | None
    """None if the fleet is planned as it is."""
    state: list[Loaded]
    """The fleet after the edits."""
    is_whole: bool = True
    """Whether the fleet has what it composed, as far as it was composed."""


def _states(source: live.Source | None, dirs: Sequence[str], change: _Change, *, exclude: Sequence[str]) -> _States:
    if change.revision is not None:
        from function.cli import revisions

        base = admitted(*revisions.read(change.revision, dirs, exclude))
        head = checked(dirs, exclude, as_edits=True)
        return _States(base, states.difference(base, head), states.edited((), head))
    there = live.fleet(source) if source else live.Live(checked(dirs, exclude), is_whole=True, namespace="")
    if change.heads:
        head = _edits(change.heads, there, exclude)
        return _States(there.loaded, states.difference(there.loaded, head), states.edited((), head), there.is_whole)
    if not change.files:
        return _States(there.loaded, None, states.edited(there.loaded, ()), there.is_whole)
    given = _edits(change.files, there)
    edits = states.changed(there.loaded, states.applied(there.loaded, given) if source else given)
    return _States(there.loaded, edits, states.edited(there.loaded, edits), there.is_whole)


def _edits(paths: Sequence[str], there: live.Live, exclude: Sequence[str] = ()) -> list[Loaded]:
    """The objects in files that change a fleet."""
    found = checked(paths, exclude, as_edits=True)
    return live.with_namespaces(found, there.namespace) if there.namespace else found


@dataclass(frozen=True, slots=True)
class _Change:
    """What options say the fleet changes to."""

    files: Sequence[str] = ()
    heads: Sequence[str] = ()
    revision: str | None = None

    def check(self, source: live.Source | None, dirs: Sequence[str]) -> None:
        """Raises UsageError."""
        options = (("--change", self.files), ("--to", self.heads), ("--base", self.revision))
        given = [name for name, value in options if value]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} cannot be combined: each says what the fleet changes to")
        if source and self.revision is not None:
            raise click.UsageError("--base compares files, and cannot be combined with --live")
        if (*dirs, *self.files, *self.heads).count(STDIN) > 1:
            raise click.UsageError("- can be given once: standard input can be read only once")


def _planned(given: _States, function: CompositionFunction, seed: int | None, *, lists_fleet: bool) -> _Planned:
    """The outcomes before (as loaded, or before the edits) and after, and what is refused by then."""
    from function.planning import differences, occupancy, parts, refusals

    before: list[tuple[Store, tuple[Refusal, ...]]] = []

    def look(control: ControlPlane) -> None:
        before.append((control.store.copied(), refusals.read(control.store)))

    control = settled(given.fleet, given.edits, function=function, seed=seed, at=look)
    was, refused_before = before[-1]
    edited = {control.store.located(one.manifest) for one in given.edits or ()}
    due = refusals.due(refused_before, refusals.read(control.store), edited)
    is_edit = given.edits is not None
    changed = differences.read(was, control.store, is_settled=is_edit)
    first, then = parts.read(was), parts.read(control.store)
    if not given.is_whole and not is_edit:  # what clouds have made is not known, so it is no change
        first = replace(first, infrastructure=then.infrastructure)
    whole = {"before": occupancy.data(was), "after": occupancy.data(control.store)} if lists_fleet else {}
    return _Planned(compare(first, then, changed, is_edit=is_edit), due, whole)


def _data(listing: Listing, fleet: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """A plan as data, with the whole fleet unless that is empty."""
    return {**plan_report.data(listing), **({"fleet": fleet} if fleet else {}), **told}


def _causes(comparison: PlanComparison, state: Sequence[Loaded]) -> Mapping[str, Cause]:
    """By name, what makes a plan fail if `--fail-on` names it."""
    code = comparison.exit_code
    return {
        fail_on.SHORT: lambda: fail_on.listed("fewer serving replicas than wanted", [*_short(comparison)]),
        fail_on.LOST: lambda: fail_on.MEANINGS[fail_on.LOST] if code == SOMETHING_IS_LOST else "",
        fail_on.CHANGE: lambda: fail_on.MEANINGS[fail_on.CHANGE] if code != NOTHING_CHANGES else "",
        fail_on.WARNING: lambda: _warned(comparison, state),
    }


def _short(comparison: PlanComparison) -> Iterator[str]:
    for deployment in comparison.outcome.deployments:
        if deployment.serving < deployment.wanted:
            yield f"{deployment.identity} ({deployment.serving} of {deployment.wanted})"


def _warned(comparison: PlanComparison, state: Sequence[Loaded]) -> str:
    """The first warning of `validate` about the files, or the first problem that an object reports, and the number."""
    found = [str(finding) for finding in warnings(state)]
    outcome = comparison.outcome
    found += [f"ModelDeployment {d.identity}: {d.why}" for d in outcome.deployments if d.why]
    found += [f"{kind} {name}: {why}" for kind, name, why in outcome.problems]
    return f"{plural(len(found), 'warning')}, the first: {found[0]}" if found else ""


def _show(report: Listing, form: str, then: Iterable[tuple[str, str]]) -> None:
    if form == "markdown":
        click.echo(live.remark() + plan_markdown.text(report), nl=False)
    else:
        most = None if report.listed is report.whole else plan_report.MOST_DIFFS
        plan_report.show(report, then, most_diffs=most)


def _next(report: PlanComparison, source: live.Source | None, dirs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Suggested next commands, and the purpose of each."""
    where = source.words if source else shlex.join(dirs)
    if STDIN in dirs or terminal.is_quiet():
        return
    short = next((d for d in report.outcome.deployments if d.missing), None)
    if short:
        yield (
            f"modelplane explain {where} ModelDeployment/{short.identity}",
            "why it is not placed, and what would help",
        )
    yield f"modelplane plan {where} -o yaml", "the complete result, with names and rejections"
    if source:
        yield f"modelplane plan {where} --change FILE", "what applying a file would do"
    else:
        yield f"modelplane validate {where}", "check the files"
