"""How many nodes a replica takes is read once, and everybody who counts gets the same number, whatever is written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.core import NamespacedName
from function.fleet import replicas
from function.fleet.engines import engines, nodes_taken
from function.kinds.inferencecluster.allocations import allocations
from function.scheduling import nodes_of

GPU = {"name": "gpu", "deviceClassName": "gpu.example.com"}


def member(**changes: Any) -> dict[str, Any]:
    return {"role": "Standalone", "nodePoolName": "p", "deviceRequests": [GPU], **changes}


def engine(*members: Any, **changes: Any) -> dict[str, Any]:
    return {"name": "e", "members": list(members) or [member()], **changes}


def manifest(written: Any) -> dict[str, Any]:
    spec = {"clusterName": "c", "engines": written}
    return {"apiVersion": "v", "kind": "ModelReplica", "metadata": {"name": "r", "namespace": "n"}, "spec": spec}


def counted(written: Any) -> list[int]:
    """By the scheduler for the deployment's own, by the ledger for those of others, by the cluster's status."""
    replica = manifest(written)
    own = replicas.replica(replica, NamespacedName("n", "d"))
    assert own is not None
    [allocation] = allocations([{"name": "p", "nodes": 100}], [replica])
    others = replicas.foreign_replica(replica).nodes
    return [own.nodes().get("p", 0), others.get("p", 0), 100 - allocation["free"]]


@pytest.mark.parametrize(
    ("written", "nodes"),
    [
        ([engine()], 1),
        ([engine(copies=3)], 3),
        ([engine(copies=0)], 1),
        ([engine(copies="x")], 1),
        ([engine(copies=None)], 1),
        ([engine(member(worker={"nodes": 3}))], 1),
        ([engine(member(role="Leader"), member(role="Worker", worker={"nodes": 3}), copies=2)], 8),
        ([engine(member(role="Worker"))], 1),
        ([engine(member(role="Worker", worker={"nodes": -1}))], 1),
        ([engine(member(deviceRequests=[]))], 0),
        ([engine(member(deviceRequests=None))], 0),
        ([engine(members="x")], 0),
        (["x", engine()], 1),
        ("x", 0),
        (None, 0),
    ],
)
def test_all_who_count_agree(written: Any, nodes: int) -> None:
    assert counted(written) == [nodes, nodes, nodes]


JUNK = st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from(["", "x", "2", [], {}])
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["Standalone", "Leader", "Worker"]) | JUNK,
        "nodePoolName": st.sampled_from(["p", "q"]) | JUNK,
        "deviceRequests": st.just([GPU]) | JUNK,
        "worker": st.fixed_dictionaries({"nodes": JUNK}) | JUNK,
    },
)
ENGINES = st.fixed_dictionaries({}, optional={"name": JUNK, "copies": JUNK, "members": st.lists(MEMBERS | JUNK) | JUNK})


@given(st.lists(ENGINES | JUNK) | JUNK)
def test_the_quick_sum_is_the_sum_of_the_engines(written: Any) -> None:
    assert nodes_taken(written) == nodes_of(engines(written))
