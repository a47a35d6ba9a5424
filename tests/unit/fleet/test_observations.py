"""What an observer reports is read as values, or not believed at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.fleet import clusters, observations
from function.scheduling.observed import (
    CountDiffers,
    FactDiffers,
    Observation,
    ObservedNodes,
    ObservedPool,
    Unbelieved,
    UnknownDevices,
)
from function.vocabulary.observation import MOST_OBSERVED, NodeState
from tests.support.observations import FREE, capacity_object, nodes, observation, pool

GIB = 2**30


def report(*records: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return observation(pools={"h100": pool(*records, **fields)})


def read(told: Any) -> Observation | Unbelieved | None:
    return observations.read(capacity_object("c1", told))


def test_reads_nodes_with_what_they_have_and_who_holds_it() -> None:
    held = nodes("n3", state="Tainted", taint="maintenance:NoSchedule", foreign={"gpu": 1}, devices={"gpu": 8})
    held |= {"ours": {"ml/a": {"gpu": 3}}, "pods": {"ml/a": 1}}
    differs = [{"device": "gpu", "fact": "capacity memory", "declared": "80Gi", "published": None, "nodes": 3}]
    got = read(
        report(
            FREE,
            held,
            differs=differs,
            counts=[{"device": "gpu", "declared": 8, "published": 7, "nodes": 1}],
            unknown=[{"driver": "x", "device": "d0", "count": 2, "nodes": 3}],
            published={"gpu": {"attributes": {"a": {"bool": True}}, "capacity": {"memory": {"value": "79Gi"}}}},
            outOfStock="no capacity",
            left=4,
        )
    )
    has, takes = (190_000, 1900 * GIB, 1024 * GIB), (1_500, 10 * GIB, 0)
    want = ObservedPool(
        nodes=(
            ObservedNodes(names=("n1", "n2"), count=2, devices={"gpu": 8}, allocatable=has, requested=takes),
            ObservedNodes(
                names=("n3",),
                count=1,
                state=NodeState.TAINTED,
                taint="maintenance:NoSchedule",
                devices={"gpu": 8},
                foreign={"gpu": 1},
                ours={"ml/a": {"gpu": 3}},
                pods={"ml/a": 1},
                allocatable=has,
                requested=takes,
            ),
        ),
        left=4,
        out_of_stock="no capacity",
        differs=(FactDiffers("gpu", "capacity memory", "80Gi", None, 3),),
        counts=(CountDiffers("gpu", 8, 7, 1),),
        unknown=(UnknownDevices("x", "d0", 2, 3),),
        published={"gpu": {"attributes": {"a": {"bool": True}}, "capacity": {"memory": {"value": "79Gi"}}}},
    )
    assert got == Observation(cluster="c1", declared="0", pools={"h100": want})
    assert (want.number, want.truncated, want.nodes[1].free("gpu")) == (7, True, 4)
    assert want.engine_pods() == {"ml/a": 1}


def test_nothing_is_observed_before_the_object_brings_something_back() -> None:
    empty = capacity_object("c1", observation())
    del empty["status"]["atProvider"]
    assert observations.read(None) is None
    assert observations.read(empty) is None


def test_what_was_brought_back_is_kept_while_the_provider_cannot_read() -> None:
    kept = capacity_object("c1", report(FREE), synced=False)
    assert isinstance(observations.read(kept), Observation)
    assert observations.lost(kept) == "cannot get object: connection refused"
    assert observations.lost(capacity_object("c1", report(FREE))) is None


WRONG: list[tuple[Any, str]] = [
    ("", "must be JSON"),
    ("[" * 100_000, "must be JSON"),
    ('{"version": 1, "cluster": "\\ud800"}', "must be JSON"),
    ("x" * (MOST_OBSERVED + 1), "must have at most 262,144 bytes, not 262,145"),
    ("é" * (MOST_OBSERVED // 2 + 1), "must have at most 262,144 bytes, not 262,146"),
    ([], "the text must be an object, not []"),
    (observation(version=2), "version must be 1, not 2"),
    (observation(version=True), "version must be 1, not true"),
    (observation(missing=["events", "resourceslices"]), "the observer cannot read resourceslices"),
    (observation(pools=[]), "pools must be an object, not []"),
    (observation(cluster=""), "cluster must be a text of 1 to 253 characters, not "),
    (observation(pools={"a": None}), "pools.a must be an object, not null"),
    (observation(pools={"": pool()}), "a name in pools must be 1 to 253 characters, not "),
    (report(nodes(count=5_001)), "pools.h100.nodes[0].count must be a whole number from 1 to 5,000, not 5001"),
    (report(nodes(count=3_000), nodes(count=2_001)), "the number of nodes must be at most 5,000, not 5001"),
    (report(nodes("a", count=-1)), "pools.h100.nodes[0].count must be a whole number from 1 to 5,000, not -1"),
    (report(nodes("a", count=1.5)), "pools.h100.nodes[0].count must be a whole number from 1 to 5,000, not 1.5"),
    (report(nodes("a", "b", count=1)), "pools.h100.nodes[0].names must be at most 1 names, as count is, not 2"),
    (report(nodes("a"), nodes("a")), "node a is reported twice"),
    (report(nodes("")), "pools.h100.nodes[0].names[0] must be a text of 1 to 253 characters, not "),
    (
        report(nodes("a", state="Lost")),
        "pools.h100.nodes[0].state must be NotReady, Cordoned, Tainted, Ready, not Lost",
    ),
    (report(nodes("a", state=[])), "pools.h100.nodes[0].state must be NotReady, Cordoned, Tainted, Ready, not []"),
    (
        report(nodes("a", devices={"gpu": 65})),
        "pools.h100.nodes[0].devices.gpu must be a whole number from 0 to 64, not 65",
    ),
    (
        report(nodes("a", devices={"gpu": 1}, foreign={"gpu": 1}, ours={"n/w": {"gpu": 1}})),
        "pools.h100.nodes[0].devices.gpu must be at least 2, as claims hold, not 1",
    ),
    (
        report(nodes("a", requested={**FREE["requested"], "memory": "-1Gi"})),
        "pools.h100.nodes[0].requested.memory must be a quantity that a node can have, not -1Gi",
    ),
    (
        report(nodes("a", allocatable={**FREE["allocatable"], "memory": "9Ei"})),
        "pools.h100.nodes[0].allocatable.memory must be a quantity that a node can have, not 9Ei",
    ),
    (
        report(nodes("a", allocatable={"cpu": "1"})),
        "pools.h100.nodes[0].allocatable.memory must be a quantity that a node can have, not null",
    ),
    (report(published={"gpu": {"capacity": {"memory": "1"}}}), "pools.h100.published.gpu.capacity.memory must be an"),
]


@pytest.mark.parametrize(("told", "why"), WRONG)
def test_a_report_that_cannot_be_true_is_not_believed(told: Any, why: str) -> None:
    got = read(told)
    assert isinstance(got, Unbelieved)
    assert got.why.startswith(f"observed.json: {why}")
    assert len(got.why) < 512


def test_a_config_map_without_the_text_is_not_believed() -> None:
    wrong = capacity_object("c1", observation())
    wrong["status"]["atProvider"]["manifest"]["data"] = None
    assert observations.read(wrong) == Unbelieved("observed.json: the ConfigMap has no such key")


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FULL = report(
    nodes("n3", foreign={"gpu": 1}, ours={"ml/a": {"gpu": 3}}, pods={"ml/a": 1}),
    differs=[{"device": "gpu", "fact": "capacity memory", "declared": "80Gi", "published": None, "nodes": 3}],
    unknown=[{"driver": "x", "device": "d0", "count": 2, "nodes": 3}],
    published={"gpu": {"attributes": {"a": {"bool": True}}}},
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON value."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [path, *(found for key in keys for found in places(value[key], (*path, key)))]


@given(place=st.sampled_from(places(FULL)[1:]), value=ANY)
def test_no_value_in_any_place_raises(place: tuple[Any, ...], value: Any) -> None:
    told = json.loads(json.dumps(FULL))
    inner = told
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    got = observations.parse(json.dumps(told))
    assert isinstance(got, Observation | Unbelieved)
    if isinstance(got, Observation):
        for like in (like for one in got.pools.values() for like in one.nodes):
            assert 0 < like.count <= observations.MOST_NODES
            assert all(like.free(device) >= 0 for device in like.devices)


@given(st.text(max_size=64) | st.binary(max_size=64).map(lambda raw: raw.decode("latin-1")))
def test_no_text_raises(text: str) -> None:
    assert isinstance(observations.parse(text), Observation | Unbelieved)


@pytest.mark.parametrize(
    ("status", "want"),
    [
        ({"source": "Observed", "object": "o"}, "o"),
        ({"source": "Observed", "object": "o", "stale": True}, None),
        ({"source": "Observed"}, None),
        ({"source": "Declared", "object": "o"}, None),
        (None, None),
    ],
)
def test_only_what_is_not_stale_is_looked_up(status: Any, want: str | None) -> None:
    manifest = {"metadata": {"name": "c"}, "status": {"capacity": status}}
    assert clusters.cluster(manifest).capacity_object == want
