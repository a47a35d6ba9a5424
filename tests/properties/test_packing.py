"""The laws of shared pools: never too hopeful, by every arrangement of small ones, and seldom too timid."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from function.scheduling import blocking, covering, groups, packing
from function.scheduling.packing import NodeCapacity, Nodes, PodDemand, Pods, is_safe, most_more
from tests.support.arrangements import free, left, stuck
from tests.support.random_pools import small_pool


def pod(count: int) -> PodDemand:
    return PodDemand(((count, (0,)),))


def compared(pools: Iterable[tuple[Nodes, Pods]]) -> Counter[str]:
    """What is said of pools, beside what every arrangement of them shows. Fails where too much is promised."""
    found: Counter[str] = Counter()
    for nodes, pods in pools:
        safe, blocked = is_safe(nodes, pods), arranged(frozenset(nodes.items()), frozenset(pods.items()))
        assert not (safe and blocked), f"{pods} on {nodes}: {blocked}"
        found["pools"] += 1
        found["safe"] += blocked is None
        found["too timid"] += blocked is None and not safe
    return found


@lru_cache(maxsize=1024)
def arranged(nodes: frozenset[tuple[NodeCapacity, int]], pods: frozenset[tuple[PodDemand, int]]) -> Any:
    return stuck(dict(nodes), dict(pods))


def of_one_kind(sizes: Iterable[int], most_pods: int) -> Iterable[tuple[Nodes, Pods]]:
    for nodes, devices in itertools.product((1, 2, 3), sizes):
        for n in range(1, most_pods + 1):
            for pods in itertools.combinations_with_replacement([s for s in (1, 2, 3, 5, 8) if s <= devices], n):
                yield {NodeCapacity((devices,)): nodes}, Counter(map(pod, pods))


def shown(found: Counter[str]) -> str:
    share = 100 * found["too timid"] / found["safe"]
    return f"{found['pools']} pools, {found['safe']} safe, {found['too timid']} of them refused ({share:.2f} %)"


def test_small_pools_of_one_kind_of_device_are_answered_exactly() -> None:
    found = compared(of_one_kind((4, 8), 5))
    assert found["safe"] > 300
    assert found["pools"] > found["safe"]
    assert found["too timid"] == 0


def test_small_pools_of_all_sorts_are_answered_exactly() -> None:
    random = Random(2026)
    found = compared(small_pool(random) for _ in range(60))
    assert 15 < found["safe"] < 50
    assert found["too timid"] == 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_no_small_pool_is_promised_too_much(seed: int) -> None:
    assert compared([small_pool(Random(seed))])["too timid"] == 0


COARSER = {
    "few groups of pods": (groups, "_MOST_GROUPS", 1),
    "few lots of nodes": (groups, "_MOST_LOTS", 1),
    "few patterns": (covering, "_MOST_PATTERNS", 0),
    "small patterns": (covering, "_MOST_TOGETHER", 1),
    "few unions of entries": (blocking, "_MOST_UNIONS", 1),
    "few steps": (packing, "_MOST_STEPS", 5),
}


@pytest.mark.parametrize("bound", COARSER)
def test_at_its_bounds_it_is_timid_and_never_too_hopeful(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pools stay far below the bounds. With lower ones, less is promised, and never too much."""
    module, name, lower = COARSER[bound]
    pools = few_pools()
    forget()
    monkeypatch.setattr(module, name, lower)
    try:
        found = compared(pools)
    finally:
        forget()
    assert 0 < found["too timid"] < found["safe"]


@lru_cache
def few_pools() -> list[tuple[Nodes, Pods]]:
    random = Random(16)
    return [small_pool(random) for _ in range(250)]


def forget() -> None:
    for remembered in (packing._answer, packing._groups, blocking._limits):
        remembered.cache_clear()


@pytest.mark.slow
def test_many_small_pools_are_answered_exactly() -> None:
    random = Random(7)
    one = compared(of_one_kind((2, 3, 4, 6, 8), 7))
    many = compared(small_pool(random) for _ in range(1500))
    print(f"one kind of device: {shown(one)}; all sorts: {shown(many)}")
    assert one["too timid"] == many["too timid"] == 0


# Larger pools


@st.composite
def pools(draw: st.DrawFn) -> tuple[Nodes, Pods]:
    """Pools of up to forty nodes that may differ, with up to a dozen kinds of pods."""
    random = Random(draw(st.integers(0, 10**9)))
    devices, counted = random.choice((4, 8, 16)), random.random() < 0.5

    def capacity() -> NodeCapacity:
        return NodeCapacity((devices - random.choice((0, 0, 0, 1)),), (random.randint(60, 70), None, None))

    def kind() -> PodDemand:
        size = random.choice((1, 1, 2, 3, 4, devices - 1, devices))
        return PodDemand(((size, (0,)),), (random.randint(1, 4 * size) if counted else 0, 0, 0))

    nodes = Counter(capacity() for _ in range(random.randint(1, 40)))
    return nodes, Counter({kind(): random.randint(1, 20) for _ in range(random.randint(1, 12))})


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(pools(), st.randoms(use_true_random=False))
def test_a_pool_with_fewer_pods_is_as_safe(pool: tuple[Nodes, Pods], random: Random) -> None:
    nodes, pods = pool
    admitted: Counter[PodDemand] = Counter()
    for kind in random.sample(sorted(pods, key=repr), len(pods)):
        admitted[kind] += most_more(nodes, admitted, kind, pods[kind])
    assert is_safe(nodes, admitted)
    while admitted := +admitted:
        admitted[random.choice(sorted(admitted, key=repr))] -= random.randint(1, 3)
        assert is_safe(nodes, +admitted)


@settings(max_examples=60, deadline=None)
@given(pools())
def test_the_most_that_fits_is_the_last_that_is_safe(pool: tuple[Nodes, Pods]) -> None:
    nodes, pods = pool
    kind, most = max(pods.items(), key=repr)
    others = {other: 1 for other in list(pods)[:3] if other != kind}
    more = most_more(nodes, others, kind, most)
    assert more == 0 or is_safe(nodes, {**others, kind: more})
    assert more == most or not is_safe(nodes, {**others, kind: more + 1})


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(pools(), st.randoms(use_true_random=False))
def test_what_is_admitted_fits_in_any_order_on_any_nodes(pool: tuple[Nodes, Pods], random: Random) -> None:
    """Pods that fill node after node, or all nodes alike, or come at random: the next one always fits somewhere."""
    nodes, pods = pool
    admitted: Counter[PodDemand] = Counter()
    for kind in random.sample(sorted(pods, key=repr), len(pods)):
        admitted[kind] += most_more(nodes, admitted, kind, pods[kind])
    for _ in range(5):
        arriving = random.sample(sorted(admitted.elements(), key=repr), admitted.total())
        if random.random() < 0.5:
            arriving.sort(key=lambda kind: kind.devices, reverse=random.random() < 0.5)
        state = [free(capacity) for capacity in nodes.elements()]
        mode = random.choice(("packed", "scattered", "random"))
        for kind in arriving:
            fitting = [i for i, node in enumerate(state) if left(node, kind)]
            assert fitting, (mode, kind, state)
            i = _chosen(random, mode, fitting, state)
            state[i] = random.choice(sorted(left(state[i], kind), key=repr))


def _chosen(random: Random, mode: str, fitting: list[int], state: list[tuple]) -> int:
    if mode == "random":
        return random.choice(fitting)
    return sorted(fitting, key=lambda i: sum(state[i][0]), reverse=mode == "scattered")[0]
