"""A look-up that finds nothing moves no traffic the first time, and only where traffic would move is it doubted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from function import registry
from function.core import Manifest, Result
from function.kinds.modelservice import compose, proxy
from function.sandbox.settle import resolve
from function.vocabulary import labels
from tests.support import services as s

XR = s.service(s.of_deployment("qwen"))
EAST, WEST, NORTH = (s.endpoint(name, name) for name in ("east", "west", "north"))


def world(*endpoints: Manifest, lost: Iterable[Manifest] = (), unprobed: Iterable[Manifest] = ()) -> list[Manifest]:
    """Endpoints with the Objects of their replicas, and the probes of their clusters."""
    clusters = {one["metadata"]["labels"][labels.CLUSTER]: one in lost for one in endpoints if one not in unprobed}
    probes = [s.probe(cluster, lost=is_lost) for cluster, is_lost in clusters.items()]
    return [s.GATEWAY, *endpoints, *probes, *(s.object_of(one, lost=one in lost) for one in endpoints)]


def doubted(result: Result) -> str | None:
    """What was not found, by the note on the route."""
    annotations = result.resources[compose.ROUTE].manifest["metadata"].get("annotations") or {}
    found: str | None = annotations.get(labels.FOUND_NOTHING)
    return found


def test_a_lost_cluster_gets_no_traffic_because_its_probe_is_not_found_once() -> None:
    there = world(EAST, WEST, lost=[WEST])
    request = s.routing_to(EAST, xr=XR)

    held = s.reconciled(request, there, missing="probe-west")
    again = s.reconciled(s.after(request, held), there)

    assert (doubted(held), s.routed(held)) == ("probe-west", {"east"})
    assert (doubted(again), s.routed(again)) == (None, {"east"})


def test_a_lost_cluster_gets_no_traffic_because_its_objects_are_not_found_once() -> None:
    there = world(EAST, WEST, lost=[WEST])
    request = s.routing_to(EAST, xr=XR)
    held = s.reconciled(request, there, missing="objects-qwen/west")
    assert (doubted(held), s.routed(held)) == ("objects-qwen/west", {"east"})


def test_objects_of_another_replica_do_not_speak_for_it() -> None:
    """The look-up finds Objects of the deployment on the cluster, but none of the replica whose endpoint is out."""
    other = s.endpoint("other", "west")
    there = [m for m in world(EAST, WEST, other, lost=[WEST, other]) if m["metadata"]["name"] != "west-route"]
    held = s.reconciled(s.routing_to(EAST, xr=XR), there)
    assert (doubted(held), s.routed(held)) == ("objects-qwen/west", {"east"})


def test_what_is_not_found_twice_is_believed() -> None:
    there = world(EAST, WEST, unprobed=[WEST])
    request = s.routing_to(EAST, xr=XR)
    held = s.reconciled(request, there)
    believed = s.reconciled(s.after(request, held), there)
    assert (doubted(held), s.routed(believed), doubted(believed)) == ("probe-west", {"east", "west"}, None)


def test_who_has_traffic_keeps_it_without_a_probe() -> None:
    there = world(EAST, WEST, unprobed=[EAST, WEST])
    result = s.reconciled(s.routing_to(EAST, WEST, xr=XR), there)
    assert (doubted(result), s.routed(result)) == (None, {"east", "west"})


def test_nobody_is_withdrawn_for_a_cluster_that_is_not_known_to_answer() -> None:
    """All clusters are lost, and the route stays: one whose probe is not found once is not the only one left."""
    there = world(EAST, WEST, lost=[EAST, WEST])
    request = s.routing_to(EAST, WEST, xr=XR)
    assert s.routed(s.reconciled(request, there)) == {"east", "west"}

    held = s.reconciled(request, there, missing="probe-east")

    assert (doubted(held), s.routed(held)) == ("probe-east", {"east", "west"})


def test_a_lost_cluster_is_withdrawn_at_once_while_another_is_known_to_answer() -> None:
    there = world(EAST, NORTH, WEST, lost=[WEST], unprobed=[EAST])
    result = s.reconciled(s.routing_to(EAST, NORTH, WEST, xr=XR), there)
    assert (doubted(result), s.routed(result)) == (None, {"east", "north"})


def test_who_has_no_place_is_not_doubted_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seventeen endpoints do not fit into sixteen places: the one that is left out has no probe, and stays out."""
    monkeypatch.setattr(proxy, "MOST", 16)
    fitting = [s.endpoint(f"a{i:02}", f"a{i:02}") for i in range(16)]
    last = s.endpoint("z", "z")
    there = world(*fitting, last, unprobed=[last])
    result = s.reconciled(s.routing_to(*fitting, xr=XR), there)
    assert (doubted(result), s.routed(result)) == (None, {one["metadata"]["name"] for one in fitting})


def test_endpoints_that_are_not_found_once_stay_in_the_route() -> None:
    there = world(EAST, WEST)
    request = s.routing_to(EAST, WEST, xr=XR)
    held = s.reconciled(request, there, missing="endpoints-0")
    gone = s.reconciled(s.after(request, held), there, missing="endpoints-0")
    assert (doubted(held), s.routed(held)) == ("endpoints-0", {"east", "west"})
    assert (doubted(gone), s.routed(gone)) == (None, set())


def test_answers_that_nothing_requires_any_more_are_ignored() -> None:
    """An entry and a cluster are gone: that their look-ups of an earlier reconcile were empty says nothing."""
    there = world(EAST)
    decided = s.reconciled(request := s.routing_to(EAST, WEST, xr=XR), there)
    required = {**resolve(decided.requirements, there), "endpoints-1": (), "probe-west": (), "objects-qwen/west": ()}
    assert registry.compose(replace(request, required=required)) == decided
    assert (doubted(decided), s.routed(decided)) == (None, {"east"})
