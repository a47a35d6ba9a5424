"""New replicas by what nodes are observed to have: what is open, what is refused and why, and what stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from function.core import NamespacedName
from function.scheduling import (
    Action,
    Claimed,
    Cluster,
    Device,
    Engine,
    Fitter,
    Fleet,
    ForeignReplica,
    Job,
    Ledger,
    Member,
    NodeShape,
    PlacedEngine,
    PlacedMember,
    Plan,
    PodNeeds,
    Pool,
    PreviousSpec,
    PromisePlacement,
    Replica,
    Room,
    breakdowns,
    proposals,
    rejection,
    rejections,
    solve,
)
from function.scheduling.observed import ObservedNodes, ObservedPool
from function.scheduling.seen import Seen
from function.vocabulary import names
from function.vocabulary.observation import NodeState
from tests.support.fleets import GPU, ME, OTHER, Wants, request

EIGHT = NodeShape((Device("gpu", 8, GPU, "gpu 80Gi", 80),))
PUBLISHED = NodeShape((Device("gpu", 8, GPU, "gpu 79Gi", 79),))


def nodes(*names_: str, **fields: Any) -> ObservedNodes:
    return ObservedNodes(**{"names": names_, "count": len(names_), "devices": {"gpu": 8}, **fields})


def cluster(*observed: ObservedNodes, declared: int = 2, shared: bool = False, **fields: Any) -> Cluster:
    seen = {"scales": False, "shape": EIGHT, "is_placement": False} | {
        k: v for k, v in fields.items() if k in Seen.__slots__
    }
    pool = ObservedPool(nodes=observed, out_of_stock=fields.get("out_of_stock"))
    return Cluster("c", pools=(Pool("p", declared, EIGHT, shared, Seen(pool, **seen)),))


def job(replicas: int, count: int = 8, *words: str, deployment: NamespacedName = ME) -> Job:
    member = Member("Standalone", 1, (request("gpu", count, *words),))
    return Job(deployment, replicas, (Engine("main", 1, (member,)),), spec_hash="1")


def standing(name: str, count: int = 8, *, deployment: NamespacedName = OTHER, **fields: Any) -> Replica:
    needs = PodNeeds((Claimed(count, GPU, (Wants("gpu"),)),))
    member = PlacedMember("Standalone", 1, "p", claims=True, needs=lambda: needs)
    identity = NamespacedName(deployment.namespace, name)
    return Replica(identity, deployment, "c", 0, (PlacedEngine("main", 1, (member,)),), **fields)


def workload(name: str, deployment: NamespacedName = OTHER) -> str:
    identity = NamespacedName(deployment.namespace, name)
    return f"{deployment.namespace}/{names.workload(identity, 'main', is_gang=False)}"


def bound(name: str, node: str, count: int = 8) -> ObservedNodes:
    return nodes(node, ours={workload(name): {"gpu": count}}, pods={workload(name): 1})


def planned(there: Cluster, wanted: Job, *others: Replica) -> Plan:
    return solve(wanted, Fleet({"c": there}, others={"c": [foreign(r) for r in others]}))


def foreign(replica: Replica) -> ForeignReplica:
    return ForeignReplica(replica.nodes(), replica)


def why(there: Cluster, wanted: Job, *others: Replica) -> rejection.Reason:
    fleet = Fleet({"c": there}, others={"c": [foreign(r) for r in others]})
    [found] = rejections(wanted, fleet, solve(wanted, fleet))
    return found.reason


CORDONED = nodes("b", state=NodeState.CORDONED)
REFUSED = {
    "cordoned": (cluster(nodes("a"), CORDONED), rejection.Cordoned("p", 1, ("b",))),
    "not ready": (cluster(nodes("a"), nodes("b", state=NodeState.NOT_READY)), rejection.NodesNotReady("p", 1, ("b",))),
    "tainted": (
        cluster(nodes("a"), nodes("b", state=NodeState.TAINTED, taint="x=y:NoSchedule")),
        rejection.NodesTainted("p", 1, ("b",), "x=y:NoSchedule"),
    ),
    "taken by others": (
        cluster(nodes("a"), nodes("b", foreign={"gpu": 3})),
        rejection.TakenByOthers("p", 1, ("b",), 3),
    ),
    "a device is missing": (
        cluster(nodes("a"), nodes("b", devices={"gpu": 7})),
        rejection.DevicesMissing("p", 1, ("b",), "gpu", 8, 7),
    ),
    "out of stock": (
        cluster(nodes("a"), scales=True, out_of_stock="no capacity in zone b"),
        rejection.OutOfStock("p", "no capacity in zone b"),
    ),
}


@pytest.mark.parametrize(("there", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_node_that_takes_no_pods_is_not_open_and_is_named(there: Cluster, reason: rejection.Reason) -> None:
    """One node is open. The second replica would fit by what is declared, and the reason says what is observed."""
    assert len(planned(there, job(1)).placed) == 1
    assert planned(there, job(2)).missing == 1
    assert why(there, job(2)) == reason
    assert reason.detail()


def test_a_node_that_can_be_added_is_open() -> None:
    assert planned(cluster(nodes("a"), scales=True), job(2)).missing == 0
    assert planned(cluster(nodes("a"), scales=False), job(2)).missing == 1


def test_more_nodes_than_declared_are_as_many_as_declared() -> None:
    there = cluster(nodes("a", "b", "c"), declared=2)
    assert planned(there, job(3)).missing == 1
    assert isinstance(why(there, job(3)), rejection.Full)


def test_a_pod_that_is_not_bound_yet_takes_its_node_first() -> None:
    """Two nodes are open; the other deployment's pod will take one of them, and is on no node yet."""
    there = cluster(nodes("a", "b"))
    assert planned(there, job(2), standing("x")).missing == 1
    assert planned(cluster(bound("x", "a"), nodes("b")), job(1), standing("x")).missing == 0


def test_a_pod_that_is_left_behind_keeps_its_node() -> None:
    """The replica is gone, and its pod is not: the pod of another replica is not bound by that."""
    there = cluster(bound("gone", "a"), nodes("b"))
    assert planned(there, job(1), standing("x")).missing == 1


def test_selectors_are_judged_by_what_the_nodes_publish() -> None:
    there = cluster(nodes("a", "b"), shape=PUBLISHED)
    assert isinstance(why(there, job(1, 1, "80Gi")), rejection.NoDevice)
    assert planned(there, job(1, 1, "79Gi")).missing == 0


def test_what_serves_stays_whatever_is_observed() -> None:
    """Every node is lost, and the devices are others: nothing moves, and an edit in place needs no more than it has."""
    gone = cluster(nodes("a", "b", state=NodeState.NOT_READY), shape=PUBLISHED)
    there = standing("mine", deployment=ME, ready=True, serving=True, served=True, spec_hash="0")
    plan = solve(job(1, 8, "80Gi"), Fleet({"c": gone}, (there,)))
    assert [p.action for p in plan.placements] == [Action.UPDATE]
    kept = solve(job(1, 8, "80Gi"), Fleet({"c": gone}, (replace(there, spec_hash="1"),)))
    assert [p.action for p in kept.placements] == [Action.KEEP]


def test_a_replica_grows_only_into_what_is_open() -> None:
    there = cluster(bound("mine", "a"), CORDONED)
    mine = standing("mine", deployment=ME, ready=True, serving=True, served=True, spec_hash="0")
    member = Member("Standalone", 1, (request("gpu", 8),))
    grown = Job(ME, 1, (Engine("main", 2, (member,)),), spec_hash="1")
    assert [p.action for p in solve(grown, Fleet({"c": there}, (mine,))).placements] != [Action.UPDATE]
    ready = cluster(bound("mine", "a"), nodes("b"))
    assert [p.action for p in solve(grown, Fleet({"c": ready}, (mine,))).placements] == [Action.UPDATE]


class TestSharedNodes:
    """Nodes that pods share."""

    def test_devices_that_others_hold_are_not_open(self) -> None:
        there = cluster(nodes("a", foreign={"gpu": 5}), declared=1, shared=True)
        assert planned(there, job(4, 1)).missing == 1
        assert isinstance(why(there, job(4, 1)), rejection.TakenByOthers)

    def test_placement_counts_the_nodes_as_they_are_and_restart_all_arrangements(self) -> None:
        """Two pods of four devices lie on two nodes, and could lie on one: a pod of five fits only by chance."""
        others = standing("x", 4), standing("y", 4)
        there = [bound("x", "a", 4), bound("y", "b", 4)]
        assert planned(cluster(*there, shared=True), job(1, 5), *others).missing == 1
        packed = nodes(
            "a", ours={workload("x"): {"gpu": 4}, workload("y"): {"gpu": 4}}, pods={workload("x"): 1, workload("y"): 1}
        )
        assert planned(cluster(packed, nodes("b"), shared=True), job(1, 5), *others).missing == 1
        assert planned(cluster(packed, nodes("b"), shared=True, is_placement=True), job(1, 5), *others).missing == 0
        assert planned(cluster(*there, shared=True, is_placement=True), job(1, 5), *others).missing == 1

    def test_placement_leaves_room_for_pods_that_are_not_bound_yet(self) -> None:
        there = cluster(nodes("a"), declared=1, shared=True, is_placement=True)
        assert planned(there, job(1, 5), standing("x", 4)).missing == 1
        assert planned(there, job(1, 4), standing("x", 4)).missing == 0
        assert planned(there, job(2, 4), standing("x", 4)).missing == 1

    def test_an_edit_in_place_is_admitted_though_its_node_is_cordoned(self) -> None:
        held = nodes(
            "a", state=NodeState.CORDONED, ours={workload("mine", ME): {"gpu": 4}}, pods={workload("mine", ME): 1}
        )
        mine = standing("mine", 4, deployment=ME, ready=True, serving=True, served=True, spec_hash="0")
        for is_placement in (False, True):
            there = cluster(held, declared=1, shared=True, is_placement=is_placement)
            assert [p.action for p in solve(job(1, 4), Fleet({"c": there}, (mine,))).placements] == [Action.UPDATE]

    def test_an_edit_takes_no_room_from_pods_that_are_not_bound_yet(self) -> None:
        """The own pod is bound and goes over from one spec to the next; the pod of another deployment is on no node."""
        held = nodes("a", ours={workload("mine", ME): {"gpu": 4}}, pods={workload("mine", ME): 1})
        there = cluster(held, declared=1, shared=True, is_placement=True)
        mine = standing("mine", 4, deployment=ME, serving=True, served=True, spec_hash="0")
        rolling = replace(mine, previous=PreviousSpec(standing("mine", 3).engines, "0"))
        ledger = Ledger({"c": there}, [rolling], {"c": [foreign(standing("x", 4))]})
        ledger.edit(rolling, standing("mine", 2).engines)
        room = ledger.open("c")["p"]
        assert isinstance(room, Room)
        assert sum(count for demand, count in room.pods if demand.devices == ((4, (0,)),)) == 1


def test_placement_is_suggested_where_it_would_admit_what_a_restart_may_not() -> None:
    """The two pods that are there are on one node: the other is free, but is not promised to anybody."""
    pods = {workload("small"): 1, workload("tiny"): 1}
    both = nodes("a", ours={name: {"gpu": 1} for name in pods}, pods=pods)
    there, wanted = cluster(both, nodes("b"), shared=True), job(1)
    fleet = Fleet({"c": there}, others={"c": [foreign(standing("small", 1)), foreign(standing("tiny", 1))]})
    plan, fitter = solve(wanted, fleet), Fitter(wanted.engines)

    (changes,) = proposals(wanted, fleet, plan, fitter, breakdowns(wanted, fleet, plan, fitter))

    assert PromisePlacement() in changes
