"""What is told of the replicas of a deployment whose status lists them: each change, and once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from function import registry
from function.core import Event, Request, dig, plain
from function.sandbox.settle import settle
from tests.support.cases import ROOT, load


def told(case: str) -> dict[str, Event]:
    """The events of a golden case, by reason, if the status lists every replica that there was."""
    request, objects = load(ROOT / "modeldeployment" / case)
    there = [
        {"replica": m["metadata"]["name"], "cluster": dig(m, "spec", "clusterName"), "ready": False}
        for m in request.observed.values()
        if m["kind"] == "ModelReplica"
    ]
    xr = {**request.xr, "status": {**plain(request.xr.get("status") or {}), "placements": there}}
    found = settle(registry.compose, replace(request, xr=xr), objects).events
    return {event.reason: event for event in found}


def test_a_replica_whose_cluster_is_gone_is_lost() -> None:
    events = told("a-lost-cluster-is-replaced-at-once")
    assert events["Lost"] == Event("Lost", "qwen-0ec154f2 was lost with cluster a", warning=True)
    assert "Removed" not in events


def test_a_replica_that_gives_way_is_told_with_the_one_that_has_its_nodes() -> None:
    yielded = told("the-younger-of-two-gives-way")["Yielded"]
    assert yielded.warning
    assert " lost its nodes on " in yielded.message


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("a-cluster-that-is-being-deleted-is-drained", "its cluster is being deleted"),
        ("a-drain-with-nowhere-to-go-says-so", "a NoExecute taint"),
    ],
)
def test_a_replica_that_must_move_is_told_with_the_cause(case: str, reason: str) -> None:
    assert reason in told(case)["Leaving"].message


def test_a_replica_that_must_move_is_told_once() -> None:
    case = "a-drain-with-nowhere-to-go-says-so"
    request, objects = load(ROOT / "modeldeployment" / case)
    status = plain(settle(registry.compose, request, objects).status)
    assert any("leaving" in placement for placement in status["placements"])
    again = settle(registry.compose, replace(request, xr={**request.xr, "status": status}), objects)
    assert "Leaving" not in {event.reason for event in again.events}


def test_a_replica_that_is_deleted_behind_our_back_is_told_when_it_is_placed_again() -> None:
    case = "replicas-spread-over-regions"
    request, objects = load(ROOT / "modeldeployment" / case)
    first = settle(registry.compose, request, objects)
    assert [event.reason for event in first.events] == ["Placed"]
    for ready, want in ((False, []), (True, ["Placed"])):
        placements = [{**p, "ready": ready} for p in plain(first.status)["placements"]]
        xr = {**request.xr, "status": {**plain(first.status), "placements": placements}}
        events = settle(registry.compose, Request(xr, request.observed), objects).events
        assert [event.reason for event in events if event.reason == "Placed"] == want


def test_a_replica_that_is_scaled_away_is_told() -> None:
    request, objects = load(ROOT / "modeldeployment" / "replicas-spread-over-regions")
    first = settle(registry.compose, request, objects)
    made = {
        key: plain(r.manifest) | {"metadata": plain(r.manifest["metadata"]) | {"uid": key}}
        for key, r in first.resources.items()
        if r.manifest["kind"] == "ModelReplica"
    }
    spec = {**request.xr["spec"], "replicas": len(made) - 1}
    xr = {**request.xr, "spec": spec, "status": plain(first.status)}
    events = settle(registry.compose, replace(request, xr=xr, observed=made), [*objects, *made.values()]).events
    assert [event.reason for event in events if event.reason != "Updated"] == ["Removed"]
