"""An observation of any size fits in its ConfigMap. Who reads a folded one sees less than there is, never more."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from function.observe import amounts, bounds
from function.vocabulary.observation import MOST_OBSERVED

Record = dict[str, Any]


def record(index: int, random: Random, *, alike: bool = False) -> Record:
    used = 0 if alike else random.randint(0, 100_000)
    return {
        "names": [f"ip-10-{index // 250}-{index % 250}.us-east-1.compute.internal"],
        "count": 1,
        "state": "Ready",
        "devices": {"gpu": 8},
        "allocatable": {"cpu": "190", "memory": f"{1_900_000 - used}Mi", "ephemeral-storage": "1000Gi"},
        "requested": {"cpu": f"{used}m", "memory": f"{used}Mi", "ephemeral-storage": "0"},
    }


def observed(nodes: int, *, alike: bool = False, ours: bool = False) -> Record:
    random = Random(nodes)
    records = [record(index, random, alike=alike) for index in range(nodes)]
    if ours:
        for index, one in enumerate(records):
            one["ours"] = {f"team-{index}/workload-{index}-0123456789": {"gpu": 8}}
            one["oursRequested"] = {"cpu": f"{index}m", "memory": f"{index}Mi", "ephemeral-storage": "0"}
    pool = {"nodes": records, "differs": [], "counts": [], "unknown": [], "published": {}}
    return {"version": 1, "cluster": "east", "declared": "x", "pools": {"h100": pool}, "unassigned": []}


def free(shown: Record, resource: int) -> int:
    return sum(
        one["count"] * amounts.read(one["allocatable"])[resource]
        - one["count"] * amounts.read(one["requested"])[resource]
        - one["count"] * amounts.read(one.get("oursRequested"))[resource]
        for one in shown["pools"]["h100"]["nodes"]
    )


@pytest.mark.parametrize("nodes", [0, 3, 500, 1000, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ours", [False, True])
def test_an_observation_fits_whatever_its_size(nodes: int, ours: bool) -> None:
    whole = observed(nodes, ours=ours)

    text = bounds.text(whole)
    got = json.loads(text)

    pool = got["pools"]["h100"]
    assert len(text.encode()) <= MOST_OBSERVED
    assert sum(one["count"] for one in pool["nodes"]) + pool.get("left", 0) == nodes
    assert all(free(got, resource) <= free(whole, resource) for resource in range(3))


def test_what_fits_is_told_in_full() -> None:
    assert json.loads(bounds.text(observed(100))) == observed(100)


def test_what_engines_request_is_rounded_like_what_others_do() -> None:
    whole = observed(3000)
    for index, one in enumerate(whole["pools"]["h100"]["nodes"]):
        one["oursRequested"] = {"cpu": f"{index}m", "memory": f"{index}Mi", "ephemeral-storage": "0"}

    pool = json.loads(bounds.text(whole))["pools"]["h100"]

    assert (pool.get("left"), sum(one["count"] for one in pool["nodes"])) == (None, 3000)


def test_names_are_left_out_first() -> None:
    """Their number stays, and so does what the nodes have."""
    whole = observed(1100)["pools"]["h100"]["nodes"]

    got = json.loads(bounds.text(observed(1100)))["pools"]["h100"]["nodes"]

    assert got == [{**one, "names": []} for one in whole]


def test_pools_that_do_not_fit_are_left_out() -> None:
    whole = observed(1)
    whole["pools"] = {f"pool-{index}": {"nodes": [], "published": "x" * 10_000} for index in range(64)}

    text = bounds.text(whole)

    assert (len(text) <= MOST_OBSERVED, json.loads(text)["pools"]) == (True, {})
