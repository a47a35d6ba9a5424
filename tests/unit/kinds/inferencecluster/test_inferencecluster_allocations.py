"""status.allocations: by it deployments choose clusters, so it is as right as can be, and it never fails."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function import registry
from function.core import Manifest, Request, Result, dig, plain
from function.fleet.clusters import are_taken
from function.fleet.engines import engines
from function.kinds.inferencecluster.allocations import allocations
from function.sandbox.settle import settle, settle_with
from function.scheduling import nodes_of
from function.vocabulary import labels
from tests.support.cases import ROOT, load

CASE = ROOT / "inferencecluster" / "an-invalid-spec-holds-everything"
"""A cluster of three nodes, with a replica of one node, and a spec that is refused."""
TAKEN, FREE = ([{"pool": "l4", "nodes": 3, "free": free}] for free in (2, 3))
MOST = 2**31 - 1
decided_and_held = pytest.mark.parametrize("refused", [False, True], ids=["decided", "held"])


def world(*, refused: bool) -> tuple[Request, list[Manifest]]:
    request, objects = load(CASE)
    pools = request.xr["spec"]["nodePools"] if refused else [{"name": "l4", "className": "l4", "nodeCount": 3}]
    return replace(request, xr={**request.xr, "spec": {**request.xr["spec"], "nodePools": pools}}), objects


def published(result: Result) -> Any:
    return plain(result.status)["allocations"]


def edited(objects: list[Manifest], **spec: Any) -> list[Manifest]:
    return [{**m, "spec": {**m["spec"], **spec}} if m["kind"] == "ModelReplica" else m for m in objects]


def without_replicas(objects: list[Manifest]) -> list[Manifest]:
    return [m for m in objects if m["kind"] != "ModelReplica"]


@decided_and_held
def test_a_replica_that_only_its_label_ties_to_the_cluster_takes_no_nodes_and_keeps_the_cluster(refused: bool) -> None:
    request, objects = world(refused=refused)

    right, lying = (settle(registry.compose, request, given) for given in (objects, edited(objects, clusterName="b")))

    assert (published(right), published(lying)) == (TAKEN, FREE)
    assert "usage" in lying.resources


def test_a_refused_spec_stops_no_count() -> None:
    request, objects = world(refused=True)
    [*_, last] = (m for m in objects if m["kind"] == "ModelReplica")
    grown = edited(objects, engines=[{**dig(last, "spec", "engines", 0), "copies": 3}])

    assert published(settle(registry.compose, request, grown)) == [{"pool": "l4", "nodes": 3, "free": 0}]


@pytest.mark.parametrize("pools", [None, 7, "l4", [], [7], [{"name": 7}], [{"nodes": 3}]])
def test_a_hold_without_published_pools_repeats_what_was_published(pools: Any) -> None:
    request, objects = world(refused=True)
    status = {**request.xr["status"], "gpuPools": pools}

    assert published(settle(registry.compose, replace(request, xr={**request.xr, "status": status}), objects)) == TAKEN


@decided_and_held
def test_nothing_is_free_that_was_taken_before_two_look_ups_agree(refused: bool) -> None:
    request, objects = world(refused=refused)
    gone = without_replicas(objects)

    first = settle(registry.compose, request, gone)
    second = settle(registry.compose, _later(request, first), gone)

    assert published(first) == TAKEN
    assert published(second) == FREE


@decided_and_held
def test_weights_on_the_cluster_do_not_vouch_for_a_look_up_of_replicas(refused: bool) -> None:
    request, objects = world(refused=refused)
    held = {labels.CLUSTER: "edge", labels.HOLDS: labels.HOLDS_WEIGHTS, labels.MODELCACHE: "qwen"}
    weights = {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": "qwen-claim", "namespace": "ml-team", "labels": held},
    }
    gone, passes = [*without_replicas(objects), weights], [request]
    told = []
    for _ in range(4):
        result = settle(registry.compose, passes[-1], gone)
        passes.append(_later(passes[-1], result))
        told.append((published(result), _notes(result)))

    assert told == [(TAKEN, "replicas"), *[(FREE, None)] * 3]


def _later(request: Request, result: Result) -> Request:
    """The next pass, once the ClusterUsage is as it was composed."""
    usage = {**request.observed["usage"], **plain(result.resources["usage"].manifest)}
    status = {**request.xr["status"], **plain(result.status)}
    return replace(
        request, xr={**request.xr, "status": status}, observed={**request.observed, "usage": usage}, required={}
    )


def _notes(result: Result) -> Any:
    return dig(result.resources["usage"].manifest, "metadata", "annotations", labels.FOUND_NOTHING)


@decided_and_held
def test_what_is_not_looked_up_yet_keeps_what_was_published(refused: bool) -> None:
    request, objects = world(refused=refused)
    unanswered = settle_with(registry.compose, request, lambda asked: {})

    assert published(unanswered) == published(settle(registry.compose, request, objects)) == TAKEN


# Values that nobody expects

JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([10**400, -(10**400), "9" * 5000, "", "x", "2", [], {}, [[]], {"a": 1}])
)
WORKERS = st.fixed_dictionaries({}, optional={"nodes": JUNK})
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["Standalone", "Worker"]) | JUNK,
        "nodePoolName": st.just("p") | JUNK,
        "deviceRequests": st.just([{"name": "gpu"}]) | JUNK,
        "worker": WORKERS | JUNK,
    },
)
ENGINES = st.fixed_dictionaries({}, optional={"copies": JUNK, "members": st.lists(MEMBERS | JUNK) | JUNK})
REPLICAS = st.fixed_dictionaries(
    {"spec": st.fixed_dictionaries({}, optional={"engines": st.lists(ENGINES) | JUNK}) | JUNK}
)
POOLS = st.fixed_dictionaries({"name": st.just("p")}, optional={"nodes": JUNK})


@given(st.lists(POOLS, max_size=1), st.lists(REPLICAS, max_size=3))
def test_numbers_are_those_that_an_api_server_stores(pools: list[Any], replicas: list[Any]) -> None:
    for entry in allocations(pools, replicas):
        assert 0 <= entry["nodes"] <= MOST
        assert entry["nodes"] - MOST <= entry["free"] <= entry["nodes"]
        taken = sum(nodes_of(engines(dig(r, "spec", "engines"))).get("p", 0) for r in replicas)
        assert entry["nodes"] - entry["free"] == min(taken, MOST)


@given(st.lists(st.fixed_dictionaries({}, optional={"nodes": JUNK, "free": JUNK}) | JUNK) | JUNK)
def test_what_was_published_may_be_anything(found: Any) -> None:
    assert are_taken(found) in (True, False)


@pytest.mark.parametrize("number", [10**400, -1, float("inf"), float("nan"), sys.maxsize, "many", True, None])
@decided_and_held
@pytest.mark.parametrize("classless", [False, True])
def test_a_cluster_with_odd_numbers_is_answered(refused: bool, classless: bool, number: Any) -> None:
    request, objects = world(refused=refused)
    member = {"role": "Worker", "nodePoolName": "l4", "deviceRequests": [{}], "worker": {"nodes": number}}
    status = plain(request.xr["status"])
    status["gpuPools"][0]["nodes"] = number
    given = edited(objects, engines=[{"name": "main", "copies": number, "members": [member]}])
    given = [m for m in given if not (classless and m["kind"] == "InferenceClass")]

    [entry] = published(settle(registry.compose, replace(request, xr={**request.xr, "status": status}), given))

    assert 0 <= entry["nodes"] <= MOST
    assert -MOST <= entry["free"] < MOST
