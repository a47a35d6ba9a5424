"""Deployments that are placed, or edited, from the same snapshot of a shared pool."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from function.core import NamespacedName
from function.scheduling import (
    Action,
    Cluster,
    Device,
    Fleet,
    Job,
    NodeShape,
    Plan,
    Pool,
    PreviousSpec,
    Replica,
    contention,
    rejections,
    solve,
)
from function.scheduling.rejection import HoldsOther
from tests.support.fleets import GPU
from tests.support.shared_pools import SHAPES, Wish, job, stuck

OLDER, YOUNGER, THIRD = (NamespacedName("ml", name) for name in ("older", "younger", "third"))
ONE, TWO, THREE, FOUR = (Wish(devices=n) for n in (1, 2, 3, 4))


def cluster(nodes: int, shape: str = "four", *, shared: bool = True) -> Cluster:
    return Cluster("c", pools=(Pool("p", nodes, SHAPES[shape], shared=shared),))


def replica(owner: NamespacedName, wish: Wish, **how: object) -> Replica:
    """A replica that serves, as it is placed on an empty pool of four nodes."""
    [placed] = solve(job(owner, 1, wish), Fleet({"c": cluster(4)})).placements
    since = {OLDER: "1", YOUNGER: "2", THIRD: "3"}[owner]
    serves = {"ready": True, "serving": True, "served": True}
    there = Replica(
        owner, owner, "c", 0, placed.engines, created=since, spec_hash=job(owner, 1, wish).spec_hash, placed_under=""
    )
    return replace(there, **{**serves, **how})


def fresh(owner: NamespacedName, wish: Wish) -> Replica:
    return replica(owner, wish, ready=False, serving=False, served=False)


def edited(owner: NamespacedName, before: Wish, after: Wish) -> Replica:
    """A replica that serves, and rolls to another spec."""
    had = replica(owner, before)
    previous = PreviousSpec(had.engines, had.spec_hash)
    return replace(replica(owner, after), ready=False, previous=previous)


def planned(wanted: Job, nodes: int, *there: Replica, shape: str = "four", shared: bool = True) -> Plan:
    return solve(wanted, Fleet({"c": cluster(nodes, shape, shared=shared)}, there))


@pytest.mark.parametrize("order", [*permutations([fresh(OLDER, TWO), fresh(YOUNGER, TWO), fresh(THIRD, ONE)])])
def test_of_those_that_never_served_the_youngest_gives_way(order: tuple[Replica, ...]) -> None:
    found = contention({"c": cluster(1)}, order)
    assert {r.identity: to and to.identity for r, to in found.preempted.items()} == {THIRD: YOUNGER}
    assert not found.rolled_back


def test_one_that_served_stays_though_it_is_younger() -> None:
    found = contention({"c": cluster(1)}, [fresh(OLDER, THREE), replica(YOUNGER, TWO)])
    assert [r.identity for r in found.preempted] == [OLDER]


def test_all_that_served_stay_on_a_pool_that_shrank_and_nobody_joins_them() -> None:
    there = [replica(OLDER, FOUR), replica(YOUNGER, FOUR)]
    assert contention({"c": cluster(1)}, there) == ({}, {})
    plan = planned(job(THIRD, 1, ONE), 1, *there)
    assert plan.missing == 1


def test_who_is_preempted_is_told_for_whom() -> None:
    wanted, there = job(YOUNGER, 1, THREE), (fresh(OLDER, THREE), fresh(YOUNGER, THREE))
    plan = planned(wanted, 1, *there)
    [rejected] = rejections(wanted, Fleet({"c": cluster(1)}, there), plan)
    assert (plan.placements, rejected.reason) == ((), HoldsOther(str(OLDER)))


def test_pods_that_are_smaller_in_all_but_one_respect_are_told_apart() -> None:
    """Each fits beside the older one, and both beside it do not."""
    there = [fresh(OLDER, Wish(devices=1, cpu=4)), fresh(YOUNGER, Wish(devices=1, cpu=4)), fresh(THIRD, Wish(cpu=1))]
    found = contention({"c": cluster(1, "counted")}, there)
    assert [r.identity for r in found.preempted] == [THIRD]


# Edits


def test_an_edit_of_a_full_pool_that_takes_no_more_is_made_in_place() -> None:
    there = replica(OLDER, FOUR), replica(YOUNGER, FOUR)
    changed = replace(job(OLDER, 1, FOUR), spec_hash="another image")
    [placed] = planned(changed, 2, *there).placements
    assert (placed.action, placed.previous) == (Action.UPDATE, None)


def test_an_edit_that_takes_something_else_notes_what_it_had() -> None:
    [placed] = planned(job(OLDER, 1, TWO), 1, replica(OLDER, ONE)).placements
    assert (placed.action, placed.previous) == (
        Action.UPDATE,
        PreviousSpec(replica(OLDER, ONE).engines, replica(OLDER, ONE).spec_hash),
    )


def test_old_and_new_pods_of_an_edit_are_charged_until_it_is_ready() -> None:
    """On one node: two copies of one GPU each become two of two, so a third GPU is taken or a fourth."""
    rolling = edited(OLDER, Wish(devices=1, copies=2), Wish(devices=2, copies=2))
    assert planned(job(THIRD, 1, ONE), 1, rolling).missing == 1
    backwards = edited(OLDER, Wish(devices=2, copies=2), Wish(devices=1, copies=2))
    assert planned(job(THIRD, 1, ONE), 1, backwards).missing == 1
    assert planned(job(THIRD, 1, ONE), 1, replace(backwards, previous=None, ready=True)).missing == 0


def test_of_two_edits_into_the_same_devices_the_younger_goes_back() -> None:
    older, younger = edited(OLDER, ONE, TWO), edited(YOUNGER, TWO, THREE)
    found = contention({"c": cluster(1)}, [younger, older])
    assert {r.identity: to and to.identity for r, to in found.rolled_back.items()} == {YOUNGER: OLDER}
    [back] = planned(job(YOUNGER, 1, THREE), 1, younger, older).placements
    assert (back.engines, back.rolls_back) == (replica(YOUNGER, TWO).engines, True)


def test_one_that_goes_back_takes_nothing_of_others_into_account_as_its_own() -> None:
    """It is charged for both its specs. Another pod of its old size stays charged as well."""
    older, younger = edited(OLDER, ONE, TWO), edited(YOUNGER, ONE, THREE)
    plan = planned(job(YOUNGER, 1, TWO), 1, younger, older, replica(THIRD, ONE))
    assert [(p.action, p.rolls_back) for p in plan.placements] == [(Action.AWAIT_SUCCESSOR, True)]


# Pools that change


def test_sharing_that_is_switched_on_moves_nothing_and_counts_devices() -> None:
    there = replica(OLDER, ONE), replica(YOUNGER, TWO)
    assert planned(job(THIRD, 1, ONE), 2, *there, shared=False).missing == 1
    assert planned(job(THIRD, 1, ONE), 2, *there).missing == 0


def test_sharing_that_is_switched_off_moves_nothing_that_served() -> None:
    there = replica(OLDER, ONE), replica(YOUNGER, TWO)
    for owner, wish in ((OLDER, ONE), (YOUNGER, TWO)):
        [placed] = planned(job(owner, 1, wish), 1, *there, shared=False).placements
        assert placed.action is Action.KEEP
    assert planned(job(THIRD, 1, ONE), 1, *there, shared=False).missing == 1


def test_a_pod_that_its_class_no_longer_describes_takes_the_node() -> None:
    """Nobody knows which of the devices it holds."""
    small = Pool("p", 3, NodeShape((Device("gpu", 4, GPU, "nic", 80),)), shared=True)
    there = replica(OLDER, Wish(word="big"))
    other = job(THIRD, 3, Wish(word="nic", devices=2))
    plan = solve(other, Fleet({"c": Cluster("c", pools=(small,))}, (there,)))
    assert len(plan.placements) == 2
    assert stuck(small, [there.specs, *((p.engines,) for p in plan.placements)]) is None


def test_a_pod_that_requests_more_than_its_class_has_by_now_does_not_close_the_pool() -> None:
    there = replica(OLDER, Wish(cpu=20))
    assert planned(job(THIRD, 1, Wish(cpu=8)), 2, there, shape="counted").missing == 0
