"""An observation tells of each pool what its nodes are, what they have, who holds it, and where the class is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function.observe import declaration, inventory, observation
from tests.support.observed import (
    ENTRY,
    H100,
    Object,
    claim,
    declared,
    device,
    gpus,
    node,
    pod,
    resource_slice,
    snapshot,
)

GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
OWN_TAINT = {"key": "team", "value": "ml", "effect": "NoSchedule"}


def observed(declared_: Object | None = None, **objects: Any) -> dict[str, Any]:
    has = inventory.of(snapshot(**objects))
    return observation.observed(has, declaration.of(declared_ or declared()))


def pool(declared_: Object | None = None, **objects: Any) -> dict[str, Any]:
    found: dict[str, Any] = observed(declared_, **objects)["pools"]["h100"]
    return found


def only(declared_: Object | None = None, **objects: Any) -> dict[str, Any]:
    (record,) = pool(declared_, **objects)["nodes"]
    return dict(record)


@pytest.mark.parametrize(
    ("given", "state", "taint"),
    [
        (node("a"), "Ready", None),
        (node("a", ready=False), "NotReady", None),
        (node("a", ready=False, cordoned=True, taints=[OWN_TAINT]), "NotReady", None),
        (node("a", cordoned=True, taints=[OWN_TAINT]), "Cordoned", None),
        (node("a", taints=[OWN_TAINT]), "Tainted", "team=ml:NoSchedule"),
        (node("a", taints=[{"key": "x", "effect": "NoExecute"}]), "Tainted", "x:NoExecute"),
        (node("a", taints=[{"key": "x", "effect": "PreferNoSchedule"}]), "Ready", None),
        (node("a", taints=[GPU_TAINT]), "Ready", None),
        (node("a", taints=[{**GPU_TAINT, "effect": "NoExecute"}]), "Tainted", "nvidia.com/gpu=present:NoExecute"),
        (node("a", taints=[{"key": "amd.com/gpu", "effect": "NoSchedule"}]), "Tainted", "amd.com/gpu:NoSchedule"),
    ],
)
def test_the_first_state_that_applies_is_told(given: Object, state: str, taint: str | None) -> None:
    got = only(nodes=[given])

    assert (got["state"], got.get("taint")) == (state, taint)


@pytest.mark.parametrize(
    ("taints", "state"),
    [
        ([OWN_TAINT], "Ready"),
        ([{"key": "team", "effect": "NoSchedule"}], "Ready"),
        ([{**OWN_TAINT, "value": "other"}], "Tainted"),
        ([{**OWN_TAINT, "effect": "NoExecute"}], "Tainted"),
    ],
)
def test_declared_taints_keep_no_replica_off(taints: list[Object], state: str) -> None:
    assert only(declared(taints=taints), nodes=[node("a", taints=[OWN_TAINT])])["state"] == state


def test_like_nodes_share_a_record() -> None:
    got = pool(
        nodes=[node("b"), node("a"), node("c", cordoned=True), node("other", "t4"), node("none", None)],
        slices=[resource_slice(name, gpus(8)) for name in "abc"],
    )["nodes"]

    assert [(one["names"], one["count"], one["state"]) for one in got] == [
        (["a", "b"], 2, "Ready"),
        (["c"], 1, "Cordoned"),
    ]


def test_devices_are_held_by_our_engines_or_by_others() -> None:
    got = only(
        nodes=[node("a")],
        slices=[resource_slice("a", gpus(8))],
        claims=[
            claim("one", "a", ["gpu-0", "gpu-1"], "llama-0"),
            claim("two", "a", ["gpu-2"], "llama-1"),
            claim("three", "a", ["gpu-3"], "notebook"),
            claim("orphan", "a", ["gpu-4"], "gone"),
            claim("same-name", "a", ["gpu-5"], "llama-0", namespace="other-team"),
        ],
        pods=[pod("llama-0", "a", "llama"), pod("llama-1", "a", "llama"), pod("notebook", "a")],
    )

    assert (got["devices"], got["foreign"]) == ({"gpu": 8}, {"gpu": 3})
    assert (got["ours"], got["pods"]) == ({"ml-team/llama": {"gpu": 3}}, {"ml-team/llama": 2})


def test_a_device_that_is_only_administered_is_not_held() -> None:
    monitor = claim("monitor", "a", ["gpu-0"], "dcgm")
    monitor["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True

    assert "foreign" not in only(nodes=[node("a")], slices=[resource_slice("a", gpus(8))], claims=[monitor])


def test_a_device_that_several_claims_share_is_ours_only_if_all_are() -> None:
    shared = [claim("one", "a", ["gpu-0"], "llama-0"), claim("two", "a", ["gpu-0"], "notebook")]
    pods = [pod("llama-0", "a", "llama"), pod("notebook", "a")]

    got = only(nodes=[node("a")], slices=[resource_slice("a", gpus(8))], claims=shared, pods=pods)

    assert (got.get("foreign"), got.get("ours")) == ({"gpu": 1}, None)


def test_requests_are_those_of_pods_that_are_not_ours() -> None:
    ended = pod("done", "a", status={"phase": "Succeeded"})
    got = only(
        nodes=[node("a", allocatable={"cpu": "189500m", "memory": "1Ti"})],
        pods=[pod("llama-0", "a", "llama"), pod("x", "a", cpu="250m"), pod("y", "a", memory="100Mi"), ended, pod("z")],
    )

    assert got["requested"] == {"cpu": "1250m", "memory": "1124Mi", "ephemeral-storage": "0"}
    assert got["oursRequested"] == {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "0"}
    assert got["allocatable"] == {"cpu": "189500m", "memory": "1Ti", "ephemeral-storage": "0"}


def test_an_engine_pod_that_failed_holds_nothing() -> None:
    got = only(nodes=[node("a")], pods=[pod("llama-0", "a", "llama", status={"phase": "Failed"})])

    assert "pods" not in got


# Devices


def test_facts_are_equal_by_value() -> None:
    spelled = [device("gpu-0", {"gpu.nvidia.com/productName": H100["productName"], "type": "gpu"}, "81920Mi")]

    got = pool(declared({**ENTRY, "count": 1}), nodes=[node("a")], slices=[resource_slice("a", spelled)])

    assert (got["differs"], got["counts"], got["unknown"], got["published"]) == ([], [], [], {})


def test_a_class_that_differs_is_told_with_both_values_and_what_is_published() -> None:
    published = gpus(8, "81559Mi", {"productName": "NVIDIA H100 80GB HBM3"})

    got = pool(nodes=[node("a"), node("b")], slices=[resource_slice(name, published) for name in "ab"])

    assert got["differs"] == [
        {"device": "gpu", "fact": "attribute type", "declared": "gpu", "published": None, "nodes": 2},
        {"device": "gpu", "fact": "capacity memory", "declared": "80Gi", "published": "81559Mi", "nodes": 2},
    ]
    assert got["published"] == {
        "gpu": {
            "attributes": {"productName": {"string": "NVIDIA H100 80GB HBM3"}},
            "capacity": {"memory": {"value": "81559Mi"}},
        }
    }
    assert got["nodes"][0]["devices"] == {"gpu": 8}


def test_what_most_nodes_publish_comes_first() -> None:
    slices = [resource_slice("a", gpus(8, "79Gi")), *(resource_slice(name, gpus(8, "78Gi")) for name in "bc")]

    got = pool(nodes=[node(name) for name in "abc"], slices=slices)

    assert [(one["published"], one["nodes"]) for one in got["differs"]] == [("78Gi", 2), ("79Gi", 1)]
    assert got["published"]["gpu"]["capacity"] == {"memory": {"value": "78Gi"}}


def test_values_of_different_types_are_told_with_their_types() -> None:
    entry = {**ENTRY, "count": 1, "attributes": {"cores": {"int": 8}, "ecc": {"bool": True}}, "capacity": {}}
    published = [device("gpu-0", {"cores": "8", "ecc": {"bool": False}})]

    got = pool(declared(entry), nodes=[node("a")], slices=[resource_slice("a", published)])

    assert [(one["declared"], one["published"]) for one in got["differs"]] == [("int 8", "string 8"), ("true", "false")]


@pytest.mark.parametrize("count", [0, 7, 9])
def test_another_number_of_devices_is_told(count: int) -> None:
    got = pool(nodes=[node("a"), node("b")], slices=[resource_slice("a", gpus(count)), resource_slice("b", gpus(8))])

    assert got["counts"] == [{"device": "gpu", "declared": 8, "published": count, "nodes": 1}]


def test_partitions_beside_their_gpus_are_unknown_and_no_difference() -> None:
    slices = [device(f"gpu-0-mig-{i}", {**H100, "type": "mig", "profile": "1g.10gb"}, "10Gi") for i in range(7)]

    got = pool(nodes=[node("a")], slices=[resource_slice("a", [*gpus(8), *slices])])

    assert (got["differs"], got["counts"]) == ([], [])
    assert got["unknown"] == [{"driver": "gpu.nvidia.com", "device": "gpu-0-mig-0", "count": 7, "nodes": 1}]


def test_each_device_belongs_to_the_entry_that_it_comes_nearest_to() -> None:
    small = {**ENTRY, "name": "small", "count": 1, "attributes": {"productName": {"string": "A"}}, "capacity": {}}
    large = {**ENTRY, "name": "large", "count": 1, "capacity": {"memory": {"value": "80Gi"}},
             "attributes": {"productName": {"string": "B"}, "type": {"string": "gpu"}}}  # fmt: skip
    published = [device("gpu-0", {"productName": "A"}), device("gpu-1", {"productName": "B", "type": "vgpu"})]

    got = pool(declared(small, large), nodes=[node("a")], slices=[resource_slice("a", published)])

    assert got["nodes"][0]["devices"] == {"large": 1, "small": 1}
    assert [(one["device"], one["fact"]) for one in got["differs"]] == [("large", "attribute type")]


def test_devices_of_a_driver_without_an_entry_are_unknown() -> None:
    nics = resource_slice("a", [device("rdma1", {}), device("rdma0", {})], "dra.net")

    got = pool(nodes=[node("a")], slices=[resource_slice("a", gpus(8)), nics])

    assert got["unknown"] == [{"driver": "dra.net", "device": "rdma0", "count": 2, "nodes": 1}]


def test_synthetic_devices_are_published_by_nobody() -> None:
    got = pool(declared({**ENTRY, "claim": "Synthetic"}), nodes=[node("a")])

    assert (got["counts"], got["nodes"][0]["devices"]) == ([], {})


def test_only_the_newest_generation_counts_and_only_when_it_is_complete() -> None:
    old = resource_slice("a", gpus(8), name="old", generation=1)
    half = resource_slice("a", gpus(4), name="half", generation=2, count=2)
    rest = resource_slice("a", [device(f"gpu-{i}") for i in range(4, 8)], name="rest", generation=2, count=2)

    assert only(nodes=[node("a")], slices=[old, half])["devices"] == {}
    assert only(nodes=[node("a")], slices=[old, half, rest])["devices"] == {"gpu": 8}


def test_a_device_with_a_taint_cannot_be_claimed_and_does_not_count() -> None:
    broken = device("gpu-7", taints=[{"key": "gpu.nvidia.com/unhealthy", "effect": "NoExecute"}])

    assert only(nodes=[node("a")], slices=[resource_slice("a", [*gpus(7), broken])])["devices"] == {"gpu": 7}


def test_nodes_with_devices_and_without_a_pool_are_named() -> None:
    names = [f"n{i}" for i in range(9)]

    got = observed(
        nodes=[node(name, None) for name in [*names, "cpu"]], slices=[resource_slice(n, gpus(1)) for n in names]
    )

    assert (got["unassigned"], got["pools"]["h100"]["nodes"]) == (names[:8], [])


def test_the_text_does_not_depend_on_the_order_of_what_is_read() -> None:
    nodes = [node(name, cordoned=name == "b") for name in "abcd"]
    slices = [
        resource_slice(name, gpus(8, memory))
        for name, memory in zip("abcd", ("80Gi", "79Gi", "79Gi", "78Gi"), strict=True)
    ]
    claims = [claim(f"c{i}", "a", [f"gpu-{i}"], f"p{i}") for i in range(4)]
    pods = [pod(f"p{i}", "a", f"w{i % 2}") for i in range(4)]

    one = observed(nodes=nodes, slices=slices, claims=claims, pods=pods)
    other = observed(nodes=nodes[::-1], slices=slices[::-1], claims=claims[::-1], pods=pods[::-1])

    assert json.dumps(one) == json.dumps(other)


# Declarations


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "version must be 1, not None"),
        ({"version": 2}, "version must be 1, not 2"),
        ({"version": 1}, "cluster must be the name of an InferenceCluster"),
        ({"version": 1, "cluster": "c"}, "pools must be a map of at most 64 pools by their names"),
        ({"version": 1, "cluster": "c", "pools": {"p": 1}}, "pools.p.devices must be a list of at most 64 devices"),
        (
            {"version": 1, "cluster": "c", "pools": {"p": {"devices": [{}]}}},
            "pools.p.devices[0] must have a name and a driver",
        ),
        (declared({**ENTRY, "count": "8"}), "pools.h100.devices[0].count must be a number from 1 to 1024"),
        ([], "version must be 1, not None"),
    ],
)
def test_a_malformed_declaration_says_what_is_wrong(given: Any, problem: str) -> None:
    with pytest.raises(declaration.MalformedDeclaration) as raised:
        declaration.of(given)

    assert str(raised.value) == problem


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "data has no declared.json"),
        ({"declared.json": "{"}, "declared.json is not JSON"),
        ({"declared.json": "[" * 100_000}, "declared.json is not JSON"),
        ({"declared.json": "x" * 2_000_000}, "declared.json has 2,000,000 characters, and 1,048,576 is the most"),
    ],
)
def test_a_config_map_that_declares_nothing_says_so(data: Any, problem: str) -> None:
    with pytest.raises(declaration.MalformedDeclaration) as raised:
        declaration.read({"data": data})

    assert str(raised.value).startswith(problem)
