"""A bad image stops at the first replica, whatever is scaled, lost or edited meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from function.scheduling import Action, EvictionReason, NotProven, Revision, TooFewServe
from tests.support.rollouts import serving

GOOD, BAD = "good 1", "bad 1"


def test_a_rollout_that_is_stuck_survives_a_scale_down_to_one() -> None:
    play = serving(2, a=1, b=1)
    play.edit(BAD)
    play.settle()
    play.edit(replicas=1)
    play.settle()
    assert (play.serving, play.given[BAD]) == ([GOOD], 1)


def test_an_autoscaler_that_scales_down_step_by_step_takes_none_but_the_sick_one() -> None:
    play = serving(5, a=5)
    play.edit(BAD)
    play.settle()
    served = []
    for replicas in (4, 3, 2, 1):
        play.edit(replicas=replicas)
        play.settle()
        served.append(play.serving)
    assert served == [[GOOD] * 4, [GOOD] * 3, [GOOD] * 2, [GOOD]]


def test_an_autoscaler_that_scales_while_an_image_is_bad_never_costs_one_that_serves() -> None:
    play = serving(3, a=6)
    play.edit(BAD)
    for replicas in (2, 4, 2, 3, 1, 5, 1):
        play.edit(replicas=replicas)
        play.settle()
        assert len(play.serving) >= min(replicas, 1)
    assert play.given[BAD] <= 1


def test_the_sick_ones_cluster_is_lost_and_there_is_no_room_elsewhere() -> None:
    play = serving(2, a=1, b=1)
    play.edit(BAD)
    play.settle()
    [sick] = [r for r in play.replicas if not r.serving]
    play.lose(sick.cluster)
    plan = play.settle()
    assert (play.serving, plan.wait, plan.missing) == ([GOOD], NotProven(), 1)


def test_a_bad_image_and_a_scale_down_to_one_in_one_edit() -> None:
    """The surplus one tries the image, and the other serves."""
    play = serving(2, a=1, b=1)
    play.edit(BAD, replicas=1)
    plan = play.settle()
    assert play.serving == [GOOD]
    assert list(plan.leaving.values()) == [EvictionReason.SUCCEEDED]


def test_a_good_image_and_a_scale_down_to_one_in_one_edit() -> None:
    play = serving(2, a=1, b=1)
    play.edit("better 1", replicas=1)
    always = []
    for _ in range(6):
        play.decide()
        always.append(len(play.serving))
        play.start()
    assert (play.serving, min(always)) == (["better 1"], 1)


def test_a_bad_image_and_a_scale_down_of_many_in_one_edit() -> None:
    play = serving(5, a=5)
    play.edit(BAD, replicas=1)
    play.settle()
    assert play.serving == [GOOD]


def test_one_of_two_is_placed_and_any_edit_leaves_it_alone() -> None:
    play = serving(2, a=1)
    play.edit("better 1")
    plan = play.settle()
    assert (play.serving, plan.wait) == ([GOOD], TooFewServe(0, 1))


def test_an_edit_that_waits_for_room_is_waved_through() -> None:
    play = serving(2, a=1)
    play.edit("better 1")
    play.settle()
    play.waved = True
    play.settle()
    assert play.serving == ["better 1"]


def test_an_edit_that_waits_for_room_goes_on_when_fewer_are_wanted() -> None:
    play = serving(2, a=1)
    play.edit("better 1")
    play.settle()
    play.edit(replicas=1)
    play.settle()
    assert play.serving == ["better 1"]


def test_a_revision_that_was_tried_in_vain_is_waved_through() -> None:
    """Its image did not start for a reason of its own, which has been mended."""
    play = serving(1, a=1)
    play.noted = (*play.noted, Revision("mended 1", tried=True))
    play.edit("mended 1")
    assert (play.settle().wait, play.serving) == (NotProven(), [GOOD])
    play.waved = True
    play.settle()
    assert play.serving == ["mended 1"]


def test_a_good_revision_whose_trial_was_scaled_away_is_tried_elsewhere() -> None:
    """An autoscaler that scales down while a new image loads does not stop the rollout for good."""
    play = serving(3, a=3)
    play.edit("better 1")
    play.decide()
    play.edit(replicas=2)
    play.settle()
    assert play.serving == ["better 1"] * 2


def test_without_room_for_another_a_revision_whose_trial_is_gone_waits() -> None:
    play = serving(2, a=1, b=1)
    play.edit("better 1")
    play.decide()
    [trial] = [r for r in play.replicas if r.spec_hash == "better 1"]
    play.lose(trial.cluster)
    plan = play.settle()
    assert (play.serving, plan.wait) == ([GOOD], NotProven())


def test_a_good_image_reaches_all_and_never_more_than_one_is_down() -> None:
    play = serving(4, a=2, b=2)
    play.edit("better 1")
    fewest = 4
    for _ in range(8):
        play.decide()
        fewest = min(fewest, len(play.serving))
        play.start()
    assert (play.serving, fewest) == (["better 1"] * 4, 3)


def test_one_that_fails_for_a_moment_is_not_given_what_never_served() -> None:
    play = serving(3, a=3)
    play.edit(BAD)
    play.settle()
    ill = next(r for r in play.replicas if r.serving)
    play.replicas = tuple(replace(r, serving=r is not ill and r.serving) for r in play.replicas)
    play.decide()
    play.start()
    assert play.serving == [GOOD] * 2


def test_with_nothing_that_serves_all_are_given_the_edit_at_once() -> None:
    play = serving(1, BAD, a=0)
    play.pools["a"] = 3
    play.edit(replicas=3)
    play.settle()
    play.edit("good 1")
    plan = play.decide()
    assert [p.action for p in plan.placements] == [Action.UPDATE] * 3


def test_an_edit_back_to_what_served_reaches_the_sick_one() -> None:
    play = serving(2, a=1, b=1)
    play.edit(BAD)
    play.settle()
    play.edit(GOOD)
    play.settle()
    assert play.serving == [GOOD] * 2


def test_the_memory_is_derived_from_replicas_where_the_status_is_lost() -> None:
    play = serving(2, a=1, b=1)
    play.edit(BAD)
    play.settle()
    noted, play.noted = play.noted, ()
    assert play.decide().revisions == noted


def test_four_revisions_are_remembered_the_current_one_first() -> None:
    play = serving(1, a=1)
    for n in range(6):
        play.edit(f"bad-{n} 1")
        play.settle()
    assert [r.hash for r in play.noted] == ["bad-5 1", "bad-4 1", "bad-3 1", "bad-2 1"]


# Nodes


@pytest.mark.parametrize("lingering", [False, True], ids=["it goes at once", "a service leads to it"])
def test_nothing_grows_into_nodes_that_a_leaving_replica_holds(lingering: bool) -> None:
    """A pool of two; in one edit one replica less, and two nodes each."""
    play = serving(2, a=2)
    play.lingering = lingering
    play.edit("good 2", replicas=1)
    play.decide()
    held = sum(sum(r.nodes().values()) for r in play.replicas)
    assert (held <= 2, play.serving) == (True, [GOOD] * (2 if lingering else 1))
    play.lingering = False
    play.settle()
    assert play.serving == ["good 2"]


def test_nodes_of_a_replica_that_is_being_deleted_are_not_free() -> None:
    play = serving(1, a=1)
    play.replicas = tuple(replace(r, deleting=True, serving=False) for r in play.replicas)
    assert play.decide().placements == ()
