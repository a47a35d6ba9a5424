"""Two deployments whose replicas grow into the same nodes at the same moment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from function.core import NamespacedName
from function.scheduling import (
    Action,
    Cluster,
    DeviceRequest,
    Engine,
    Fleet,
    Job,
    Member,
    PlacedEngine,
    PlacedMember,
    Plan,
    Pool,
    PreviousSpec,
    Replica,
    solve,
)
from tests.support.rollouts import ANY, SHAPE

OLDER, YOUNGER = NamespacedName("ml", "older"), NamespacedName("ml", "younger")


def placed(nodes: int) -> tuple[PlacedEngine, ...]:
    return (PlacedEngine("e", nodes, (PlacedMember("Standalone", 1, "p", claims=True),)),)


def replica(owner: NamespacedName, nodes: int, **how: object) -> Replica:
    since = "2026-01-01T00:00:00Z" if owner == OLDER else "2026-01-02T00:00:00Z"
    stands = Replica(owner, owner, "c", 0, placed(nodes), created=since, spec_hash=str(nodes), placed_under="")
    return replace(stands, **{"ready": True, "serving": True, "served": True, **how})


def job(owner: NamespacedName, nodes: int) -> Job:
    asked = DeviceRequest("gpu", 1, (ANY,))
    engine = Engine("e", nodes, (Member("Standalone", 1, (asked,)),))
    return Job(owner, 1, (engine,), spec_hash=str(nodes))


def fleet(nodes: int, *replicas: Replica, spare: int = 0) -> Fleet:
    clusters = [Cluster("c", pools=(Pool("p", nodes, SHAPE),))]
    clusters += [Cluster("d", pools=(Pool("p", spare, SHAPE),))] if spare else []
    return Fleet({cluster.name: cluster for cluster in clusters}, replicas)


def carried_out(plan: Plan, owner: NamespacedName) -> Replica:
    """The one replica that stood before, as the plan leaves it."""
    [p] = [p for p in plan.placements if p.replica]
    hash_ = str(p.engines[0].copies)
    return replace(p.replica, engines=p.engines, spec_hash=hash_, previous=p.previous, ready=p.fit is None)


def both_grown() -> tuple[Replica, Replica]:
    """One node each on a pool of three; both are edited to two, and looked at the same fleet."""
    before = fleet(3, replica(OLDER, 1), replica(YOUNGER, 1))
    older, younger = (carried_out(solve(job(owner, 2), before), owner) for owner in (OLDER, YOUNGER))
    return older, younger


def test_both_take_the_same_node_and_note_what_they_had() -> None:
    want = PreviousSpec(placed(1), "1")
    assert [(r.nodes(), r.previous) for r in both_grown()] == [({"p": 2}, want), ({"p": 2}, want)]


def test_the_older_keeps_what_it_was_given_and_the_younger_goes_back() -> None:
    now = fleet(3, *both_grown())
    [kept] = solve(job(OLDER, 2), now).placements
    [back] = solve(job(YOUNGER, 2), now).placements
    assert (kept.action, kept.engines, kept.rolls_back) == (Action.KEEP, placed(2), False)
    assert (back.action, back.engines, back.rolls_back, back.previous) == (
        Action.AWAIT_SUCCESSOR,
        placed(1),
        True,
        None,
    )


def test_the_one_that_goes_back_says_for_whom() -> None:
    plan = solve(job(YOUNGER, 2), fleet(3, *both_grown()))
    assert [(r.identity, to.identity) for r, to in plan.rolled_back.items() if to] == [(YOUNGER, OLDER)]
    assert plan.missing == 1


def test_it_grows_elsewhere_where_there_is_room() -> None:
    placements = solve(job(YOUNGER, 2), fleet(3, *both_grown(), spare=2)).placements
    assert [(p.cluster, p.action, p.engines) for p in placements] == [
        ("c", Action.AWAIT_SUCCESSOR, placed(1)),
        ("d", Action.CREATE, placed(2)),
    ]


def test_one_that_runs_what_it_was_given_keeps_it() -> None:
    """It has its nodes, whoever is older."""
    older, younger = both_grown()
    now = fleet(3, older, replace(younger, ready=True))
    assert [p.rolls_back for p in solve(job(OLDER, 2), now).placements] == [True]
    assert [(p.rolls_back, p.previous) for p in solve(job(YOUNGER, 2), now).placements] == [(False, None)]


def test_a_deployment_whose_edit_is_withdrawn_goes_back_all_the_same() -> None:
    older, younger = both_grown()
    [back] = solve(job(YOUNGER, 1), fleet(3, older, younger)).placements
    assert (back.engines, back.rolls_back or back.action is Action.UPDATE) == (placed(1), True)


def test_who_never_served_gives_way_before_anybody_goes_back() -> None:
    older, younger = both_grown()
    fresh = replica(NamespacedName("ml", "fresh"), 1, ready=False, serving=False, served=False)
    now = fleet(4, older, younger, fresh)
    assert not solve(job(YOUNGER, 2), now).rolled_back
    assert list(solve(job(fresh.deployment, 1), now).preempted) == [fresh]


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_pool_that_shrinks_takes_back_growth_and_no_more(nodes: int) -> None:
    grown = replica(OLDER, 3, ready=False, previous=PreviousSpec(placed(2), "2"))
    [back] = solve(job(OLDER, 3), fleet(nodes, grown)).placements
    assert (back.engines, back.rolls_back) == (placed(2), True)


def test_a_second_edit_while_it_grows_still_goes_back_to_what_served() -> None:
    growing = replica(OLDER, 2, ready=False, previous=PreviousSpec(placed(1), "1"), serving=False)
    [again] = solve(job(OLDER, 3), fleet(4, growing)).placements
    assert (again.action, again.previous) == (Action.UPDATE, PreviousSpec(placed(1), "1"))


def test_a_replica_whose_successor_is_preempted_serves_on() -> None:
    """Its successor shares nodes with an older deployment's, and gives way. The one that waits for it is needed."""
    waits = replica(YOUNGER, 1, identity=NamespacedName("ml", "waits"), moving_for="2")
    other = replica(YOUNGER, 1, identity=NamespacedName("ml", "other"), index=1)
    fresh = {"cluster": "d", "ready": False, "serving": False, "served": False}
    successor = replica(YOUNGER, 2, identity=NamespacedName("ml", "successor"), **fresh)
    there = fleet(2, waits, other, successor, replica(OLDER, 2, **fresh), spare=2)

    plan = solve(replace(job(YOUNGER, 2), replicas=2), there)

    assert successor in plan.preempted
    assert {p.replica for p in plan.placements} == {waits, other}
