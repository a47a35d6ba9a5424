"""A service decides as if it read all endpoints, probes and Objects. No look-up that fails once moves traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function import gateways
from function.api.modelservice import parse
from function.core import Manifest, Request, Result, dig
from function.kinds.modelservice import compose, decide, inputs, reads
from function.manifests import reached
from function.sandbox.settle import MOST_CALLS, resolve
from function.vocabulary import labels, names
from tests.support import services as s

CLUSTERS = ("c0", "c1", "c2", "c3")
DEPLOYMENTS = ("a", "b", "")
SELECTORS = (s.of_deployment("a"), s.of_deployment("b"), {"team": "x"}, {labels.CLUSTER: "c0"})
ENTRIES = st.lists(st.sampled_from(SELECTORS), min_size=1, max_size=3)


@dataclass(frozen=True)
class World:
    endpoints: tuple[dict[str, Any], ...]
    probes: tuple[dict[str, Any], ...]
    objects: tuple[dict[str, Any], ...]

    @property
    def manifests(self) -> list[Manifest]:
        return [s.GATEWAY, *self.endpoints, *self.probes, *self.objects]


@st.composite
def worlds(draw: st.DrawFn, most: int = 8) -> World:
    """Endpoints on clusters that answer, are lost or have no probe, some labelled with a cluster that is not there."""
    endpoints = tuple(
        s.endpoint(
            f"e{i:02}",
            draw(st.sampled_from((*CLUSTERS, "nowhere", ""))),
            deployment=draw(st.sampled_from(DEPLOYMENTS)),
            ready=draw(st.integers(0, 4)) > 0,
            leaving=draw(st.integers(0, 6)) == 0,
            team=draw(st.sampled_from("xy")),
        )
        for i in range(draw(st.integers(0, most)))
    )
    state = {cluster: draw(st.sampled_from((None, False, True, True))) for cluster in CLUSTERS}
    probes = tuple(s.probe(cluster, lost=lost) for cluster, lost in state.items() if lost is not None)
    objects = tuple(
        s.object_of(endpoint, lost=draw(st.integers(0, 3)) > 0, part=part)
        for endpoint in endpoints
        for part in draw(st.sampled_from(((), ("route",), ("route", "service"))))
    )
    return World(endpoints, probes, objects)


# As if all were read


@given(worlds(), ENTRIES, st.data())
def test_the_answer_is_that_of_reading_everything(
    world: World, entries: list[dict[str, str]], data: st.DataObject
) -> None:
    """After at most one doubt: then what is not there is believed not to be there."""
    xr = s.service(*entries)
    before = data.draw(st.lists(st.sampled_from(world.endpoints), unique_by=id) if world.endpoints else st.just([]))
    request = s.routing_to(*before, xr=xr)
    first = s.reconciled(request, world.manifests)
    result = s.reconciled(s.after(request, first), world.manifests) if _noted(first) else first
    assert not _noted(result)
    assert result.resources[compose.ROUTE].manifest == _reading_all(world, request)


def _reading_all(world: World, request: Request) -> Manifest:
    """The route of a service that reads all endpoints, probes and Objects there are, and looks at them one by one."""
    found = {r.name: r for r in reads.endpoints(request)}
    seen: dict[str, inputs.Endpoint] = {}
    for entry, requirement in enumerate(found.values()):
        for manifest in resolve([requirement], world.endpoints)[requirement.name]:
            name = manifest["metadata"]["name"]
            seen.setdefault(name, _endpoint(manifest, entry, _is_lost(manifest, world)))
    spec, most = parse(request.xr), gateways.of(s.GATEWAY).most_backends
    routed = compose.routed(request.observed[compose.ROUTE]) - {compose.placeholder(request.identity)}
    decision = decide.decide(spec, tuple(seen.values()), most=most, routed=routed)
    return compose.manifests(request.identity, compose.to_endpoints(decision))[compose.ROUTE]


def _endpoint(manifest: Manifest, entry: int, is_lost: bool) -> inputs.Endpoint:
    routing = dig(manifest, "status", "routing")
    return inputs.Endpoint(
        name=manifest["metadata"]["name"],
        entry=entry,
        cluster=manifest["metadata"]["labels"].get(labels.CLUSTER) or "",
        ready=bool(dig(manifest, "status", "serving")),
        leaving=bool(dig(manifest, "metadata", "annotations", labels.LEAVING)),
        lost=s.FAULT if is_lost else None,
        service=routing["backendName"],
        rewrite_path=routing["rewritePath"],
        hostname=None,
    )


def _is_lost(endpoint: Manifest, world: World) -> bool:
    def shared(manifest: Manifest) -> list[str | None]:
        return [dig(manifest, "metadata", "labels", key) for key in labels.OF_REPLICA]

    cluster = dig(endpoint, "metadata", "labels", labels.CLUSTER)
    probes = [p for p in world.probes if dig(p, "metadata", "labels", labels.CLUSTER) == cluster]
    objects = [o for o in world.objects if shared(o) == shared(endpoint)]
    return any(map(reached.lost, probes)) and any(map(reached.lost, objects))


# What is read


@given(worlds(), ENTRIES)
def test_only_what_the_decision_stands_on_is_read(world: World, entries: list[dict[str, str]]) -> None:
    """No probe but of a selected endpoint's cluster, and no Object but of a cluster whose probe reports no answer."""
    result = s.reconciled(Request(xr=s.service(*entries)), world.manifests)
    found = resolve(result.requirements, world.manifests)
    endpoints = [m for name, some in found.items() if name.startswith("endpoints-") for m in some]
    theirs = {names.probe(dig(m, "metadata", "labels", labels.CLUSTER) or "") for m in endpoints}
    probes = [m for name, some in found.items() if name.startswith("probe-") for m in some]
    objects = [m for name, some in found.items() if name.startswith("objects-") for m in some]
    silent = {dig(m, "metadata", "labels", labels.CLUSTER) for m in probes if reached.lost(m)}
    assert {m["metadata"]["name"] for m in probes} <= theirs
    assert {dig(m, "metadata", "labels", labels.CLUSTER) for m in objects} <= silent


# Look-ups that find nothing once


@pytest.mark.slow
@given(worlds(most=24), st.permutations((s.of_deployment("a"), s.of_deployment("b"))))
def test_a_look_up_that_finds_nothing_once_moves_no_traffic(world: World, entries: list[dict[str, str]]) -> None:
    request, settled = _settled(Request(xr=s.service(*entries)), world)
    for requirement in settled.requirements:
        emptied = s.reconciled(request, world.manifests, missing=requirement.name)
        assert s.routed(emptied) == s.routed(settled), requirement.name
        back = s.reconciled(s.after(request, emptied), world.manifests)
        assert back.resources == settled.resources, requirement.name


@pytest.mark.slow
@given(worlds(most=24), ENTRIES)
def test_a_service_comes_to_rest(world: World, entries: list[dict[str, str]]) -> None:
    """Whatever is not there: it is not doubted again and again."""
    request, settled = _settled(Request(xr=s.service(*entries)), world)
    assert s.reconciled(request, world.manifests) == settled
    assert not _noted(settled)


def _settled(request: Request, world: World) -> tuple[Request, Result]:
    """A service after the reconciles that it may need: to decide, to believe what is not there, to see its route."""
    for _ in range(3):
        request = s.after(request, s.reconciled(request, world.manifests))
    return request, s.reconciled(request, world.manifests)


def _noted(result: Result) -> bool:
    return labels.FOUND_NOTHING in (result.resources[compose.ROUTE].manifest["metadata"].get("annotations") or {})


# Calls


@pytest.mark.slow
@given(worlds(), ENTRIES, st.data())
def test_stages_end_alike_within_the_calls_there_are(
    world: World, entries: list[dict[str, str]], data: st.DataObject
) -> None:
    """Whatever an earlier reconcile had asked for, of whatever world."""
    request = Request(xr=s.service(*entries))
    earlier = s.reconciled(request, data.draw(worlds()).manifests).requirements
    assert s.reconciled(request, world.manifests, asked=earlier) == s.reconciled(request, world.manifests)
    calls = 0
    required: tuple[Any, ...] = earlier
    while (now := reads.requirements(Request(xr=request.xr, required=resolve(required, world.manifests)))) != required:
        required, calls = now, calls + 1
    assert calls < MOST_CALLS
