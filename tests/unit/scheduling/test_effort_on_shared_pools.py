"""Work on shared pools grows with the replicas, and not with their square: counted, not timed."""

from __future__ import annotations

from collections import Counter

import pytest

from function.core import NamespacedName
from function.scheduling import (
    Claimed,
    Cluster,
    Device,
    Fitter,
    Fleet,
    ForeignReplica,
    NodeCapacity,
    NodeShape,
    PlacedEngine,
    PlacedMember,
    PodDemand,
    PodNeeds,
    Pool,
    Replica,
    packing,
    rejections,
    solve,
)
from function.scheduling.budget import StepLimit
from tests.support.fleets import GPU, ME, OTHER, Wants
from tests.support.shared_pools import Wish, job

SHAPE = NodeShape((Device("gpu", 8, GPU, "gpu big", 80),), (64_000, 2**40, None))
READ: Counter[str] = Counter()


def pool(nodes: int) -> Cluster:
    return Cluster("c", pools=(Pool("p", nodes, SHAPE, shared=True),))


def neighbour(number: int) -> ForeignReplica:
    """A replica of another deployment, with one GPU. Reading what it needs is counted."""

    def needs() -> PodNeeds:
        READ["needs"] += 1
        return PodNeeds((Claimed(1, GPU, (Wants("gpu"),)),), (4_000, 0, 0))

    member = PlacedMember("Standalone", 1, "p", claims=True, needs=needs)
    engines = (PlacedEngine("e", 1, (member,)),)
    return ForeignReplica({"p": 1}, Replica(NamespacedName("hr", f"r{number}"), OTHER, "c", number, engines))


@pytest.mark.parametrize(("nodes", "replicas"), [(16, 128), (128, 1_000)])
def test_each_replica_that_is_placed_takes_one_search(nodes: int, replicas: int) -> None:
    wanted = job(ME, replicas, Wish(cpu=4_000))
    fitter, fleet = Fitter(wanted.engines), Fleet({"c": pool(nodes)})
    plan = solve(wanted, fleet, fitter)
    assert len(plan.placements) == replicas
    assert fitter.searches <= replicas + 1
    assert fitter.steps <= 2 * replicas
    assert fitter.matcher.evaluations == 1


def test_a_full_pool_is_searched_once_for_the_plan_and_its_reasons() -> None:
    wanted = job(ME, 200, Wish(cpu=4_000))
    fitter, fleet = Fitter(wanted.engines), Fleet({"c": pool(16)})
    plan = solve(wanted, fleet, fitter)
    assert plan.missing == 200 - 128
    assert [str(r.reason) for r in rejections(wanted, fleet, plan, fitter)] == ["full (needs 1 gpu, 0 gpu free on p)"]
    assert fitter.searches == 129


def test_what_others_need_is_read_once_for_each() -> None:
    READ.clear()
    wanted = job(ME, 100, Wish(cpu=4_000))
    fleet = Fleet({"c": pool(128)}, others={"c": [neighbour(i) for i in range(900)]})
    assert len(solve(wanted, fleet).placements) == 100
    assert READ["needs"] == 900


@pytest.mark.parametrize("pods", [10, 100, 1_024])
def test_a_question_takes_no_more_steps_the_more_pods_there_are(pods: int) -> None:
    limit, demand = StepLimit(10_000), PodDemand(((1, (0,)),), (4_000, 0, 0))
    assert packing.is_safe({NodeCapacity((8,), SHAPE.node): 128}, {demand: pods}, limit)
    assert limit.steps <= 10
