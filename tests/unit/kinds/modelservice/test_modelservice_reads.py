"""What a service reads: in stages, and of specs that may be anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from function import registry
from function.core import Manifest, Request
from function.kinds.modelservice import reads
from function.sandbox.settle import resolve
from function.vocabulary import labels, names
from tests.support import services as s

XR = s.service(s.of_deployment("qwen"))
GATEWAY = [["gateway InferenceGateway default None"]]
NAMED = [f"c{i}" for i in range(3)]


def lines(request: Request) -> list[str]:
    """What is required, after what is required in the first stage."""
    return [
        f"{r.name} {r.kind} {r.match_name or dict(r.match_labels)} {r.namespace}" for r in reads.requirements(request)
    ]


def stages(xr: Manifest, world: list[Manifest]) -> list[list[str]]:
    """What each call of a first reconcile adds to what is required."""
    request, found, before = Request(xr=xr), [], []
    while (now := lines(request)) != before:
        assert now[: len(before)] == before
        found.append(now[len(before) :])
        request, before = replace(request, required=resolve(reads.requirements(request), world)), now
    return found


def fleet(*lost: str) -> tuple[list[dict[str, Any]], list[Manifest]]:
    """Two endpoints on each cluster, and everything there is to find."""
    endpoints = [s.endpoint(f"{cluster}-{i}", cluster) for cluster in NAMED for i in range(2)]
    probes = [s.probe(cluster, lost=cluster in lost) for cluster in NAMED]
    objects = [
        s.object_of(one, lost=one["metadata"]["labels"][labels.CLUSTER] in lost, part=part)
        for one in endpoints
        for part in ("route", "service")
    ]
    return endpoints, [s.GATEWAY, *endpoints, *probes, *objects]


# Stages


def test_while_all_clusters_answer_no_object_of_a_replica_is_read() -> None:
    _, world = fleet()
    assert stages(XR, world) == [
        [
            "gateway InferenceGateway default None",
            f"endpoints-0 ModelEndpoint {{'{labels.DEPLOYMENT}': 'qwen'}} ml-team",
        ],
        [f"probe-{cluster} Object {names.probe(cluster)} modelplane-system" for cluster in NAMED],
    ]


def test_the_objects_of_a_cluster_are_read_if_its_probe_reports_no_answer() -> None:
    _, world = fleet("c1")
    match = {labels.DEPLOYMENT: "qwen", labels.CLUSTER: "c1"}
    assert stages(XR, world)[2:] == [[f"objects-qwen/c1 Object {match} ml-team"]]


def test_a_lost_cluster_of_two_deployments_is_asked_about_once_for_each() -> None:
    endpoints = [s.endpoint(f"{d}-{i}", "c0", deployment=d, team="x") for d in ("a", "b") for i in range(20)]
    world = [s.GATEWAY, *endpoints, s.probe("c0", lost=True)]
    got = stages(s.service({"team": "x"}), world)
    assert [[line.split()[0] for line in stage] for stage in got[1:]] == [
        ["probe-c0"],
        ["objects-a/c0", "objects-b/c0"],
    ]


@pytest.mark.parametrize(
    "endpoint",
    [
        s.endpoint("of-a-provider", deployment="qwen"),
        s.endpoint("not-ready", "c0", ready=False),
        s.endpoint("leaving", "c0", leaving=True),
        {**s.endpoint("going", "c0"), "metadata": {**s.endpoint("going", "c0")["metadata"], "deletionTimestamp": "t"}},
        s.endpoint("odd", "c0", **{labels.CLUSTER: 7}),  # type: ignore[arg-type]
    ],
    ids=lambda one: one["metadata"]["name"],
)
def test_a_cluster_that_keeps_no_endpoint_from_traffic_is_not_asked_about(endpoint: Manifest) -> None:
    assert len(stages(XR, [s.GATEWAY, endpoint, s.probe("c0", lost=True)])) == 1


def test_a_label_that_the_endpoint_lacks_does_not_narrow_its_objects() -> None:
    world = [s.GATEWAY, s.endpoint("own", "c0", deployment="", team="x"), s.probe("c0", lost=True)]
    assert stages(s.service({"team": "x"}), world)[2] == [f"objects-/c0 Object {{'{labels.CLUSTER}': 'c0'}} ml-team"]


def test_a_probe_is_read_by_the_name_that_its_cluster_gives_it() -> None:
    """Of the longest name that a cluster can have, too: its label is the whole name."""
    longest = "c" * names.DNS_LABEL
    world = [s.GATEWAY, s.endpoint("e", names.label_value(longest)), s.probe(longest, lost=True)]
    assert stages(XR, world)[2] == [
        f"objects-qwen/{longest} Object {{'{labels.DEPLOYMENT}': 'qwen', '{labels.CLUSTER}': '{longest}'}} ml-team"
    ]


def test_names_of_requirements_are_unique_whatever_the_labels() -> None:
    pairs = [("a-b", "c"), ("a", "b-c"), ("a.b", "c"), ("a", "b.c"), ("", "a-b"), ("a_b", "c")]
    endpoints = [s.endpoint(f"e{i}", c, deployment=d, team="x") for i, (d, c) in enumerate(pairs)]
    probes = [s.probe(cluster, lost=True) for cluster in {cluster for _, cluster in pairs}]
    got = stages(s.service({"team": "x"}), [s.GATEWAY, *endpoints, *probes])
    assert len({line.split()[0] for line in got[2]}) == len(pairs)


def test_a_stage_waits_for_all_of_the_one_before() -> None:
    """What an earlier reconcile has left is ignored: the probe of a cluster, while not all endpoints are known."""
    _, world = fleet("c1")
    request = Request(xr=s.service(s.of_deployment("qwen"), {"team": "x"}))
    asked = reads.requirements(request)
    for missing in asked:
        found = resolve([r for r in (*asked, reads.probe("c1")) if r != missing], world)
        assert reads.requirements(replace(request, required=found)) == asked


def test_objects_wait_for_the_probes_of_all_clusters() -> None:
    _, world = fleet("c1")
    first = Request(xr=XR, required=resolve([reads.GATEWAY, *reads.endpoints(Request(xr=XR))], world))
    second = reads.requirements(first)
    found = resolve([r for r in second if r.name != "probe-c2"], world)
    assert reads.requirements(replace(first, required=found)) == second


def test_an_endpoint_that_comes_between_two_calls_is_waited_for() -> None:
    endpoints, world = fleet()
    request = s.routing_to(*endpoints, xr=XR)
    found = resolve(s.reconciled(request, world).requirements, world)
    late = s.endpoint("late", "c9")

    result = registry.compose(replace(request, required={**found, "endpoints-0": (*endpoints, late)}))

    assert s.asked(result) == {*found, "probe-c9"}
    assert s.routed(result) == {one["metadata"]["name"] for one in endpoints}
    assert "Crossplane has not looked up the probe of cluster c9 yet" in [c.message for c in result.conditions]


def test_the_probe_of_an_endpoint_that_goes_between_two_calls_is_not_asked_for() -> None:
    endpoints, world = fleet()
    request = s.routing_to(*endpoints, xr=XR)
    found = resolve(s.reconciled(request, world).requirements, world)
    result = registry.compose(replace(request, required={**found, "endpoints-0": tuple(endpoints[2:])}))
    assert s.asked(result) == found.keys() - {"probe-c0"}
    assert s.routed(result) == {one["metadata"]["name"] for one in endpoints[2:]}


def test_what_is_waited_for_is_said() -> None:
    _, world = fleet("c1")
    request, said = Request(xr=XR), []
    for _ in range(3):
        result = registry.compose(request)
        said += [c.message for c in result.conditions if c.reason == "Configuring"]
        request = replace(request, required=resolve(result.requirements, world))
    assert said == [
        "Crossplane has not looked up InferenceGateway default yet",
        f"Crossplane has not looked up {', '.join(f'the probe of cluster {cluster}' for cluster in NAMED)} yet",
        "Crossplane has not looked up Objects with modelplane.ai/cluster=c1,modelplane.ai/deployment=qwen yet",
    ]


# Growth


def test_what_is_read_does_not_grow_with_the_fleet() -> None:
    """Ten times the clusters, endpoints and Objects that are none of the service's: the same is read."""

    def read(others: int) -> int:
        _, world = fleet("c1")
        strangers = [s.endpoint(f"o{i}", f"o{i}", deployment=f"other-{i}") for i in range(others)]
        clusters = [s.probe(f"o{i}", lost=True) for i in range(others)]
        more = [s.object_of(one, lost=True) for one in strangers]
        also = [s.object_of(s.endpoint(f"o{i}", "c1", deployment="other"), lost=True) for i in range(others)]
        world = [*world, *strangers, *clusters, *more, *also]
        result = s.reconciled(Request(xr=XR), world)
        return sum(map(len, resolve(result.requirements, world).values()))

    assert read(30) == read(3) == 1 + 6 + 3 + 4


# Specs that may be anything


@pytest.mark.parametrize("selector", [7, {}, {"matchLabels": {}}, {"matchLabels": {"a": 7}}])
def test_a_selector_that_selects_nothing_asks_for_no_endpoints(selector: Any) -> None:
    assert stages({**XR, "spec": {"endpoints": [{"selector": selector}]}}, fleet()[1]) == GATEWAY


@pytest.mark.parametrize("endpoints", [None, 7, "x", [7], [{}]])
def test_a_spec_that_selects_nothing_asks_for_no_endpoints(endpoints: Any) -> None:
    assert stages({**XR, "spec": {"endpoints": endpoints}}, fleet()[1]) == GATEWAY
