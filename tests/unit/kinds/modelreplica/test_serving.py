"""Serving and ready are two things: traffic follows the one, rollouts wait for the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from function.core import Request, Result, dig
from tests.support import arrivals, replicas

TWO = replicas.replica(replicas.engine(copies=2))
GANG = replicas.replica(replicas.gang(copies=2, nodes=3))
SPLIT = replicas.replica(**replicas.split())


def after(xr: Any, status: Callable[[Any], Any], *objects: Any, generation: int = 1) -> Result:
    """The answer once what an XR becomes is on the cluster, in the given state."""
    return replicas.compose(passed(xr, status, *objects, generation=generation), *objects)


def passed(xr: Any, status: Callable[[Any], Any], *objects: Any, generation: int = 1) -> Request:
    first = replicas.compose(xr, *objects)
    return arrivals.again(Request(xr=xr), first, status, generation=generation)


def steady(xr: Any) -> Request:
    """A pass later: it runs, and said so."""
    before = passed(xr, arrivals.running)
    return arrivals.again(before, replicas.compose(before), arrivals.running)


def copies(available: int, updated: int) -> Callable[[Any], Any]:
    return partial(arrivals.copies, available=available, updated=updated)


def state(result: Result) -> tuple[bool, str]:
    return result.ready, replicas.said(result, "ModelReady")


STATES = [
    (TWO, copies(2, 2), True, "True Serving: Every engine serves"),
    (TWO, copies(1, 2), False, "True Degraded: The replica serves; engine qwen: 1 of 2 copies run the current spec"),
    (TWO, copies(2, 1), False, "True Degraded: The replica serves; engine qwen: 1 of 2 copies run the current spec"),
    (
        TWO,
        copies(0, 2),
        False,
        "False ModelStarting: engine qwen: 0 of 2 copies are available, waiting for GET /health on port 8000",
    ),
    (GANG, copies(2, 2), True, "True Serving: Every engine serves"),
    (GANG, copies(1, 2), False, "True Degraded: The replica serves; engine qwen: 1 of 2 copies run the current spec"),
    (
        GANG,
        copies(0, 2),
        False,
        "False ModelStarting: engine qwen: 0 of 2 copies are available, waiting for GET /health on port 8000",
    ),
    (SPLIT, copies(1, 1), True, "True Serving: Every engine serves"),
]


@pytest.mark.parametrize(("xr", "status", "ready", "said"), STATES)
def test_it_serves_with_one_copy_and_is_ready_with_all(xr: Any, status: Any, ready: bool, said: str) -> None:
    assert state(after(xr, status)) == (ready, said)


def test_nothing_is_said_to_serve_before_it_was_seen() -> None:
    assert state(replicas.compose(TWO)) == (
        False,
        "False WaitingForModel: Waiting for Deployment qwen-1a2b3c4d-qwen-0c8a45c5",
    )


def test_counts_of_an_older_generation_are_nothing() -> None:
    """Right after an edit the counters still speak of the spec before it."""

    def late(manifest: Any) -> Any:
        return (
            {**arrivals.running(manifest), "observedGeneration": 1}
            if manifest["kind"] == "Deployment"
            else arrivals.running(manifest)
        )

    assert state(after(TWO, late, generation=2)) == (
        False,
        "True Degraded: The replica serves; engine qwen: 0 of 2 copies run the current spec",
    )


def test_a_gang_of_an_lws_without_observed_generation_can_be_ready() -> None:
    """It is not there before lws v0.9."""

    def old(manifest: Any) -> Any:
        status = arrivals.running(manifest)
        return (
            {k: v for k, v in status.items() if k != "observedGeneration"}
            if manifest["kind"] == "LeaderWorkerSet"
            else status
        )

    assert after(GANG, old, generation=7).ready


def test_available_alone_makes_no_deployment_ready() -> None:
    """With maxUnavailable 1 and one copy, Available is True before any pod runs."""

    def claimed(manifest: Any) -> Any:
        return (
            {"conditions": arrivals.conditions(Available="True")}
            if manifest["kind"] == "Deployment"
            else arrivals.running(manifest)
        )

    ready, said = state(after(replicas.replica(), claimed))
    assert not ready
    assert said.startswith("False ModelStarting")


def refused(manifest: Any) -> Any:
    if manifest["kind"] != "HTTPRoute":
        return arrivals.running(manifest)
    said = [{"type": "Accepted", "status": "False", "reason": "NoMatchingParent", "message": "no listener"}]
    return {"parents": [{"parentRef": {"name": "inference-gateway"}, "conditions": said}]}


def test_a_refused_route_says_why() -> None:
    said = (
        "False RouteNotAccepted: Waiting for HTTPRoute qwen-1a2b3c4d-serving-7d16e7ae (NoMatchingParent: no listener)"
    )
    assert state(after(TWO, refused)) == (False, said)


@pytest.mark.parametrize("kind", ["HTTPRoute", "InferencePool", "Deployment"])
def test_prefill_and_decode_serve_only_with_route_pool_and_picker(kind: str) -> None:
    def without(manifest: Any) -> Any:
        is_it = (
            manifest["kind"] == kind
            and "prefill" not in manifest["metadata"]["name"]
            and "decode" not in manifest["metadata"]["name"]
        )
        return {} if is_it else arrivals.running(manifest)

    ready, said = state(after(SPLIT, without))
    assert not ready
    assert said.startswith(f"False RouteNotAccepted: Waiting for {kind}")


def test_another_gateways_word_is_not_ours() -> None:
    def foreign(manifest: Any) -> Any:
        status = arrivals.running(manifest)
        for parent in status.get("parents", ()):
            parent["parentRef"] = {"name": "another"}
        return status

    assert state(after(TWO, foreign))[1].startswith("False RouteNotAccepted")


# An edit


def edited(**spec: Any) -> Any:
    return replicas.replica(replicas.engine("qwen", replicas.member("Qwen/Qwen3-8B", **spec), copies=2))


def test_an_edit_takes_no_traffic_away() -> None:
    before = passed(TWO, arrivals.running)
    result = replicas.compose(arrivals.edited(before, edited(image="vllm/vllm-openai:v0.34.0")))
    assert state(result) == (
        False,
        "True Degraded: The replica serves; engine qwen: 0 of 2 copies run the current spec",
    )
    assert replicas.said(result, "ModelAccepted").startswith("False Deploying: Waiting for 5 objects to arrive")


def test_an_edit_that_the_cluster_refuses_is_quoted_and_takes_no_traffic_away() -> None:
    before = passed(TWO, arrivals.running)
    error = "cannot apply object:\n  admission webhook denied it: " + "no " * 400
    failed = [{"type": "Synced", "status": "False", "message": error}, {"type": "Ready", "status": "True"}]
    workload = before.observed["deployment-qwen"]
    stuck = {**workload, "status": {**workload["status"], "conditions": failed}}
    request = replace(before, observed={**before.observed, "deployment-qwen": stuck})
    result = replicas.compose(arrivals.edited(request, edited(image="registry.example.org/denied:1")))
    assert state(result)[1].startswith(
        "True Degraded: The replica serves; engine qwen: 0 of 2 copies run the current spec "
        "(cannot apply object: admission webhook denied it: no no no"
    )
    assert len(state(result)[1]) < 400


def test_a_lost_connection_changes_neither_what_serves_nor_what_is_accepted() -> None:
    before = passed(TWO, arrivals.running)
    lost = [
        {"type": "Synced", "status": "False", "message": "connect: connection refused"},
        {"type": "Ready", "status": "True"},
    ]
    observed = {key: {**m, "status": {**m["status"], "conditions": lost}} for key, m in before.observed.items()}
    assert state(replicas.compose(replace(before, observed=observed))) == (True, "True Serving: Every engine serves")


def test_a_cluster_that_does_not_answer_is_told_in_words_that_do_not_change() -> None:
    """The provider's own have a port in them that differs from try to try."""
    before = passed(TWO, copies(1, 2))
    error = 'Get "https://203.0.113.1": dial tcp 10.0.0.1:53124->203.0.113.1:443: connect: connection refused'
    lost = [{"type": "Synced", "status": "False", "message": error}]
    observed = {key: {**m, "status": {**m["status"], "conditions": lost}} for key, m in before.observed.items()}
    said = state(replicas.compose(replace(before, observed=observed)))[1]
    assert "run the current spec (the cluster does not answer: connection refused)" in said
    assert "53124" not in said


def test_with_nothing_composed_a_hold_is_never_ready() -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    assert not replicas.compose(Request(xr={**TWO, "status": ready}), replicas.cluster("cpu")).ready


def test_what_the_cluster_says_of_a_deployment_is_quoted() -> None:
    def quota(manifest: Any) -> Any:
        failure = [{"type": "ReplicaFailure", "status": "True", "message": 'pods "x" is forbidden: exceeded quota'}]
        return (
            {**arrivals.starting(manifest), "conditions": failure}
            if manifest["kind"] == "Deployment"
            else arrivals.starting(manifest)
        )

    assert state(after(TWO, quota))[1].endswith('port 8000: pods "x" is forbidden: exceeded quota')


def test_applied_but_not_on_the_cluster_is_not_accepted() -> None:
    before = passed(TWO, arrivals.running)
    empty = {key: {**m, "status": {"conditions": m["status"]["conditions"]}} for key, m in before.observed.items()}
    result = replicas.compose(replace(before, observed=empty))
    assert replicas.said(result, "ModelAccepted").startswith("False Deploying: Waiting for 5 objects to arrive")


def test_scaling_copies_changes_nothing_else() -> None:
    one, two = (replicas.manifests(replicas.compose(replicas.replica(replicas.engine(copies=n)))) for n in (1, 2))
    changed = {key for key in one if one[key] != two[key]}
    assert one.keys() == two.keys()
    assert changed == {"deployment-qwen"}
    assert one["deployment-qwen"]["spec"] == {**two["deployment-qwen"]["spec"], "replicas": 1}


# Old and new


def test_an_old_claim_template_leaves_once_its_successor_is_in_use() -> None:
    more = {**replicas.GPU, "count": 2}
    before = passed(TWO, arrivals.running)
    old = next(key for key in before.observed if key.startswith("claims-"))
    rolling = replicas.compose(arrivals.edited(before, edited(claims=(more,))))
    assert old in rolling.resources
    assert len([key for key in rolling.resources if key.startswith("claims-")]) == 2

    request = arrivals.edited(before, edited(claims=(more,)))
    half = replicas.compose(arrivals.again(request, rolling, copies(2, 1)))
    assert old in half.resources
    assert not half.ready

    done = replicas.compose(arrivals.again(request, half, arrivals.running))
    assert old not in done.resources
    assert done.ready


def test_an_engine_that_is_taken_out_leaves_at_once() -> None:
    both = replicas.replica(replicas.engine("a"), replicas.engine("b"))
    before = passed(both, arrivals.running)
    result = replicas.compose(arrivals.edited(before, replicas.replica(replicas.engine("a"))))
    assert "deployment-b" not in result.resources
    assert "deployment-a" in result.resources


def test_an_engine_that_becomes_a_gang_makes_room_for_it() -> None:
    """The nodes of the one are those of the other."""
    before = passed(TWO, arrivals.running)
    result = replicas.compose(arrivals.edited(before, GANG))
    assert [key for key in result.resources if key.endswith("-qwen")] == ["leaderworkerset-qwen"]


# Holding


HELD: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "an invalid spec": (replicas.replica(replicas.engine(copies=0)), (), "InvalidSpec"),
    "a cluster that is not set up": (
        TWO,
        ({**replicas.cluster(), "status": {}},),
        "WaitingForCluster",
    ),
    "a pool that is not published": (TWO, (replicas.cluster("cpu"),), "WaitingForCluster"),
    "weights that are not staged": (
        replicas.replica(replicas.engine(copies=2), modelCacheRef={"name": "weights"}),
        (replicas.cache(staged=None),),
        "WaitingForCache",
    ),
    "a cache that is not there": (
        replicas.replica(replicas.engine(copies=2), modelCacheRef={"name": "weights"}),
        (),
        "WaitingForCache",
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_what_runs_is_held_and_still_serves(name: str) -> None:
    xr, objects, reason = HELD[name]
    before = steady(TWO)
    result = replicas.compose(arrivals.edited(before, xr), *objects)
    assert result.resources.keys() == before.observed.keys()
    assert replicas.said(result, "ModelAccepted").split()[1] == f"{reason}:"
    is_refused = reason == "InvalidSpec"
    assert state(result) == (not is_refused, "True Serving: Every engine serves")
    assert (result.status["served"], result.status["serving"]) == (True, True)


def test_while_held_a_lost_copy_is_told() -> None:
    before = passed(TWO, copies(0, 2))
    ready = {**before.xr["status"], "conditions": [{"type": "Ready", "status": "True"}]}
    result = replicas.compose(replace(before, xr={**before.xr, "status": ready}), replicas.cluster("cpu"))
    assert state(result)[0] is False
    assert state(result)[1].startswith("False ModelStarting: engine qwen: 0 of 2")


# Once served


def test_served_is_never_taken_back() -> None:
    served = passed(TWO, arrivals.running)
    assert after(TWO, arrivals.running).status["served"] is True
    down = arrivals.again(served, replicas.compose(served), copies(0, 2))
    result = replicas.compose(down)
    assert state(result)[1].startswith("False ModelStarting")
    assert result.status["served"] is True


def test_never_served_is_not_said() -> None:
    assert "served" not in after(TWO, arrivals.starting).status


def test_status_names_every_workload() -> None:
    result = after(replicas.replica(replicas.gang("a"), replicas.engine("b")), arrivals.running)
    got = [(w["engine"], w["kind"], w["namespace"], w["ready"]) for w in result.status["workloads"]]
    assert got == [("b", "Deployment", "ml", True), ("a", "LeaderWorkerSet", "ml", True)]


def test_no_namespace_is_ever_deleted() -> None:
    policies = {
        key: dig(r.manifest, "spec", "managementPolicies") for key, r in replicas.compose(TWO).resources.items()
    }
    assert "Delete" not in policies.pop("namespace")
    assert set(policies.values()) == {None}
