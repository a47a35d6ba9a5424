"""A small fleet to simulate, and functions that are broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from function.cli import files
from function.core import ComposedResource, Request, Result, dig, plain
from function.planning import stubs
from function.planning.control_plane import ControlPlane, in_process
from function.planning.simulation.start import Start
from function.sandbox.extensions import CompositionFunction

EXAMPLES = Path(__file__).parents[2] / "examples"
SPARE = EXAMPLES / "spare"
_LEFT_OUT = "taiwan"

OWNERS = (("ml-team", "older"), ("ml-team", "younger"), ("search", "older"), ("search", "other"))

Break = Callable[[Request, Result], Result]


@cache
def _fleet() -> ControlPlane:
    control = ControlPlane()
    manifests = [one.manifest for one in files.load([SPARE]) if one.manifest["metadata"]["name"] != _LEFT_OUT]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    return control


def start(function: CompositionFunction = in_process, *, settled: bool = False) -> Start:
    """Two clusters with deployments and services, settled by our function, and left to another one from then on.

    If `settled`, by that one too.
    """
    control = _fleet().copied()
    control.function = control.loop.function = control.loop.reconciler.function = function
    if settled:
        control.loop.restart()
        control.loop.settle()
    return Start.of(control)


@cache
def crowded() -> Start:
    """Four deployments of two tenants that want more nodes than two clusters have, and a service."""
    spare = [one.manifest for one in files.load([SPARE]) if one.manifest["metadata"]["name"] != _LEFT_OUT]
    fleet = [m for m in spare if m["kind"] != "ModelDeployment"]
    model: Any = next(m for m in spare if m["kind"] == "ModelDeployment")
    for namespace, name in OWNERS:
        of: Any = {"namespace": namespace, "name": name}
        fleet.append({**model, "metadata": of, "spec": {**model["spec"], "replicas": 2}})
    return _settled(fleet)


def _settled(manifests: list[Any]) -> Start:
    control = ControlPlane()
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    return Start.of(control)


def broken(kind: str, break_: Break) -> CompositionFunction:
    """Our function, with the results for one kind changed."""

    def compose(request: Request) -> Result:
        result = in_process(request)
        return break_(request, result) if request.xr["kind"] == kind else result

    return compose


def drops_a_replica(_: Request, result: Result) -> Result:
    """One replica fewer than there would be."""
    replicas = sorted(key for key, found in result.resources.items() if found.manifest["kind"] == "ModelReplica")
    return replace(result, resources={k: v for k, v in result.resources.items() if k not in replicas[1:2]})


def drops_a_workload(_: Request, result: Result) -> Result:
    """A replica without its Deployment."""
    kept = {k: v for k, v in result.resources.items() if _remote(v).get("kind") != "Deployment"}
    return replace(result, resources=kept)


def drops_an_endpoint(_: Request, result: Result) -> Result:
    """Endpoints that go at once."""
    kept = {k: v for k, v in result.resources.items() if v.manifest["kind"] != "ModelEndpoint"}
    return replace(result, resources=kept)


def books_nodes_again(request: Request, result: Result) -> Result:
    """Every replica has two more on the same nodes."""
    more: dict[str, ComposedResource] = {}
    for key, composed in result.resources.items():
        if composed.manifest["kind"] == "ModelReplica":
            for number in (7, 8):
                twin: Any = plain(composed.manifest)
                twin["metadata"]["name"] += f"-{number}"
                ready = request.is_ready(f"{key}-{number}")
                more[f"{key}-{number}"] = ComposedResource(twin, ready)
    return replace(result, resources={**result.resources, **more})


def counts_too_many(_: Request, result: Result) -> Result:
    """One replica more is said to serve."""
    status: Any = plain(result.status)
    if "replicas" in status:
        status["replicas"]["ready"] += 1
    return replace(result, status=status)


def writes_what_is_refused(_: Request, result: Result) -> Result:
    """A field of the wrong type."""
    wrong: dict[str, Any] = {}
    for key, composed in result.resources.items():
        manifest: Any = plain(composed.manifest)
        if manifest["kind"] == "ModelReplica":
            manifest["spec"]["engines"] = "none"
        wrong[key] = ComposedResource(manifest, composed.ready)
    return replace(result, resources=wrong)


def never_stops(request: Request, result: Result) -> Result:
    """A label that grows on every pass."""
    grown: dict[str, Any] = {}
    for key, composed in result.resources.items():
        manifest: Any = plain(composed.manifest)
        before = dig(request.observed.get(key), "metadata", "labels", "passes") or "0"
        manifest["metadata"].setdefault("labels", {})["passes"] = str(int(before) + 1)
        grown[key] = ComposedResource(manifest, composed.ready)
    return replace(result, resources=grown)


def one_books_nodes_again(request: Request, result: Result) -> Result:
    """As `books_nodes_again`, for one tenant."""
    return books_nodes_again(request, result) if request.identity.namespace == "ml-team" else result


def swings(request: Request, result: Result) -> Result:
    """A label that is there on every other pass."""
    swung: dict[str, Any] = {}
    for key, composed in result.resources.items():
        manifest: Any = plain(composed.manifest)
        if dig(request.observed.get(key), "metadata", "labels", "side") != "left":
            manifest["metadata"].setdefault("labels", {})["side"] = "left"
        swung[key] = ComposedResource(manifest, composed.ready)
    return replace(result, resources=swung)


def names_another_tenant(_: Request, result: Result) -> Result:
    """A Secret of another tenant, in an Object."""
    named: dict[str, Any] = {}
    for key, composed in result.resources.items():
        manifest: Any = plain(composed.manifest)
        if manifest["kind"] == "Object":
            manifest["spec"]["forProvider"]["manifest"]["secretRef"] = {"name": "token", "namespace": "search"}
        named[key] = ComposedResource(manifest, composed.ready)
    return replace(result, resources=named)


def remembers() -> Break:
    """What it answers depends on how often it was called."""
    calls: list[None] = []

    def break_(_: Request, result: Result) -> Result:
        calls.append(None)
        return replace(result, status={**result.status, "selector": f"calls={len(calls) // 5}"})

    return break_


def leaves_the_namespace(_: Request, result: Result) -> Result:
    """Everything on the clusters is in the namespace of somebody else."""
    moved: dict[str, Any] = {}
    for key, composed in result.resources.items():
        manifest: Any = plain(composed.manifest)
        if "namespace" in (dig(manifest, "spec", "forProvider", "manifest", "metadata") or {}):
            manifest["spec"]["forProvider"]["manifest"]["metadata"]["namespace"] = "kube-system"
        moved[key] = ComposedResource(manifest, composed.ready)
    return replace(result, resources=moved)


def never_serves(_: Request, result: Result) -> Result:
    """A replica that does not serve, whatever runs."""
    return replace(result, status={**result.status, "serving": False})


def tires(calls: int) -> Break:
    """Replicas that serve for a number of calls."""
    left = [None] * calls

    def break_(request: Request, result: Result) -> Result:
        return result if left and left.pop() is None else never_serves(request, result)

    return break_


def takes_from_others() -> CompositionFunction:
    """Our function, but for replicas of others that stop serving once a deployment of `search` wants four."""
    greedy: list[Request] = []

    def compose(request: Request) -> Result:
        result = in_process(request)
        if request.identity.namespace == "search" and dig(request.xr, "spec", "replicas") == 4:
            greedy.append(request)
        is_robbed = bool(greedy) and request.xr["kind"] == "ModelReplica" and request.identity.namespace != "search"
        return never_serves(request, result) if is_robbed else result

    return compose


def fails(_request: Request, _result: Result) -> Result:
    """A bug, with a value in its message."""
    raise ValueError("hunter2")


def _remote(composed: ComposedResource) -> Any:
    return dig(composed.manifest, "spec", "forProvider", "manifest") or {}
