"""What a cloud has made of the node pools: replicas lose no nodes by an edit, and a made pool keeps what it is."""

from __future__ import annotations

from typing import Any

import pytest

from function import clouds
from function.clouds import NodePool
from function.contracts.cloud import provisioned
from function.core import Request
from function.kinds.inferencecluster.made import (
    Made,
    Use,
    asked,
    crowd,
    kept_faults,
    kept_sizes,
    nodes,
    pool_of_composite,
    read,
)
from function.schema import Api
from function.vocabulary import versions
from tests.support.replicas import engine, gang, member, replica

VULTR = clouds.BY_NAME["Vultr"]
EKS = clouds.BY_NAME["EKS"]
GPU_CLASS = frozenset({"gpu.nvidia.com"})
CLUSTER = {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "metadata": {"name": "miami"}}


def pool(name: str = "a", plan: str = "big", **fields: Any) -> dict[str, Any]:
    return {"name": name, "className": "c", "machine": {"plan": plan}, **fields}


def composite(*pools: dict[str, Any], made: Any = (), **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": versions.INFRASTRUCTURE,
        "kind": "VultrCluster",
        "metadata": {"name": "miami-1", "namespace": "modelplane-system"},
        "spec": {"nodePools": list(pools), **spec},
        "status": {"pools": made if isinstance(made, str) else list(made)},
    }


def known(observed: dict[str, Any] | None, *replicas: dict[str, Any], answered: bool = True) -> Made:
    return read(
        Request(
            xr=CLUSTER,
            observed={clouds.KEY: observed} if observed else {},
            required={"replicas": replicas} if answered else {},
        )
    )


def on(pool_: str, nodes: int = 1, cluster: str = "miami") -> dict[str, Any]:
    parts = member(pool=pool_) if nodes == 1 else None
    engines = engine("e", parts) if parts else gang("e", nodes=nodes - 1)
    found = replica(engines, clusterName=cluster)
    for each in found["spec"]["engines"]:
        each["members"] = [{**m, "nodePoolName": pool_} for m in each["members"]]
    return found


# What there is


def test_before_there_is_a_composite_nothing_is_made() -> None:
    assert known(None) == Made(asked={}, made=frozenset(), used={})


def test_a_composite_that_is_found_though_it_is_not_observed_keeps_its_pools() -> None:
    """One that an earlier InferenceCluster of the same name left behind, say."""
    left = composite(pool("a"), made=["a"])
    found = read(Request(xr=CLUSTER, required={"composite": [left], "replicas": [on("a")]}))

    assert asked([pool("b")], found) == [pool("b"), left["spec"]["nodePools"][0]]


def test_what_is_asked_for_is_not_yet_made() -> None:
    found = known(composite(pool("a"), pool("b"), made=["b"]))

    assert (set(found.asked), found.made) == ({"a", "b"}, {"b"})


@pytest.mark.parametrize("junk", [7, "ab", [7, None, {"name": 7}], None, {}])
def test_whatever_a_composite_holds_is_read(junk: Any) -> None:
    found = known({**composite(), "spec": {"nodePools": junk}, "status": {"pools": junk}})

    assert (dict(found.asked), found.made) == ({}, frozenset())


def test_replicas_of_the_cluster_take_whole_nodes_of_their_pools() -> None:
    found = known(composite(pool()), on("a"), on("a", nodes=3), on("b"), on("a", cluster="other"))

    assert found.used == {"a": Use(4, GPU_CLASS), "b": Use(1, GPU_CLASS)}


def test_all_that_replicas_claim_on_a_pool_is_used() -> None:
    of_amd = replica(engine("e", member(pool="a", claims=[{"name": "gpu", "deviceClassName": "gpu.amd.com"}])))
    of_amd["spec"]["clusterName"] = "miami"

    assert known(composite(pool()), on("a"), of_amd).used == {"a": Use(2, GPU_CLASS | {"gpu.amd.com"})}


def test_a_pool_whose_pods_claim_nothing_is_used_too() -> None:
    """A member may be on a pool of its own that only its Synthetic devices chose."""
    leader = replica(engine("e", member(pool="cpu", claims=()), member(pool="a")), clusterName="miami")

    assert known(composite(pool()), leader).used == {"a": Use(1, GPU_CLASS), "cpu": Use()}


def test_an_orphaned_replica_goes_on_and_one_that_was_written_by_hand_runs_nothing() -> None:
    by_hand, orphan = on("a"), on("b")
    del by_hand["metadata"]["ownerReferences"], orphan["metadata"]["ownerReferences"]
    orphan["spec"]["crossplane"] = {"resourceRefs": [{"kind": "Object", "name": "e"}]}

    assert known(composite(pool()), by_hand, orphan).used == {"b": Use(1, GPU_CLASS)}


def test_what_is_not_looked_up_yet_is_not_known_to_be_empty() -> None:
    assert known(composite(pool()), answered=False).used is None


# What is published


@pytest.mark.parametrize(
    ("made", "want"),
    [
        (Made(made=frozenset("a"), used={"a": Use(2)}), 5),
        (Made(used={}), 0),
        (Made(used={"a": Use(2)}), 2),
        (Made(used={"a": Use(9)}), 5),
        (Made(used={"a": Use()}), 0),
        (Made(used=None), 3),
    ],
    ids=["made", "not made", "the composite has lost its status", "it shrank, too", "no whole node", "not known"],
)
def test_a_pool_that_is_not_made_has_no_nodes_but_those_of_the_replicas_on_it(made: Made, want: int) -> None:
    assert nodes("a", 5, made, before=3) == want


def test_before_the_replicas_of_a_new_pool_are_known_it_has_no_nodes() -> None:
    assert nodes("a", 5, Made(), before=0) == 0


# What is asked for


def sizes(wanted: list[dict[str, Any]], made: Made) -> dict[str, dict[str, Any]]:
    fields = ("nodeCount", "minNodeCount", "maxNodeCount")
    return {each["name"]: {f: each[f] for f in fields if f in each} for each in asked(wanted, made)}


@pytest.mark.parametrize(
    ("wanted", "taken", "want"),
    [
        ({"nodeCount": 1}, 3, {"nodeCount": 3}),
        ({"nodeCount": 3}, 3, {"nodeCount": 3}),
        ({"nodeCount": 4}, 3, {"nodeCount": 4}),
        ({"nodeCount": 0}, 0, {"nodeCount": 0}),
        ({}, 1, {}),
        ({}, 2, {"nodeCount": 2}),
        ({"nodeCount": 1, "maxNodeCount": 2}, 3, {"nodeCount": 1, "maxNodeCount": 3}),
        ({"nodeCount": 1, "maxNodeCount": 9}, 3, {"nodeCount": 1, "maxNodeCount": 9}),
        ({"minNodeCount": 0, "maxNodeCount": 0}, 1, {"minNodeCount": 0, "maxNodeCount": 1}),
    ],
)
def test_a_pool_keeps_the_nodes_that_replicas_take(wanted: dict[str, Any], taken: int, want: dict[str, Any]) -> None:
    made = Made(asked={"a": pool()}, used={"a": Use(taken)} if taken else {})

    assert sizes([pool(**wanted)], made) == {"a": want}


def test_a_pool_with_pods_that_take_no_whole_node_keeps_one() -> None:
    assert sizes([pool(nodeCount=0)], Made(asked={"a": pool()}, used={"a": Use()})) == {"a": {"nodeCount": 1}}


SHRUNK: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"nodeCount": 4}, {"nodeCount": 2}, {"nodeCount": 4}),
    ({"nodeCount": 4}, {}, {"nodeCount": 4}),
    ({"nodeCount": 4}, {"nodeCount": 0}, {"nodeCount": 4}),
    ({"nodeCount": 4}, {"maxNodeCount": 2}, {"maxNodeCount": 4}),
    (
        {"nodeCount": 4},
        {"nodeCount": 1, "minNodeCount": 0, "maxNodeCount": 2},
        {"nodeCount": 1, "minNodeCount": 0, "maxNodeCount": 4},
    ),
    ({"maxNodeCount": 8}, {"minNodeCount": 1, "maxNodeCount": 4}, {"minNodeCount": 1, "maxNodeCount": 8}),
    ({"minNodeCount": 1, "maxNodeCount": 8}, {"nodeCount": 4}, {"minNodeCount": 1, "maxNodeCount": 8}),
    ({"nodeCount": 3, "maxNodeCount": 8}, {}, {"nodeCount": 3, "maxNodeCount": 8}),
]
"""What was asked for, what is now, and what the cloud is asked for while a replica is on the pool."""


@pytest.mark.parametrize(("before", "wanted", "want"), SHRUNK)
def test_a_pool_does_not_shrink_under_a_replica(
    before: dict[str, Any], wanted: dict[str, Any], want: dict[str, Any]
) -> None:
    """The replica may be on any node, and the cloud deletes any."""
    composed = {"a": pool(**before)}

    assert sizes([pool(**wanted)], Made(asked=composed, used={"a": Use(1)})) == {"a": want}
    assert sizes([pool(**wanted)], Made(asked=composed, used={"b": Use(1)})) == {"a": wanted}
    assert sizes([pool(**wanted)], Made(asked={"a": pool(**want)}, used={"a": Use(1)})) == {"a": want}
    assert sizes([pool(**wanted)], Made(asked={"a": pool(**want)}, used={})) == {"a": wanted}


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ({"nodeCount": 2}, {"nodeCount": 4}),
        ({"nodeCount": 4}, {"nodeCount": 4}),
        ({"nodeCount": 4}, {"minNodeCount": 1, "maxNodeCount": 4}),
        ({"minNodeCount": 2, "maxNodeCount": 4}, {"minNodeCount": 0, "maxNodeCount": 4}),
        ({"maxNodeCount": 4}, {"nodeCount": 4}),
    ],
)
def test_a_pool_that_can_lose_no_node_is_edited_under_replicas(before: dict[str, Any], wanted: dict[str, Any]) -> None:
    made = Made(asked={"a": pool(**before)}, used={"a": Use(2)})

    assert sizes([pool(**wanted)], made) == {"a": wanted}
    assert list(kept_sizes([pool(**wanted)], made)) == []


def shared_by(replicas: int, **on_the_pool: Any) -> list[dict[str, Any]]:
    return [replica(engine("e", {**member(pool="a"), **on_the_pool}), clusterName="miami") for _ in range(replicas)]


@pytest.mark.parametrize("spec", [True, False], ids=["by the spec", "by the replicas"])
def test_pods_that_share_nodes_make_no_pool_grow(spec: bool) -> None:
    observed = {clouds.KEY: composite(pool(nodeCount=4), made=["a"])}
    xr = {**CLUSTER, "spec": {"nodePools": [{"name": "a", "sharing": "Devices"}] if spec else "junk"}}
    there = shared_by(20, **({} if spec else {"nodeSharing": "Devices"}))
    made = read(Request(xr=xr, observed=observed, required={"replicas": there}))

    assert asked([pool(nodeCount=2)], made) == [pool(nodeCount=4)]
    assert asked([pool(nodeCount=8)], made) == [pool(nodeCount=8)]


def test_a_shared_pool_whose_composite_was_restored_has_the_nodes_that_its_pods_may_be_on() -> None:
    xr = {**CLUSTER, "spec": {"nodePools": [{"name": "a", "sharing": "Devices"}]}}
    made = read(Request(xr=xr, observed={clouds.KEY: composite(pool())}, required={"replicas": shared_by(20)}))

    assert nodes("a", 16, made, 0) == 16
    assert nodes("a", 32, made, 0) == 20


def test_what_does_not_shrink_is_told() -> None:
    before = {name: pool(name, **size) for name, size in {"a": {"nodeCount": 4}, "b": {"maxNodeCount": 8}}.items()}
    wanted = [pool("a", nodeCount=2), pool("b", maxNodeCount=4), pool("c")]

    assert list(kept_sizes(wanted, Made(asked=before, used={"a": Use(1), "b": Use(1), "c": Use(1)}))) == [
        (
            "pool a keeps 4 nodes while replicas are on it, because the cloud chooses which ones it deletes; with"
            " maxNodeCount, its autoscaler deletes nodes that are free"
        ),
        "pool b keeps a maximum of 8 nodes while replicas are on it; its autoscaler deletes nodes that are free",
    ]
    assert list(kept_sizes(wanted, Made(asked=before, used={}))) == []


def test_a_pool_that_is_removed_stays_as_it_is_until_its_replicas_have_left() -> None:
    before = {"a": pool("a", nodeCount=5), "b": pool("b", nodeCount=7)}

    assert asked([], Made(asked=before, used={"b": Use(1)})) == [before["b"]]
    assert asked([pool("c")], Made(asked=before, used={"a": Use(2), "b": Use(), "c": Use(1)})) == [
        pool("c"),
        before["a"],
        before["b"],
    ]
    assert asked([pool("c")], Made(asked=before, used={})) == [pool("c")]


def test_pools_that_come_and_go_have_room_in_a_composite_up_to_a_number() -> None:
    old, new = ([pool(f"{word}-{i}") for i in range(8)] for word in ("old", "new"))
    made = Made(asked={each["name"]: each for each in (*old, *new)}, used={each["name"]: Use(1) for each in old})
    newer = [pool(f"newer-{i}") for i in range(8)]

    assert crowd(new, made) is None
    assert len(asked(new, made)) == provisioned.MOST_POOLS
    used = {**made.used, "new-0": Use(1)} if made.used else {}
    assert crowd(newer, Made(asked=made.asked, used=used)) == (
        "has 8 pools, besides 9 that replicas have not left (old-0, old-1, old-2, old-3, old-4, old-5, old-6, old-7,"
        " new-0); a cloud makes at most 16 for a cluster, so keep some of those"
    )


def test_the_order_of_wanted_pools_is_the_users() -> None:
    wanted = [pool("z"), pool("a")]

    assert asked(wanted, Made(asked={"a": pool("a"), "z": pool("z")}, used={"a": Use(1)})) == wanted


# What a pool keeps


def faults(source: clouds.Source, before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    assert source.provisioner
    found = kept_faults(source.provisioner, now, Made(asked={before["name"]: before}))
    return [f"{field}: {problem}" for field, problem in found]


def test_a_pool_that_is_new_may_be_anything() -> None:
    assert faults(VULTR, pool("a"), pool("b", plan="small")) == []


def test_another_machine_is_refused_at_the_class() -> None:
    assert faults(VULTR, pool(plan="big"), pool(plan="small")) == [
        "className: the nodes of a pool keep their machine (plan big); add a pool of another name"
    ]


@pytest.mark.parametrize(
    "edit",
    [
        {"className": "other"},
        {"nodeCount": 9},
        {"maxNodeCount": 9},
        {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        {"drivers": ["gpu.nvidia.com"]},
        {"zones": []},
    ],
)
def test_what_a_cloud_changes_in_place_is_accepted(edit: dict[str, Any]) -> None:
    assert faults(VULTR, pool(), pool(**edit)) == []


def test_a_default_that_is_written_out_changes_nothing() -> None:
    machine = {"instanceType": "p5.48xlarge"}
    defaults = EKS.machine.model_validate(machine).model_dump(exclude_none=True) if EKS.machine else {}

    assert faults(EKS, pool() | {"machine": machine}, pool() | {"machine": defaults}) == []


def test_zones_are_kept_and_shown_as_a_user_writes_them() -> None:
    before, now = (pool(zones=zones) | {"machine": {"instanceType": "p5.48xlarge"}} for zones in (["x", "y"], ["x"]))
    without = {field: value for field, value in now.items() if field != "zones"}
    keeps = "zones: the nodes of a pool keep their zones"

    assert faults(EKS, before, now) == [f"{keeps} (x, y); add a pool of another name"]
    assert faults(EKS, without, now) == [f"{keeps} (not given); add a pool of another name"]
    assert faults(EKS, before, without) == [f"{keeps} (x, y); add a pool of another name"]


def test_a_pool_that_the_model_takes_no_more_keeps_nothing() -> None:
    assert faults(VULTR, pool() | {"machine": {"plan": 7}}, pool(plan="small")) == []


# How a pool is written


def test_a_pool_is_written_as_the_user_gave_it() -> None:
    given = NodePool.model_validate({"name": "a", "className": "c", "maxNodeCount": 3})
    machine = VULTR.machine.model_validate({"plan": "big"}) if VULTR.machine else Api()

    assert pool_of_composite(given, machine, {"gpu.nvidia.com", "dra.net"}) == {
        **pool(maxNodeCount=3),
        "drivers": ["dra.net", "gpu.nvidia.com"],
    }
    assert "drivers" not in pool_of_composite(given, machine, ())
