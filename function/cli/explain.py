"""`modelplane explain`: why an object is not as its spec asks, what is the cause, and which changes help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from function.cli import deployment_report, excludes, html, live, object_report, report, service_report
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.fleet import at_work, checked, settled
from function.core import dig, dig_text_fields

if TYPE_CHECKING:
    from function.cli.files import Loaded
    from function.core import Manifest
    from function.planning.control_plane import ControlPlane
    from function.planning.explanation.naming import Named
    from function.sandbox.store import Ref

_EXAMPLE = epilog(
    [
        "modelplane explain examples/tour mistral-7b",
        "modelplane explain fleet/ md/ml-team/qwen -o json",
        "modelplane explain examples/tiers ModelService/ml-team/qwen",
        "modelplane explain fleet/ InferenceCluster/iowa",
        "modelplane explain --live --context prod ml-team/qwen",
    ],
    {
        0: "nothing is missing",
        3: "a replica is missing, an endpoint does not answer, or the object is not ready; the output explains why",
        1: "an error: an invalid file, or the object was not found",
        2: INVALID_OPTION,
    },
)
_MISSING = 3
_Shown = tuple[Iterable[str], Mapping[str, Any], bool]
"""An explanation as text and as data, and whether nothing is missing."""


@click.command(epilog=_EXAMPLE)
@click.argument("dirs", nargs=-1, metavar="[DIR]...")
@click.argument("what", metavar="[KIND/][NAMESPACE/]NAME")
@click.option("--output", "-o", "form", type=click.Choice(("text", "json", "yaml")), default="text", show_default=True)
@click.option("--all", "lists_all", is_flag=True, help="Add the whole fleet to -o json and -o yaml.")
@html.option
@excludes.option
@live.options
def explain(
    dirs: tuple[str, ...],
    what: str,
    form: str,
    *,
    lists_all: bool,
    page: str | None,
    exclude: tuple[str, ...],
    is_live: bool,
    kubeconfig: Path | None,
    context: str | None,
) -> None:
    """Reconcile a fleet until nothing changes, and explain why an object is not as its spec asks.

    For a ModelDeployment, show the cause, the reason of each cluster, and the smallest changes that would place one
    more replica. Each change that would help was tried on a copy of the fleet; the others say why they were not.

    For a ModelService, show which priority answers, and the state of each endpoint. For any other object, show its
    conditions, what it waits for, and who uses it.

    With --live, the fleet is the one of the control cluster that your kubeconfig names, which is only read.

    The kind may be a plural or a short name. The kind and the namespace may be left out if one object has the name.

    docs/runbooks has a page for each reason: what it means, how to find the cause, and what to do.
    """
    html.check(page, form)
    source = live.source(dirs, kubeconfig, context, live=is_live)
    readings = _read(what)
    loaded = live.fleet(source).loaded if source else checked(dirs, exclude)
    control = settled(loaded)
    ref = _found(control, readings)
    with at_work(control, "try changes"):
        text, data, is_complete = _explained(control, ref, loaded)
    assumed = list(_assumed(control, ref, loaded))
    lines, data = [*text, *(f"Assumed: {one}" for one in assumed)], {**data, "assumed": assumed}
    fleet = _fleet(control) if lists_all or page is not None else {}
    if page is not None:
        html.write(page, _page({**data, **fleet}, lines, is_complete=is_complete))
    with html.report_of(page):
        if form == "text":
            report.show([report.Lines("", lines, style="")])
        else:
            report.dump({**data, **(fleet if lists_all else {})}, form)
    click.get_current_context().exit(0 if is_complete else _MISSING)


def _fleet(control: ControlPlane) -> Mapping[str, Any]:
    from function.planning import occupancy

    return {"fleet": {"after": occupancy.data(control.store)}}


def _page(data: Mapping[str, Any], lines: Sequence[str], *, is_complete: bool) -> str:
    from function import picture

    return picture.render(picture.of_explanation(data, lines, is_complete=is_complete))


def _read(what: str) -> tuple[Named, ...]:
    from function.planning.explanation import naming

    try:
        return naming.read(what)
    except naming.InvalidName as problem:
        raise click.UsageError(str(problem)) from problem


def _found(control: ControlPlane, readings: tuple[Named, ...]) -> Ref:
    from function.planning.explanation import naming

    try:
        return naming.find(control.store, readings)
    except naming.Unclear as problem:
        raise click.ClickException(str(problem)) from problem


def _explained(control: ControlPlane, ref: Ref, loaded: Sequence[Loaded]) -> _Shown:
    from function.planning import service_explanation
    from function.planning.explanation import deployments, naming, objects, references

    what, manifest = naming.told(ref), control.store.get(ref) or {}
    if ref.kind == "ModelDeployment":
        replicas = tuple(waiting([one.manifest for one in loaded], ref.namespace, ref.name))
        found = replace(deployments.explain(control, manifest), waiting=replicas)
        return deployment_report.lines(what, found), deployment_report.data(what, found), found.is_complete
    if ref.kind == "ModelService":
        service = service_explanation.explain(control.store, manifest)
        named = () if service.ready else map(str, references.dangling(control, ref))
        service = replace(service, causes=(*named, *service.causes))
        return service_report.lines(what, service), service_report.data(what, service), service.is_complete
    given = {control.store.located(one.manifest): one.manifest for one in loaded}
    other = objects.explain(control, ref, given)
    return object_report.lines(what, other), object_report.data(what, other), other.is_complete


def _assumed(control: ControlPlane, ref: Ref, loaded: Sequence[Loaded]) -> Iterator[str]:
    from function.planning.explanation import references

    return references.assumed(control.store.get(ref) or {}, (one.manifest for one in loaded))


def waiting(objects: Iterable[Manifest], namespace: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the replicas that do not serve as the files have them, each with its own words.

    They are read before the fleet is simulated: a simulated cluster starts every pod.
    """
    from function.api import modelreplica
    from function.core import condition, identity
    from function.vocabulary import labels, names

    mine = {labels.DEPLOYMENT: names.label_value(name)}
    for replica in objects:
        if replica.get("kind") != modelreplica.KIND or dig(replica, "metadata", "namespace") != namespace:
            continue
        ready = condition(replica, "ModelReady")
        if dig_text_fields(replica, "metadata", "labels").items() >= mine.items() and dig(ready, "status") == "False":
            yield identity(replica).name, f"{dig(ready, 'reason')}: {dig(ready, 'message') or ''}"
