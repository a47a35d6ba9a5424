"""`modelplane explain`: why a replica is not placed, cluster by cluster, and which change would place it; and which
endpoints of a service answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from function.cli import excludes, report, service_report
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.fleet import checked, settled
from function.cli.shared_report import pods_that_fit
from function.core import dig, plain

if TYPE_CHECKING:
    from function.core import Manifest
    from function.kinds.modeldeployment.explain import ClusterExplanation, Explanation, PoolExplanation
    from function.planning.control_plane import ControlPlane

_EXAMPLE = epilog(
    [
        "modelplane explain examples/tour ModelDeployment/support/mistral-7b",
        "modelplane explain fleet/ md/ml-team/qwen -o json",
        "modelplane explain examples/tiers ModelService/ml-team/qwen",
    ],
    {
        0: "nothing is missing",
        3: "a replica is missing, or an endpoint does not answer; the output explains why",
        1: "an error: an invalid file, or the object was not found",
        2: INVALID_OPTION,
    },
)
_MISSING = 3
_KINDS = {
    **dict.fromkeys(("modeldeployment", "modeldeployments", "md"), "ModelDeployment"),
    **dict.fromkeys(("modelservice", "modelservices", "ms"), "ModelService"),
}
_PARTS = 3
_LOOK_UPS = 2
"""The clusters, and then what is observed of them."""
_OWN = ("ClusterReady", "BackendReady")
"""The conditions of an InferenceCluster that say why it does not serve."""


@click.command(epilog=_EXAMPLE)
@click.argument("dirs", nargs=-1, required=True, metavar="DIR...")
@click.argument("what", metavar="KIND/NAMESPACE/NAME")
@click.option("--output", "-o", "form", type=click.Choice(("text", "json", "yaml")), default="text", show_default=True)
@excludes.option
def explain(dirs: tuple[str, ...], what: str, form: str, exclude: tuple[str, ...]) -> None:
    """Reconcile a fleet until nothing changes, and explain why a deployment is not placed as specified.

    For each cluster, show the reason, the closest device of each pool with its values, and the smallest change that
    would place one more replica there. Each suggested change has been tried.

    For a ModelService, show which priority answers, and the state of each endpoint.
    """
    from function.core import InvalidSpec, NotYet
    from function.kinds.modeldeployment import explain as explaining
    from function.planning import service_explanation

    kind, namespace, name = _named(what)
    what = f"{kind}/{namespace}/{name}"
    loaded = checked(dirs, exclude)
    control = settled(loaded)
    xr = find(control, kind, namespace, name)
    if kind == "ModelService":
        is_complete = service_report.show(what, service_explanation.explain(control.store, xr), form)
        click.get_current_context().exit(0 if is_complete else _MISSING)
    try:
        reconciler = control.loop.reconciler
        request = reconciler.request(xr)
        for _ in range(_LOOK_UPS):
            request = reconciler.answered(request, explaining.requirements(request))
        explanation = explaining.explain(request)
    except (InvalidSpec, NotYet) as why:
        raise click.ClickException(f"{what}: {why.condition.reason}: {why.condition.message}") from why
    explanation = replace(
        explanation,
        clusters=tuple(_with_conditions(one, control) for one in explanation.clusters),
        waiting=tuple(waiting([one.manifest for one in loaded], namespace, name)),
    )
    _show(what, explanation, form)
    click.get_current_context().exit(_MISSING if explanation.clusters else 0)


def _named(what: str) -> tuple[str, str, str]:
    parts = what.split("/")
    if len(parts) != _PARTS or not all(parts):
        raise click.UsageError(f"{what}: use KIND/NAMESPACE/NAME, such as ModelDeployment/ml-team/qwen")
    if parts[0].lower() not in _KINDS:
        raise click.UsageError(f"{what}: only ModelDeployments and ModelServices can be explained")
    return _KINDS[parts[0].lower()], parts[1], parts[2]


def find(control: ControlPlane, kind: str, namespace: str, name: str) -> Manifest:
    """An object of ours in the fleet. Raises ClickException if there is none."""
    from function.core import identity
    from function.planning.edits import unknown
    from function.sandbox.store import Ref
    from function.vocabulary import versions

    found = control.store.get(Ref(versions.MODELPLANE, kind, namespace, name))
    if found is None:
        known = [str(identity(m)) for m in control.store.of_kind(versions.MODELPLANE, kind)]
        raise click.ClickException(unknown(kind, f"{namespace}/{name}", known))
    return found


def _with_conditions(cluster: ClusterExplanation, control: ControlPlane) -> ClusterExplanation:
    """Add why a cluster does not serve, which only its own conditions know."""
    from function.api import inferencecluster as model
    from function.sandbox.store import Ref
    from function.scheduling.rejection import NotReady

    if cluster.reason != NotReady.__name__:
        return cluster
    found = control.store.get(Ref(model.API_VERSION, model.KIND, "", cluster.name))
    conditions = (found and dig(found, "status", "conditions")) or ()
    told = (one for one in conditions if one["type"] in _OWN and one["status"] != "True" and one.get("message"))
    return replace(cluster, conditions=tuple(f"{one['type']}: {one['reason']}: {one['message']}" for one in told))


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
        if (dig(replica, "metadata", "labels") or {}).items() >= mine.items() and dig(ready, "status") == "False":
            yield identity(replica).name, f"{dig(ready, 'reason')}: {dig(ready, 'message') or ''}"


def _show(what: str, explanation: Explanation, form: str) -> None:
    if form == "text":
        report.show([report.Lines("", list(_lines(what, explanation)), style="")])
        return
    report.dump(plain({"object": what, **asdict(explanation, dict_factory=_without_unshared)}), form)


def _without_unshared(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A part of an explanation as data. What is empty for most deployments is left out."""
    found = {name: value for name, value in pairs if name not in ("devices", "waiting") or value}
    if "waiting" in found:
        found["waiting"] = [{"replica": replica, "message": words} for replica, words in found["waiting"]]
    if "guaranteed" in found:
        found["guaranteed"] = [{"count": count, "pods": pods} for count, pods in found["guaranteed"]]
    return found


def _lines(what: str, explanation: Explanation) -> Iterator[str]:
    yield f"{what}: {explanation.placed} of {explanation.wanted} replicas are placed."
    if not explanation.clusters:
        yield "Nothing is missing."
    for name, words in explanation.waiting:
        yield f"Replica {name} does not serve. {words}"
    for cluster in explanation.clusters:
        yield ""
        yield from _cluster(cluster)


def _cluster(cluster: ClusterExplanation) -> Iterator[str]:
    yield f"{cluster.name}  {cluster.reason}: {cluster.message}"
    yield from (f"  {condition}" for condition in cluster.conditions)
    for pool in cluster.pools:
        yield f"  pool {pool.name}: {_free(pool)}"
        yield from (f"    {problem}" for problem in (*pool.problems, *([pool.note] if pool.note else ())))
    yield from (f"  would help: {remedy}" for remedy in cluster.remedies)


def _free(pool: PoolExplanation) -> str:
    if not pool.devices:
        return f"{max(pool.free, 0)} of {pool.nodes} nodes free"
    return "; ".join(
        f"{d.free} of {d.total} {d.name} free; pods that fit, wherever the others are: {pods_that_fit(d.guaranteed)}"
        for d in pool.devices
    )
