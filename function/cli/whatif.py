"""`modelplane what-if`: the effect of draining or losing a cluster, or of resizing a pool or a deployment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from function.cli import excludes, fail_on, html, live, n_minus_1, progress, report, whatif_markdown, whatif_report
from function.cli.epilog import epilog
from function.cli.fail_on import Cause
from function.cli.fleet import at_work, checked, settled
from function.cli.target import chosen
from function.core import NamespacedName
from function.planning import edits, occupancy
from function.planning import what_if as playing
from function.planning.edits import DrainCluster, Edit, LoseCluster, ResizePool, ScaleDeployment
from function.planning.exit_codes import FAILED_ON, NOTHING_CHANGES, SOMETHING_IS_LOST

if TYPE_CHECKING:
    from function.planning.control_plane import ControlPlane
    from function.planning.impact import Impact
    from function.planning.what_if import NMinusOne

_EXAMPLE = epilog(
    [
        "modelplane what-if examples/spare --drain iowa",
        "modelplane what-if examples/spare --pool taiwan/l4=1 --lose iowa",
        "modelplane what-if examples/spare --scale ml-team/qwen3-8b=4 -o json",
        "modelplane what-if examples/spare --lose any -o markdown",
        "modelplane what-if examples/spare --lose any --fail-on short",
        "modelplane what-if --live --drain iowa",
    ],
    {
        0: "nothing changes",
        3: "something changes",
        2: "something that serves would be lost, or cannot leave a drained cluster, or what --fail-on names",
        1: "an error: an invalid file or option",
    },
    invalid_option=1,
)
_FORMATS = ("table", "json", "yaml", "markdown")
_ANY = "any"
_SPELLED = re.compile(r"([^/=]+)/([^/=]+)=([0-9]{1,9})")


class _Ordered(click.Command):
    """A command that remembers the order of its edits across different options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        values, _, order = self.make_parser(ctx).parse_args(list(args))
        given = {name: iter(values[name]) for name in _READERS if values.get(name)}
        ctx.meta[_READ] = [(p.name, next(given[p.name])) for p in order if p.name in given]
        return super().parse_args(ctx, args)


_READ = "function.cli.whatif.edits"


@click.command("what-if", cls=_Ordered, epilog=_EXAMPLE)
@click.argument("dirs", nargs=-1, metavar="[DIR]...")
@live.options
@click.option(
    "--drain",
    multiple=True,
    metavar="CLUSTER",
    help="Move replicas off the cluster where there is room. The cluster stays.",
)
@click.option(
    "--lose",
    multiple=True,
    metavar="CLUSTER|any",
    help="Remove the cluster permanently. any: each cluster in turn (N-1 report).",
)
@click.option("--pool", multiple=True, metavar="CLUSTER/POOL=N", help="Set the number of nodes of a pool.")
@click.option("--scale", multiple=True, metavar="NAMESPACE/NAME=N", help="Set the replicas of a ModelDeployment.")
@fail_on.option(fail_on.SHORT, fail_on.LOST, fail_on.CHANGE)
@click.option("--output", "-o", "form", type=click.Choice(_FORMATS), default="table", show_default=True)
@click.option("--all", "lists_all", is_flag=True, help="Add the whole fleet, before and after, to -o json and -o yaml.")
@html.option
@excludes.option
@click.option("--target", metavar="HOST:PORT", help="Call the function that is served there, over gRPC without TLS.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Number of processes for --lose any.  [default: one for each CPU, at least two]",
)
@click.pass_context
def what_if(
    ctx: click.Context,
    /,
    dirs: tuple[str, ...],
    form: str,
    *,
    lists_all: bool,
    page: str | None,
    exclude: tuple[str, ...],
    failing: tuple[str, ...],
    target: str | None,
    jobs: int | None,
    is_live: bool,
    kubeconfig: Path | None,
    context: str | None,
    **_: object,
) -> None:
    """Reconcile a fleet until nothing changes, apply events, and show their effect.

    DIR is one or more folders or files, or - for standard input. You can repeat and combine the options. The events
    happen in the given order, each after the fleet has settled. Nothing is written anywhere.

    With --live, the fleet is the one of the control cluster that your kubeconfig names, which is only read.
    """
    if jobs and jobs > 1 and (target or not hasattr(os, "fork")):
        raise click.UsageError("--jobs above 1 cannot be combined with --target, and needs a system with fork")
    html.check(page, form)
    source = live.source(dirs, kubeconfig, context, live=is_live)
    wanted = _wanted(ctx.meta[_READ])
    loaded = live.fleet(source).loaded if source else checked(dirs, exclude)
    control = settled(loaded, function=chosen(target), at=lambda loaded: _check(loaded, wanted))
    is_whole = lists_all or page is not None
    before = occupancy.data(control.store) if is_whole else {}
    found = _found(control, wanted, jobs or (1 if target else playing.most_jobs()))
    fleet = {"before": before, "after": occupancy.data(control.store)} if is_whole else {}
    failures = fail_on.failures(_causes(found), failing)
    code = FAILED_ON if failures else found.exit_code
    if page is not None:
        html.write(page, _page(_data(found, code, fleet)))
    with html.report_of(page):
        _show(found, form, _data(found, code, fleet if lists_all else {}))
    for line in failures:
        click.echo(line, err=True)
    sys.exit(code)


@dataclass(frozen=True, slots=True)
class _Wanted:
    scenario: tuple[Edit, ...]
    each_lost: bool


def _wanted(given: Iterable[tuple[str, str]]) -> _Wanted:
    """The edits of the options, in order. Raises UsageError."""
    read = [_READERS[option](option, value) for option, value in given]
    scenario = tuple(edit for edit in read if edit is not None)
    each_lost = len(scenario) < len(read)
    if not read:
        raise click.UsageError("missing event: use --drain, --lose, --pool or --scale")
    if each_lost and (len(read) - len(scenario) > 1 or any(isinstance(edit, LoseCluster) for edit in scenario)):
        raise click.UsageError("--lose any cannot be combined with another --lose")
    return _Wanted(scenario, each_lost)


def _check(loaded: ControlPlane, wanted: _Wanted) -> None:
    """Check the edits before the fleet is reconciled. Raises ClickException."""
    try:
        edits.check(loaded.store, wanted.scenario)
    except edits.UnknownName as unknown:
        raise click.ClickException(str(unknown)) from unknown
    if wanted.each_lost and not edits.clusters(loaded.store):
        raise click.ClickException("there is no InferenceCluster in the fleet")


def _found(control: ControlPlane, wanted: _Wanted, jobs: int) -> Impact | NMinusOne:
    first = playing.play(control, wanted.scenario, around=_shown) if wanted.scenario else None
    if wanted.each_lost:
        with progress.parts("lose", len(edits.clusters(control.store))) as counted:
            return playing.lose_each(control, first, jobs=jobs, around=_hidden, counted=counted)
    assert first is not None, "there is something to do"
    return first


def _shown(control: ControlPlane, edit: Edit) -> AbstractContextManager[None]:
    return at_work(control, str(edit))


def _hidden(control: ControlPlane, edit: Edit) -> AbstractContextManager[None]:
    return at_work(control, str(edit), shown=False)


def _causes(found: Impact | NMinusOne) -> Mapping[str, Cause]:
    """By name, what makes a what-if fail if `--fail-on` names it."""
    code = found.exit_code
    return {
        fail_on.SHORT: lambda: fail_on.listed("fewer serving replicas than wanted", [*_short(found)]),
        fail_on.LOST: lambda: fail_on.MEANINGS[fail_on.LOST] if code == SOMETHING_IS_LOST else "",
        fail_on.CHANGE: lambda: fail_on.MEANINGS[fail_on.CHANGE] if code != NOTHING_CHANGES else "",
    }


def _short(found: Impact | NMinusOne) -> Iterator[str]:
    """The deployments that the events leave short."""
    first = found.first if isinstance(found, playing.NMinusOne) else found
    for short in first.shorts if first else ():
        yield f"{short.deployment} ({short.after} of {short.wanted})"
    for cluster, impact in found.each if isinstance(found, playing.NMinusOne) else ():
        yield from (f"{s.deployment} ({s.after} of {s.wanted}) without {cluster}" for s in impact.shorts)


def _data(found: Impact | NMinusOne, code: int, fleet: Mapping[str, Any]) -> dict[str, Any]:
    """A what-if as data, with the whole fleet unless that is empty."""
    own = n_minus_1.data(found) if isinstance(found, playing.NMinusOne) else whatif_report.data(found)
    return {**own, **({"fleet": fleet} if fleet else {}), "exitCode": code}


def _page(data: Mapping[str, Any]) -> str:
    from function import picture

    return picture.render((picture.of_losses if "failing" in data else picture.of_what_if)(data))


def _show(found: Impact | NMinusOne, form: str, data: Mapping[str, Any]) -> None:
    if form == "table":
        report.show(n_minus_1.parts(found) if isinstance(found, playing.NMinusOne) else whatif_report.parts(found))
    elif form == "markdown":
        click.echo(_markdown(found), nl=False)
    else:
        report.dump(data, form)


def _markdown(found: Impact | NMinusOne) -> str:
    if isinstance(found, playing.NMinusOne):
        return whatif_markdown.text_of_losses(found)
    return whatif_markdown.text(found)


# Options


def _drain(_: str, cluster: str) -> Edit:
    return DrainCluster(cluster)


def _lose(_: str, cluster: str) -> Edit | None:
    """None stands for `any`."""
    return None if cluster == _ANY else LoseCluster(cluster)


def _pool(option: str, text: str) -> Edit:
    cluster, pool, nodes = _parts(option, text, "CLUSTER/POOL=N, such as europe/a100=4")
    return ResizePool(cluster, pool, int(nodes))


def _scale(option: str, text: str) -> Edit:
    namespace, name, replicas = _parts(option, text, "NAMESPACE/NAME=N, such as ml-team/qwen=3")
    return ScaleDeployment(NamespacedName(namespace, name), int(replicas))


def _parts(option: str, text: str, wanted: str) -> tuple[str, ...]:
    found = _SPELLED.fullmatch(text)
    if found is None:
        raise click.UsageError(f"--{option} {text}: invalid value; use {wanted}")
    return found.groups()


_READERS: Mapping[str, Callable[[str, str], Edit | None]] = {
    "drain": _drain,
    "lose": _lose,
    "pool": _pool,
    "scale": _scale,
}
