"""What a shared pool publishes: exact for pods that claim only devices, and never less than what fits of any pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hypothesis import given
from hypothesis import strategies as st

from function.scheduling import Device, Hint, NodeShape, Pool, packing, roughly_vacant, vacancy
from function.scheduling.packing import PodDemand
from function.scheduling.sharing import Pods, Room, capacity, mixtures
from tests.support.arrangements import stuck

GPU, SLICE = (0,), (1,)


def pool(nodes: int, *counts: int, cpu: int | None = None) -> Pool:
    devices = tuple(Device(f"entry-{i}", count, "gpu.nvidia.com", i) for i, count in enumerate(counts))
    return Pool("p", nodes, NodeShape(devices, (cpu, None, None)), shared=True)


def room(of: Pool, pods: Mapping[PodDemand, int]) -> Room:
    return Room(frozenset({(capacity(of.shape), of.nodes)}), frozenset(pods.items()))


def pod(*claims: tuple[int, tuple[int, ...]], cpu: int = 0) -> PodDemand:
    return PodDemand(tuple(sorted(claims)), (cpu, 0, 0))


def gpus(count: int, cpu: int = 0) -> PodDemand:
    return pod((count, GPU), cpu=cpu)


def test_small_pods_may_be_anywhere_and_leave_no_room_for_large_ones() -> None:
    found = vacancy(room(nodes := pool(16, 8), {gpus(1): 97}), nodes)

    [entry] = found.entries
    assert (entry.total, entry.free, found.whole) == (128, 31, 0)
    assert entry.guaranteed == ((8, 0), (4, 0), (2, 8), (1, 31))


def test_an_empty_pool_guarantees_all_that_its_nodes_hold() -> None:
    found = vacancy(room(nodes := pool(3, 8), {}), nodes)

    assert found.whole == 3
    assert found.entries[0].guaranteed == ((8, 3), (4, 6), (2, 12), (1, 24))
    assert found.at_most == ()


def test_sizes_in_use_are_among_those_that_are_given() -> None:
    found = vacancy(room(nodes := pool(4, 8), {gpus(3): 1, gpus(7): 1}), nodes)

    assert [size for size, _ in found.entries[0].guaranteed] == [8, 7, 4, 3, 2, 1]


def test_a_pool_without_nodes_guarantees_nothing() -> None:
    found = vacancy(room(nodes := pool(0, 8), {}), nodes)

    assert (found.whole, found.entries[0].total, {pods for _, pods in found.entries[0].guaranteed}) == (0, 0, {0})


def test_an_overcommitted_pool_has_nothing_left() -> None:
    found = vacancy(room(nodes := pool(1, 8), {gpus(8): 2}), nodes)

    assert (found.whole, found.entries[0].free, found.entries[0].guaranteed[-1]) == (0, 0, (1, 0))


def test_an_engine_that_rolls_leaves_what_is_left_in_every_mixture() -> None:
    before, after = frozenset({(gpus(1), 1)}), frozenset({(gpus(2), 1)})
    rolling = room(nodes := pool(1, 8), {}).plus([mixtures([(before, 2), (after, 2)])])

    found = vacancy(rolling, nodes).entries[0]

    assert (found.free, found.guaranteed[-1]) == (4, (1, 4))


def test_a_claim_that_may_draw_on_several_entries_is_counted_once() -> None:
    found = vacancy(room(nodes := pool(1, 2, 2), {pod((3, (0, 1))): 1}), nodes)

    assert [entry.free for entry in found.entries] == [0, 1]


def test_where_cpu_keeps_pods_apart_the_bound_is_not_what_is_guaranteed() -> None:
    """Two pods that request cpu do not fit on one node, where they would block it for a third."""
    nodes = pool(4, 3, cpu=4)
    taken = room(nodes, {gpus(2): 4})
    truth = packing.most_more(dict(taken.nodes), dict(taken.pods), gpus(1, cpu=3), 9)

    found = vacancy(taken, nodes)

    assert dict(found.entries[0].guaranteed)[1] < truth <= dict(found.at_most)[1]


def test_a_room_with_too_many_kinds_of_pods_guarantees_nothing() -> None:
    nodes = pool(16, 64)
    crowded = room(nodes, {gpus(1): 97, gpus(3): 20, gpus(7): 5, gpus(32): 2})

    found = vacancy(crowded, nodes)

    assert (found.entries[0].free, found.entries[0].guaranteed) == (768, ())
    assert found.at_most[0] == (64, 0)
    assert found.at_most[-1] == (1, 768)


def test_of_very_many_kinds_of_pods_only_bounds_are_known() -> None:
    nodes = pool(400, 8, cpu=64)
    many = vacancy(room(nodes, {pod((1 + i % 4, GPU), cpu=i): 1 for i in range(1, 1_001)}), nodes)

    assert (many.whole, many.entries[0].free, many.entries[0].guaranteed) == (0, 3_200 - 2_500, ())
    assert many.at_most[-1] == (1, 700)


def test_a_rough_count_gives_each_pod_a_node() -> None:
    found = roughly_vacant(room(nodes := pool(4, 8), {gpus(1): 3, pod(cpu=5): 9}), nodes)

    assert (found.whole, found.entries[0].free, found.entries[0].guaranteed) == (1, 29, ())
    assert roughly_vacant(room(nodes, {gpus(1): 20}), nodes).whole == 0


# Any pool


@st.composite
def demands(draw: st.DrawFn, counts: list[int], cpu: int | None) -> PodDemand:
    entries = st.sets(st.integers(0, len(counts) - 1), min_size=1).map(lambda chosen: tuple(sorted(chosen)))
    claims = [(draw(st.integers(1, sum(counts[e] for e in of))), of) for of in draw(st.lists(entries, max_size=2))]
    return pod(*claims, cpu=draw(st.integers(0, cpu)) if cpu else 0)


@st.composite
def pools(draw: st.DrawFn) -> tuple[Pool, dict[PodDemand, int], PodDemand]:
    """A pool, the pods on it, and a newcomer."""
    counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    cpu = draw(st.none() | st.integers(2, 4))
    pods = draw(st.dictionaries(demands(counts, cpu), st.integers(1, 3), max_size=2))
    return pool(draw(st.integers(1, 3)), *counts, cpu=cpu), pods, draw(demands(counts, cpu))


@given(pools())
def test_no_pod_fits_more_often_than_its_hint_says(case: tuple[Pool, dict[PodDemand, int], PodDemand]) -> None:
    nodes, pods, newcomer = case
    taken = room(nodes, pods)
    found = vacancy(taken, nodes)
    size = sum(count for count, _ in newcomer.devices)
    hint = Hint(tuple(sorted(found.at_most or found.entries[0].guaranteed)))

    truth = packing.most_more(dict(taken.nodes), pods, newcomer, 50)

    assert size == 0 or truth <= hint.fitting(size)


@given(pools(), st.integers(1, 3))
def test_what_is_left_of_a_hint_is_never_less_than_what_fits_beside_the_newcomer(
    case: tuple[Pool, dict[PodDemand, int], PodDemand], size: int
) -> None:
    nodes, pods, newcomer = case
    taken = room(nodes, pods)
    one: Pods = frozenset({(newcomer, 1)})
    found = vacancy(taken, nodes)
    hint = Hint(tuple(sorted(found.at_most or found.entries[0].guaranteed)))
    later = taken.taking("engine", one, 1)
    if later is not None:
        left = hint.taking("engine", one, 1)
        assert left is not None
        for further in _like(nodes, size):
            assert packing.most_more(dict(later.nodes), dict(later.everyone), further, 50) <= left.fitting(size)


def _like(nodes: Pool, size: int) -> Iterator[PodDemand]:
    shape = capacity(nodes.shape)
    yield from (pod((size, (e,))) for e, has in enumerate(shape.devices) if has >= size)
    if sum(shape.devices) >= size:
        yield pod((size, tuple(range(len(shape.devices)))))


def test_a_bound_is_as_tight_as_small_pods_allow() -> None:
    found = vacancy(room(nodes := pool(16, 8, cpu=64), {gpus(1, cpu=1): 97}), nodes)

    assert found.at_most == ((8, 0), (4, 0), (2, 12), (1, 31))


def test_a_pod_of_another_entry_leaves_a_bound_to_the_other() -> None:
    found = vacancy(room(nodes := pool(2, 4, 4), {pod((4, SLICE)): 2}), nodes)

    assert found.at_most == ((8, 0), (4, 2), (2, 4), (1, 8))
    assert found.entries[0].guaranteed == ((4, 2), (2, 4), (1, 8))


@given(pools())
def test_what_is_guaranteed_fits_in_every_arrangement(case: tuple[Pool, dict[PodDemand, int], PodDemand]) -> None:
    nodes, pods, _ = case
    taken = room(nodes, pods)
    for e, entry in enumerate(vacancy(taken, nodes).entries):
        for size, more in entry.guaranteed[:1]:
            everyone = {**pods}
            demand = pod((size, (e,)))
            everyone[demand] = everyone.get(demand, 0) + more
            if more and sum(everyone.values()) <= 6:
                assert stuck(dict(taken.nodes), everyone) is None
