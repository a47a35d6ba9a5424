"""Which pods a shared pool can promise a place: examples, and what it takes to find out."""

from __future__ import annotations

import itertools

import pytest

from function.scheduling.budget import StepLimit
from function.scheduling.packing import NodeCapacity, PodDemand, fits_empty, is_safe, most_more

GI = 1 << 30
EIGHT = NodeCapacity((8,))


def pod(count: int, *entries: int, cpu: int = 0, memory: int = 0) -> PodDemand:
    """A pod with one request, for devices of the first entry unless others are given."""
    return PodDemand(((count, entries or (0,)),), (cpu, memory, 0))


# One kind of device


def test_pods_of_one_device_fill_a_pool_to_the_last_device() -> None:
    assert is_safe({EIGHT: 16}, {pod(1): 128})
    assert not is_safe({EIGHT: 16}, {pod(1): 129})
    assert most_more({EIGHT: 16}, {pod(1): 100}, pod(1), 1000) == 28


def test_a_pod_that_takes_all_devices_counts_on_nodes_that_no_others_can_touch() -> None:
    """Three small pods may lie on three nodes, though one node would hold them."""
    assert is_safe({EIGHT: 4}, {pod(1): 3, pod(8): 1})
    assert not is_safe({EIGHT: 4}, {pod(1): 3, pod(8): 2})
    assert not is_safe({EIGHT: 4}, {pod(1): 4, pod(8): 1})


def test_the_promise_to_those_who_are_there_survives_the_newcomer() -> None:
    """There is room for a fourth small pod wherever the others are, but the large one may then find none."""
    there = {pod(8): 1, pod(1): 3}
    assert is_safe({EIGHT: 4}, there)
    assert most_more({EIGHT: 4}, there, pod(1), 10) == 0
    assert most_more({EIGHT: 4}, {pod(1): 3}, pod(1), 10) == 10


def test_pods_that_do_not_lie_on_one_node_together_do_not_block_it_together() -> None:
    """Two pods of five do not fit on a node, so however many there are, two devices are left on each node."""
    assert is_safe({EIGHT: 3}, {pod(5): 3, pod(2): 1})
    assert is_safe({EIGHT: 3}, {pod(5): 3, pod(3): 1})
    assert not is_safe({EIGHT: 3}, {pod(5): 3, pod(3): 1, pod(1): 1})


def test_odd_sizes_leave_devices_that_nobody_can_use() -> None:
    """Two pods of three on each node leave two devices, and no third one finds room."""
    assert is_safe({EIGHT: 3}, {pod(3): 6})
    assert not is_safe({EIGHT: 3}, {pod(3): 7})


def test_a_pod_that_is_larger_than_a_node_is_never_safe() -> None:
    assert not is_safe({EIGHT: 3}, {pod(9): 1})
    assert not is_safe({}, {pod(1): 1})
    assert not fits_empty(EIGHT, pod(9))
    assert fits_empty(EIGHT, pod(8))


def test_a_pod_that_takes_nothing_is_always_fine() -> None:
    assert is_safe({}, {PodDemand(): 3})
    assert is_safe({EIGHT: 1}, {PodDemand(((0, (0,)),)): 3, pod(8): 1})
    assert most_more({EIGHT: 1}, {pod(8): 1}, PodDemand(), 7) == 7


def test_nothing_is_promised_on_a_pool_that_is_not_safe() -> None:
    assert most_more({EIGHT: 1}, {pod(8): 2}, PodDemand(), 7) == 0
    assert most_more({EIGHT: 1}, {}, pod(1), 0) == 0


# Several entries and requests


def test_requests_that_draw_on_several_entries_are_blocked_by_what_is_left_of_all() -> None:
    node = NodeCapacity((2, 2))
    assert is_safe({node: 1}, {pod(3, 0, 1): 1, pod(1, 0, 1): 1})
    assert not is_safe({node: 1}, {pod(3, 0, 1): 1, pod(2, 0, 1): 1})


def test_a_request_with_a_choice_may_take_the_devices_that_another_needs() -> None:
    node = NodeCapacity((2, 2))
    assert not is_safe({node: 1}, {pod(1, 0): 1, pod(2, 0, 1): 1})
    assert is_safe({node: 1}, {pod(2, 0): 1, pod(2, 1): 1})
    assert is_safe({node: 2}, {pod(1, 0): 1, pod(2, 0, 1): 1})


def test_a_pod_with_two_requests_needs_both_on_one_node() -> None:
    both, node = PodDemand(((1, (0,)), (1, (1,)))), NodeCapacity((1, 1))
    assert is_safe({node: 3}, {pod(1, 0): 1, pod(1, 1): 1, both: 1})
    assert not is_safe({node: 2}, {pod(1, 0): 1, pod(1, 1): 1, both: 1})


# Cpu and memory


def test_cpu_and_memory_block_a_node_as_devices_do() -> None:
    node = NodeCapacity((8,), (32_000, 100 * GI, None))
    assert is_safe({node: 2}, {pod(1, cpu=4_000): 16})
    assert not is_safe({node: 2}, {pod(1, cpu=5_000): 16})
    assert most_more({node: 2}, {}, pod(1, memory=30 * GI), 100) == 6


def test_what_is_not_known_is_not_counted() -> None:
    assert is_safe({NodeCapacity((8,)): 1}, {pod(1, cpu=10**9): 8})


def test_a_pod_without_a_request_fits_where_nothing_is_left_of_a_resource() -> None:
    node = NodeCapacity((8,), (-1, 0, None))
    assert is_safe({node: 1}, {pod(4): 2})
    assert not is_safe({node: 1}, {pod(4): 2, pod(1): 1})
    assert not is_safe({node: 1}, {pod(1, cpu=1): 1})


# Nodes that differ


def test_nodes_on_which_a_pod_does_not_fit_are_of_no_use_to_it() -> None:
    nodes = {EIGHT: 1, NodeCapacity((4,)): 5}
    assert is_safe(nodes, {pod(8): 1})
    assert not is_safe(nodes, {pod(8): 1, pod(1): 1})
    assert is_safe(nodes, {pod(4): 7})
    assert not is_safe(nodes, {pod(4): 8})


def test_many_capacities_are_counted_as_few() -> None:
    nodes = {NodeCapacity((8,), (64_000 + i, None, None)): 1 for i in range(200)}
    assert most_more(nodes, {}, pod(1, cpu=8_000), 10_000) == 1_600


# What it takes


def answered(nodes: int, sizes: range, each: int) -> StepLimit:
    limit = StepLimit(10**9)
    is_safe({EIGHT: nodes}, {pod(size): each for size in sizes}, limit)
    return limit


def test_the_steps_do_not_grow_with_the_pool() -> None:
    small = [answered(16, range(1, 5), each).steps for each in range(1, 13)]
    large = [answered(1600, range(1, 5), 100 * each).steps for each in range(1, 13)]
    assert sum(large) <= 2 * sum(small)


def test_the_most_that_fits_takes_few_answers() -> None:
    """One for each doubling, and one for each halving."""
    found = []
    for nodes in (10, 1_000, 100_000):
        limit = StepLimit(10**9)
        assert most_more({EIGHT: nodes}, {}, pod(1), 10**6, limit) == 8 * nodes
        found.append(limit.steps)
    assert found[2] <= 3 * found[0]


def test_the_steps_for_one_answer_are_bounded() -> None:
    """Many pods without devices that share cpu: there are too many ways to fill a node."""
    pods = {PodDemand((), (cpu, cpu % 7 + 1, 0)): 40 for cpu in range(90, 130)}
    for nodes in (5, 20, 40):
        limit = StepLimit(10**9)
        is_safe({NodeCapacity((), (4_000, 300, None)): nodes}, pods, limit)
        assert limit.steps < 30_000


def test_a_limit_that_is_used_up_promises_nothing() -> None:
    question = {EIGHT: 3}, {pod(3): 6}
    limit = StepLimit(10**6)
    assert is_safe(*question, limit)
    assert limit.steps > 0
    assert not is_safe(*question, StepLimit(limit.steps - 1))
    assert not is_safe({EIGHT: 3}, {}, StepLimit(0, 1))


def test_an_answer_that_is_remembered_charges_the_same_steps() -> None:
    question = {EIGHT: 7}, {pod(3): 5, pod(2): 9}
    first, second = StepLimit(10**6), StepLimit(10**6)
    assert is_safe(*question, first) == is_safe(*question, second)
    assert first.steps == second.steps > 0


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_pods_and_nodes_plays_no_part(order: tuple[int, ...]) -> None:
    pods = [(pod(3), 2), (pod(2), 3), (pod(1), 1)]
    nodes = [(EIGHT, 1), (NodeCapacity((4,)), 1), (NodeCapacity((8,), (4, None, None)), 1)]
    limit = StepLimit(10**6)
    assert is_safe(dict(nodes[i] for i in order), dict(pods[i] for i in order), limit)
    want = StepLimit(10**6)
    is_safe(dict(nodes), dict(pods), want)
    assert limit.steps == want.steps
