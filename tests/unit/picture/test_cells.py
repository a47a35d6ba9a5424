"""Nodes as cells: who is drawn on which node, before and after."""

from __future__ import annotations

from typing import Any

import pytest

from function.picture import cells
from tests.support.pictures import group, occupant, pool

CHAT, SEARCH = occupant("ml/chat", "chat-1"), occupant("ml/search", "search-1")


def drawn(before: Any, after: Any, capacity: str = "Declared") -> list[tuple[str, list[str], list[str]]]:
    """Of each node its state, and the replicas on its slots before and after."""
    found = cells.cells(before, after, capacity)
    return [(cell.state, [_name(p) for p in cell.before], [_name(p) for p in cell.after]) for cell in found]


def _name(pod: cells.Pod | None) -> str:
    return "-" if pod is None else pod.replica.partition("/")[2] or pod.deployment


def test_a_pod_takes_a_whole_node() -> None:
    got = drawn(pool("l4", 3, CHAT, SEARCH), pool("l4", 3, CHAT, SEARCH))

    assert got == [
        ("Ready", ["chat-1"], ["chat-1"]),
        ("Ready", ["search-1"], ["search-1"]),
        ("Ready", ["-"], ["-"]),
    ]


def test_a_gang_takes_a_node_for_each_pod() -> None:
    gang = occupant("ml/chat", "chat-1", pods=2)

    assert [now for _, _, now in drawn(None, pool("l4", 3, gang))] == [["chat-1"], ["chat-1"], ["-"]]


def test_what_stays_keeps_its_node_when_others_come_and_go() -> None:
    new = occupant("ml/a-first", "a-first-1")
    got = drawn(pool("l4", 3, CHAT, SEARCH), pool("l4", 3, new, SEARCH))

    assert got == [("Ready", ["chat-1"], ["-"]), ("Ready", ["search-1"], ["search-1"]), ("Ready", ["-"], ["a-first-1"])]


def test_what_comes_to_a_full_pool_is_drawn_where_something_leaves() -> None:
    got = drawn(pool("l4", 1, CHAT), pool("l4", 1, SEARCH))

    assert got == [("Ready", ["chat-1"], ["search-1"])]


def test_pods_beyond_the_nodes_of_a_pool_are_drawn_on_nodes_that_are_missing() -> None:
    got = drawn(None, pool("l4", 1, CHAT, SEARCH))

    assert [(state, now) for state, _, now in got] == [("Ready", ["chat-1"]), ("Missing", ["search-1"])]


def test_a_shared_node_is_divided_into_devices() -> None:
    two, one = occupant("ml/chat", "chat-1", devices=2), occupant("ml/search", "search-1", devices=1)
    got = drawn(None, pool("h100", 1, one, two, sharing="Devices", slots=4))

    assert [now for _, _, now in got] == [["chat-1", "chat-1", "search-1", "-"]]


def test_a_slot_of_a_node_with_many_devices_stands_for_several() -> None:
    half = occupant("ml/chat", "chat-1", devices=28)
    [(_, _, now)] = drawn(None, pool("mig", 1, half, sharing="Devices", slots=56))

    assert (len(now), now.count("chat-1")) == (cells.MOST_SLOTS, cells.MOST_SLOTS // 2)


def test_a_pool_that_shrinks_shows_the_nodes_that_it_loses() -> None:
    got = drawn(pool("l4", 3, CHAT), pool("l4", 1, CHAT))

    assert [state for state, *_ in got] == ["Ready", "Removed", "Removed"]


def test_a_pool_that_is_new_or_gone_is_drawn() -> None:
    assert drawn(None, pool("l4", 1)) == [("Ready", ["-"], ["-"])]
    assert drawn(pool("l4", 1, CHAT), None) == [("Removed", ["chat-1"], ["-"])]


def test_a_pool_that_was_not_published_yet_has_the_nodes_that_it_gets() -> None:
    got = drawn(pool("l4", 5, published=False), pool("l4", 2, CHAT))

    assert [state for state, *_ in got] == ["Ready", "Ready"]


def test_nothing_is_known_of_the_nodes_of_a_pool_that_is_not_published() -> None:
    assert [state for state, *_ in drawn(None, pool("l4", 2, published=False))] == ["Unknown", "Unknown"]


def test_an_observation_that_does_not_count_leaves_states_unknown() -> None:
    assert [state for state, *_ in drawn(None, pool("l4", 1), "Stale")] == ["Unknown"]


# Observed nodes


def observed(*groups: Any, left: int = 0) -> dict[str, Any]:
    return {"groups": list(groups), "left": left, "outOfStock": False}


def test_pods_are_on_the_nodes_on_which_they_are_observed() -> None:
    holder = {"holders": [{"workload": "ml/search-1-engine", "devices": 1}]}
    seen = observed(group("Ready", ("a",)), group("Ready", ("b",), **holder))
    there = pool("l4", 2, SEARCH, observed=seen)
    found = cells.cells(there, there, "Observed")

    assert [(cell.name, _name(cell.after[0])) for cell in found] == [("a", "-"), ("b", "search-1")]


@pytest.mark.parametrize("state", ["Cordoned", "NotReady", "Tainted"])
def test_no_pod_that_is_observed_nowhere_is_drawn_on_a_node_that_takes_none(state: str) -> None:
    seen = observed(group(state, ("a",)), group("Ready", ("b",)))
    there = pool("l4", 2, CHAT, observed=seen)

    assert [(s, now) for s, _, now in drawn(None, there, "Observed")] == [(state, ["-"]), ("Ready", ["chat-1"])]


def test_devices_of_others_are_reserved_on_both_sides() -> None:
    there = pool("l4", 1, observed=observed(group("Ready", ("a",), foreign=1)))

    assert drawn(there, there, "Observed") == [("Ready", [cells.OTHERS], [cells.OTHERS])]


def test_a_pod_that_left_is_not_drawn_although_the_observation_still_has_it() -> None:
    holder = {"holders": [{"workload": "ml/chat-1-engine", "devices": 1}]}
    seen = observed(group("Ready", ("a",), **holder))
    got = drawn(pool("l4", 1, CHAT, observed=seen), pool("l4", 1, observed=seen), "Observed")

    assert got == [("Ready", ["chat-1"], ["-"])]


def test_nodes_beyond_those_that_are_observed_are_not_there_yet_or_not_known() -> None:
    seen = observed(group("Ready", ("a",)))
    cut = observed(group("Ready", ("a",)), left=2)

    assert [s for s, *_ in drawn(None, pool("l4", 2, observed=seen), "Observed")] == ["Ready", "Absent"]
    assert [s for s, *_ in drawn(None, pool("l4", 3, observed=cut), "Observed")] == ["Ready", "Unknown", "Unknown"]
