"""status.allocations of pools whose nodes are shared: devices are counted, and a number is always published."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.fleet import clusters
from function.fleet.clusters import are_taken
from function.kinds.inferencecluster.allocations import allocations
from function.scheduling import Hint
from function.vocabulary import labels
from tests.support.replicas import engine, member, replica

GPU = {"name": "gpu", "claim": "DRA", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com", "count": 8}
POOL = {"name": "h100", "nodes": 2, "sharing": "Devices", "devices": [GPU]}
MOST = 2**31 - 1


def on(pool: str = "h100", count: Any = 1, copies: Any = 1, selectors: Any = (), **fields: Any) -> dict[str, Any]:
    asked = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": count}
    chosen = {"selectors": [{"cel": text} for text in selectors]} if isinstance(selectors, tuple) else {}
    parts = member(pool=pool, claims=({**asked, **chosen, **fields.pop("request", {})},), **fields)
    return replica(engine("qwen", parts, copies=copies))


def published(*replicas: dict[str, Any], pool: dict[str, Any] = POOL) -> dict[str, Any]:
    [entry] = allocations([pool], replicas)
    return entry


def rows(*pairs: tuple[int, int]) -> list[dict[str, int]]:
    return [{"count": size, "pods": pods} for size, pods in pairs]


def test_devices_are_counted_and_not_nodes() -> None:
    assert published(*[on()] * 3) == {
        "pool": "h100",
        "nodes": 2,
        "free": 0,
        "devices": [{"name": "gpu", "total": 16, "free": 13, "guaranteed": rows((8, 0), (4, 2), (2, 6), (1, 13))}],
    }


def test_a_pool_of_whole_nodes_beside_it_is_counted_as_before() -> None:
    pools = [POOL, {"name": "l4", "nodes": 3, "devices": [{**GPU, "count": 1}]}]

    found = allocations(pools, [on(), on("l4", copies=2)])

    assert found[1] == {"pool": "l4", "nodes": 3, "free": 1}
    assert found[0]["devices"][0]["free"] == 15


def test_bounds_are_published_where_cpu_is_counted() -> None:
    entry = published(on(), pool={**POOL, "node": {"cpu": "64"}})

    assert entry["atMost"] == rows((8, 1), (4, 3), (2, 7), (1, 15))


def test_a_pod_that_may_be_placed_on_the_nodes_as_they_are_is_hidden_by_no_bound() -> None:
    [entry] = allocations([POOL], [on()] * 3, is_placement=True)

    assert entry["devices"] == published(*[on()] * 3)["devices"]
    assert entry["atMost"] == rows((8, 1), (4, 3), (2, 6), (1, 13))


def test_pods_that_request_no_device_are_counted_by_their_cpu() -> None:
    busy = replica(engine("qwen", member(pool="h100", claims=(), resources={"requests": {"cpu": "63"}}), copies=2))
    entry = published(busy, pool={**POOL, "node": {"cpu": "64"}})

    assert (entry["free"], entry["devices"][0]["free"]) == (2, 16)


def test_a_replica_that_grows_is_counted_with_the_larger_of_its_specs() -> None:
    grown = on(count=4)
    former = {"spec": on(count=6)["spec"], "specHash": "old"}
    grown["metadata"]["annotations"][labels.FORMER_SPEC] = json.dumps(former)
    grown["status"] = {"served": True}

    assert published(grown)["devices"][0]["free"] == 16 - 6


def test_what_is_published_is_read_as_a_hint() -> None:
    status = {"gpuPools": [POOL], "allocations": [published(on())]}
    manifest = {"metadata": {"name": "east"}, "status": status}

    assert clusters.free(manifest) == {"h100": Hint(((1, 15), (2, 7), (4, 3), (8, 1)), 15)}


def test_a_hint_goes_by_the_bounds_where_there_are_some() -> None:
    entry = {**published(on()), "atMost": rows((1, 9))}
    manifest = {"metadata": {"name": "east"}, "status": {"gpuPools": [POOL], "allocations": [entry]}}

    assert clusters.free(manifest) == {"h100": Hint(((1, 9),), 15)}


def test_selectors_choose_among_entries_of_one_device_class() -> None:
    entries = [
        {**GPU, "name": name, "count": 2, "attributes": {"productName": {"string": name}}} for name in ("big", "small")
    ]
    small = on(selectors=('device.attributes["gpu.nvidia.com"].productName == "small"',))

    found = published(small, pool={**POOL, "devices": entries})

    assert [(d["name"], d["free"]) for d in found["devices"]] == [("big", 4), ("small", 3)]
    assert found["atMost"] == rows((4, 1), (2, 3), (1, 7))


# Bounded


def test_selectors_that_cost_too_much_are_taken_to_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("function.kinds.inferencecluster.allocations._MOST_SPENT", 1)
    two = [on(selectors=('device.driver == "gpu.nvidia.com"',)), on(selectors=('device.driver != "x"',))]

    assert published(*two) == {
        "pool": "h100",
        "nodes": 2,
        "free": 0,
        "devices": [{"name": "gpu", "total": 16, "free": 14}],
    }


def test_a_pool_with_nothing_guaranteed_is_taken_for_free() -> None:
    entry = {**published(on()), "devices": [{"name": "gpu", "total": 16, "free": 14}]}

    assert clusters.free({"metadata": {"name": "e"}, "status": {"gpuPools": [POOL], "allocations": [entry]}}) is None
    assert are_taken([{**entry, "free": 2}])


def test_thousands_of_replicas_are_counted() -> None:
    entry = published(*[on(count=1 + i % 4) for i in range(2_000)], pool={**POOL, "nodes": 1_000})

    assert entry["devices"][0]["free"] == 8_000 - 5_000
    assert entry["devices"][0]["guaranteed"][-1] == {"count": 1, "pods": 3}, "one more may keep a pod of 4 off"


JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([10**400, -(10**400), "9" * 5000, "", "x", "2", [], {}, [[]], {"a": 1}])
)
DEVICES = st.fixed_dictionaries({**{key: st.just(value) for key, value in GPU.items()}, "count": JUNK | st.just(8)})
POOLS = st.fixed_dictionaries(
    {"name": st.just("h100"), "sharing": st.just("Devices")},
    optional={"nodes": JUNK, "devices": st.lists(DEVICES, max_size=2) | JUNK, "node": JUNK},
)


@given(POOLS, JUNK, JUNK, JUNK)
def test_numbers_are_those_that_an_api_server_stores(pool: Any, count: Any, copies: Any, selectors: Any) -> None:
    entry = published(on(count=count, copies=copies, request={"selectors": selectors}), pool=pool)

    assert 0 <= entry["free"] <= entry["nodes"] <= MOST
    for device in entry["devices"]:
        assert 0 <= device["free"] <= device["total"] <= MOST
        assert all(0 <= row["pods"] <= MOST for row in device.get("guaranteed", ()))
    assert all(0 <= row["pods"] <= MOST for row in entry.get("atMost", ()))
