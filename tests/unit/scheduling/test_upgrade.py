"""A new version of the function reaches replicas one after the other, and never the last one that serves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from function.scheduling import NotProven
from tests.support.rollouts import Play, serving

GOOD, UPGRADED = "good 1", "good 1-2"


def upgraded(wanted: int, **pools: int) -> Play:
    play = serving(wanted, **pools)
    play.upgrade(2)
    return play


def fewest_up(play: Play, passes: int = 12) -> int:
    """The fewest replicas that serve at any time of a rollout, with pods that take a pass to start."""
    fewest = len(play.serving)
    for _ in range(passes):
        play.decide()
        fewest = min(fewest, len(play.serving))
        play.start()
        fewest = min(fewest, len(play.serving))
    return fewest


@pytest.mark.parametrize("wanted", [2, 3, 4])
def test_replicas_are_given_their_turn_one_after_the_other(wanted: int) -> None:
    play = upgraded(wanted, a=2, b=2)
    assert fewest_up(play) == wanted - 1
    assert (play.serving, sorted(play.runs.values())) == ([UPGRADED] * wanted, [UPGRADED] * wanted)


def test_nobody_is_given_a_turn_before_it_has_said_that_it_waits() -> None:
    """Otherwise it would seem to be ready with what it was given a moment ago."""
    play = upgraded(3, a=3)
    for _ in range(3):
        plan = play.decide()
    assert (play.serving, len(plan.left_alone), plan.wait) == ([GOOD] * 3, 3, None)


def test_a_replica_is_waited_for_until_it_has_composed_what_it_was_given() -> None:
    play = upgraded(3, a=3)
    play.start()
    for _ in range(4):
        play.decide()
    assert play.serving == [GOOD, GOOD, UPGRADED]


def test_a_version_whose_pods_do_not_start_stops_at_the_first() -> None:
    play = upgraded(3, a=3)
    play.broken = frozenset({2})
    play.settle()
    assert play.serving == [GOOD, GOOD]
    play.broken = frozenset()
    play.settle()
    assert play.serving == [UPGRADED] * 3


def test_of_two_the_other_is_not_taken_while_a_version_does_not_start() -> None:
    play = upgraded(2, a=2)
    play.broken = frozenset({2})
    plan = play.settle()
    assert (play.serving, [r.spec_hash for r in plan.left_alone]) == ([GOOD], [GOOD])


def test_a_downgrade_is_rolled_out_as_well() -> None:
    play = upgraded(3, a=3)
    play.settle()
    play.upgrade(1)
    assert fewest_up(play) == 2
    assert play.serving == [GOOD] * 3


def test_a_downgrade_in_the_middle_goes_back() -> None:
    play = upgraded(3, a=3)
    play.start()
    play.decide()
    play.start()
    play.upgrade(1)
    play.settle()
    assert play.serving == [GOOD] * 3


# The only replica


def test_the_only_replica_is_left_alone() -> None:
    play = upgraded(1, a=3)
    play.settle()
    assert (play.serving, list(play.runs.values())) == ([GOOD], [GOOD])


def test_two_versions_later_it_is_still_left_alone() -> None:
    play = upgraded(1, a=3)
    play.settle()
    play.upgrade(3)
    play.settle()
    assert (play.serving, list(play.runs.values())) == ([GOOD], [GOOD])


def test_the_next_edit_brings_the_new_version() -> None:
    play = upgraded(1, a=1)
    play.settle()
    play.edit("better 1")
    play.settle()
    assert play.serving == ["better 1-2"]


def test_the_user_brings_the_new_version() -> None:
    play = upgraded(1, a=1)
    play.settle()
    play.waved = True
    play.settle()
    assert play.serving == [UPGRADED]


def test_scaling_up_brings_the_new_version_once_another_serves() -> None:
    play = upgraded(1, a=2)
    play.settle()
    play.edit(replicas=2)
    always = []
    for _ in range(8):
        play.decide()
        play.start()
        always.append(len(play.serving))
    assert (play.serving, min(always)) == ([UPGRADED] * 2, 1)


def test_scaling_up_to_a_version_that_does_not_start_leaves_the_one_that_serves() -> None:
    play = upgraded(1, a=2)
    play.broken = frozenset({2})
    play.settle()
    play.edit(replicas=2)
    play.settle()
    assert play.serving == [GOOD]


def test_a_replica_that_fails_is_given_the_new_version() -> None:
    play = upgraded(1, a=1)
    play.settle()
    play.replicas = tuple(replace(r, serving=False, ready=False) for r in play.replicas)
    play.settle()
    assert play.serving == [UPGRADED]


# Scaled meanwhile


def test_two_are_scaled_to_one_with_the_upgrade() -> None:
    """The one that stays is not made to wait for the other to try the new version."""
    play = upgraded(2, a=2)
    play.start()
    play.edit(replicas=1)
    play.settle()
    assert (play.serving, list(play.runs.values()).count(UPGRADED)) == ([GOOD], 0)


def test_two_are_scaled_to_one_while_the_first_restarts() -> None:
    play = upgraded(2, a=2)
    play.start()
    play.decide()
    play.start()
    assert play.serving == [GOOD]
    play.edit(replicas=1)
    play.settle()
    assert play.serving == [GOOD]


def test_two_are_scaled_to_one_once_the_first_is_up_again() -> None:
    play = upgraded(2, a=2)
    play.start()
    play.decide()
    play.start()
    play.start()
    play.edit(replicas=1)
    play.settle()
    assert play.serving == [UPGRADED]


def test_the_only_one_of_three_that_serves_waits_for_the_others() -> None:
    play = serving(3, a=3)
    ill = play.replicas[1:]
    play.replicas = (play.replicas[0], *(replace(r, serving=False, ready=False) for r in ill))
    play.upgrade(2)
    play.broken = frozenset({2})
    play.replicas = tuple(replace(r, awaits_turn=True) for r in play.replicas)
    plan = play.decide()
    assert [r.identity for r in plan.left_alone] == [play.replicas[0].identity]
    assert play.given[UPGRADED] == 0
    play.broken = frozenset()
    play.settle()
    assert play.serving == [UPGRADED] * 3


# Revisions


def test_a_spec_that_was_tried_in_vain_is_not_tried_again_with_a_new_version() -> None:
    """The one that tried it is gone, and there is no room for another."""
    play = serving(2, a=1, b=1)
    play.edit("bad 1")
    play.settle()
    [sick] = [r for r in play.replicas if not r.serving]
    play.lose(sick.cluster)
    play.settle()
    play.upgrade(2)
    assert (play.settle().wait, play.serving) == (NotProven(), [GOOD])


def test_an_edit_and_an_upgrade_together_cost_one_at_a_time() -> None:
    play = upgraded(3, a=3)
    play.edit("better 1")
    assert fewest_up(play) == 2
    assert play.serving == ["better 1-2"] * 3


def test_a_bad_edit_and_an_upgrade_together_cost_one() -> None:
    play = upgraded(3, a=3)
    play.edit("bad 1")
    play.settle()
    assert play.serving == [GOOD, GOOD]


def test_an_upgrade_moves_no_successor_that_is_on_its_way() -> None:
    """A replica that makes way for a costlier spec still does, and its successor stays."""
    play = serving(1, a=2, b=4)
    play.edit("good 3")
    play.decide()
    [successor] = [r.identity for r in play.replicas if not r.serving]
    play.upgrade(2)
    play.settle()
    assert ([r.identity for r in play.replicas], play.serving) == ([successor], ["good 3-2"])
