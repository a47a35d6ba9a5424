"""Whatever objects a cluster has, the observer tells the rest, within its bounds, and never fails."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, MutableMapping, MutableSequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from function.fleet import observations
from function.observe import kinds, stored, texts
from function.observe.inventory import Snapshot
from function.observe.kinds import Kind
from function.scheduling.observed import Observation
from function.vocabulary import labels, names
from function.vocabulary.observation import (
    DECLARED_KEY,
    MOST_DEVICES,
    MOST_MESSAGE,
    MOST_OBSERVED,
    MOST_REASONS,
    OBSERVED_KEY,
    REASONS_KEY,
)
from tests.support.observed import (
    Object,
    claim,
    declared,
    device,
    event,
    gpus,
    node,
    pod,
    resource_slice,
    snapshot,
)

SYSTEM = names.SYSTEM_NAMESPACE
CRASH = {
    "phase": "Running",
    "containerStatuses": [
        {
            "name": "engine",
            "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting"}},
            "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "SECRET of the container"}},
        }
    ],
}
PENDING = {
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes"}]
}
STATUS = "nodeGroups: [{name: h100, scaleUp: {status: Backoff, backoffInfo: {errorCode: A, errorMessage: b}}}]"
ODD = (
    *(
        None,
        True,
        False,
        0,
        -1,
        2**70,
        1e308,
        "",
        "x" * 100_000,
        "\ud800",
        "\x00\u202e",
        [],
        {},
        [[]],
        [None],
        {"": None},
    ),
    *(
        {"a": {"b": []}},
        "-5Gi",
        "1e999999",
        "9" * 5000,
        "1" * 30,
        ["x"] * 3000,
        {str(i): i for i in range(3000)},
        "NaN",
    ),
)


def objects() -> dict[Kind, list[Object]]:
    """A sound cluster."""
    template = {"metadata": {"labels": {labels.WORKLOAD: "llama"}}}
    failing = [{"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}]
    owner = {"metadata": {"namespace": "ml-team", "name": "llama"}, "spec": {"replicas": 2, "template": template}}
    return {
        kinds.NODES: [node("a", taints=[{"key": "x", "effect": "NoSchedule"}]), node("b"), node("c", None)],
        kinds.SLICES: [
            resource_slice("a", gpus(8)),
            resource_slice("b", gpus(7, "79Gi")),
            resource_slice("c", gpus(1)),
        ],
        kinds.CLAIMS: [claim("one", "a", ["gpu-0"], "llama-0"), claim("two", "b", ["gpu-1"], "other")],
        kinds.PODS: [
            pod("llama-0", "a", "llama", status=CRASH),
            pod("llama-1", "", "llama", status=PENDING),
            pod("o", "b"),
        ],
        kinds.REPLICA_SETS: [{**owner, "status": {"conditions": failing}}],
        kinds.WARNINGS: [event("Unhealthy", "Readiness probe failed: SECRET", "llama-0")],
        kinds.SCALING: [event("FailedScaleUp", "no room", "llama-1")],
        kinds.AUTOSCALER: [
            {"metadata": {"namespace": "kube-system", "name": "cluster-autoscaler-status"}, "data": {"status": STATUS}}
        ],
    }


def declarations() -> list[Object]:
    taints = [{"key": "x", "value": "y", "effect": "NoSchedule"}]
    return [
        {
            "metadata": {
                "name": names.declared(cluster),
                "uid": cluster,
                "labels": {labels.OBSERVATION: labels.DECLARATION},
            },
            "data": {DECLARED_KEY: json.dumps(declared(cluster=cluster, taints=taints))},
        }
        for cluster in ("east", "west")
    ]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a value, with every key in it."""
    if isinstance(value, MutableMapping | MutableSequence):
        for key in list(value) if isinstance(value, MutableMapping) else range(len(value)):
            yield value, key
            yield from places(value[key])


def mangle(value: Any, random: Random) -> None:
    """Spoil one place of an object."""
    found = list(places(value))
    if not found:
        return
    container, key = random.choice(found)
    if random.random() < 0.2:
        del container[key]
    else:
        container[key] = copy.deepcopy(random.choice(ODD))


def written(found: dict[Kind, list[Object]], own: list[Object]) -> dict[str, Any]:
    """What the observer writes, by the names of ConfigMaps."""
    read = {kind: [record for one in given if (record := kind.read(one)) is not None] for kind, given in found.items()}
    seen = Snapshot(
        nodes=read.get(kinds.NODES, []),
        slices=read.get(kinds.SLICES, []),
        claims=read.get(kinds.CLAIMS, []),
        pods=read.get(kinds.PODS, []),
        owners=read.get(kinds.REPLICA_SETS, []),
        events=[*read.get(kinds.WARNINGS, []), *read.get(kinds.SCALING, [])],
        autoscaler=[group for groups in read.get(kinds.AUTOSCALER, []) for group in groups],
    )
    there = [record for one in own if (record := stored.read(one)) is not None]
    return {one["metadata"]["name"]: one["data"] for one in texts.wanted(seen, there, [], SYSTEM)}


def assert_bounded(told: dict[str, Any]) -> None:
    for data in told.values():
        for key, most in ((OBSERVED_KEY, MOST_OBSERVED), (REASONS_KEY, MOST_REASONS)):
            text = data.get(key, "{}")
            assert len(text.encode()) <= most
            for line in _texts(json.loads(text)):
                assert len(line) <= MOST_MESSAGE
                assert line.isprintable()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key, one in value.items() for text in (key, *_texts(one)))
    elif isinstance(value, list):
        yield from (text for one in value for text in _texts(one))


@pytest.mark.slow
@given(st.integers(0, 2**32).map(Random), st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_mangled_objects_cost_nobody_anything(random: Random, times: int) -> None:
    found, own = objects(), declarations()
    for _ in range(times):
        mangle(found, random) if random.random() < 0.8 else mangle(own[1], random)
    found = {kind: given if isinstance(given, list) else [] for kind, given in found.items()}

    told = written(found, own)

    assert "SECRET" not in json.dumps(told)
    assert_bounded(told)
    assert isinstance(observations.parse(told[names.observed("east")][OBSERVED_KEY]), Observation)


@given(st.integers(0, 2**32).map(Random))
@settings(max_examples=50, deadline=None)
def test_a_mangled_object_changes_nothing_of_what_is_told_of_others(random: Random) -> None:
    """A node that nobody names is spoiled, with its slice: what is told of the first one stays."""
    sound = snapshot(nodes=[node("a")], slices=[resource_slice("a", gpus(8))])
    spoiled = [node("b"), resource_slice("b", gpus(3), "other.example"), claim("x", "b", ["gpu-0"], "p")]
    for one in spoiled:
        mangle(one, random)
    given_ = {kinds.NODES: [node("a"), spoiled[0]], kinds.SLICES: [resource_slice("a", gpus(8)), spoiled[1]],
              kinds.CLAIMS: [spoiled[2]]}  # fmt: skip

    got = json.loads(written(given_, declarations())[names.observed("east")][OBSERVED_KEY])
    want = texts.wanted(sound, map(stored.read, declarations()), [], SYSTEM)[0]["data"][OBSERVED_KEY]

    record = next(one for one in got["pools"]["h100"]["nodes"] if "a" in one["names"])
    (alone,) = json.loads(want)["pools"]["h100"]["nodes"]
    assert {**record, "names": ["a"], "count": 1} == alone


@pytest.mark.slow
def test_ten_thousand_devices_are_told_as_the_most() -> None:
    slices = [
        resource_slice("a", [device(f"gpu-{n}-{i}") for i in range(128)], name=f"s-{n}", count=80) for n in range(80)
    ]

    got = written({kinds.NODES: [node("a")], kinds.SLICES: slices}, declarations())

    text = got[names.observed("east")][OBSERVED_KEY]
    (record,) = json.loads(text)["pools"]["h100"]["nodes"]
    assert record["devices"] == {"gpu": MOST_DEVICES}
    assert json.loads(text)["pools"]["h100"]["counts"][0]["published"] == MOST_DEVICES
    assert isinstance(observations.parse(text), Observation)


@pytest.mark.slow
def test_ten_thousand_different_devices_stay_within_bounds() -> None:
    slices = [
        resource_slice("a", [device(f"gpu-{n}-{i}", memory=f"{n}{i}Mi") for i in range(128)], name=f"s-{n}", count=80)
        for n in range(80)
    ]

    told = written({kinds.NODES: [node("a")], kinds.SLICES: slices}, declarations())

    assert_bounded(told)
    assert isinstance(observations.parse(told[names.observed("east")][OBSERVED_KEY]), Observation)
