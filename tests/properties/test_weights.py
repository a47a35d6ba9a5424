"""The laws of a service's weights and of who is kept when not all fit, over whatever users may ask for."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import gcd

from hypothesis import given
from hypothesis import strategies as st

from function.api.modelservice import Spec
from function.kinds.modelservice import decide, weights
from function.kinds.modelservice.inputs import Endpoint

MOST = 16
ENTRIES = st.lists(st.tuples(st.integers(1, 1_000_000), st.integers(1, 16)), min_size=1, max_size=16)
SMALL = st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 6)), min_size=1, max_size=6)
CLUSTERS = st.sampled_from(("", "east", "north", "south", "west"))
FLEETS = st.lists(st.tuples(st.integers(0, 3), CLUSTERS, st.booleans(), st.booleans()), max_size=40)


@given(ENTRIES)
def test_every_endpoint_has_a_weight_that_a_route_takes(entries: list[tuple[int, int]]) -> None:
    got = weights.shares(entries)
    assert [len(shares) for shares in got] == [count for _, count in entries]
    assert all(1 <= weight <= weights.LARGEST for shares in got for weight in shares)


@given(SMALL)
def test_entries_keep_their_ratio_exactly(entries: list[tuple[int, int]]) -> None:
    got = [sum(shares) for shares in weights.shares(entries)]
    want = [weight for weight, _ in entries]
    assert [Fraction(g, sum(got)) for g in got] == [Fraction(w, sum(want)) for w in want]


@given(ENTRIES)
def test_the_endpoints_of_an_entry_are_alike(entries: list[tuple[int, int]]) -> None:
    """They differ by one part at most, and never by more than one tenth."""
    for shares in weights.shares(entries):
        assert max(shares) - min(shares) <= 1
        assert max(shares) == min(shares) or min(shares) >= 10 - 1


@given(SMALL)
def test_no_weight_is_larger_than_it_must_be(entries: list[tuple[int, int]]) -> None:
    assert gcd(*(weight for shares in weights.shares(entries) for weight in shares)) == 1


@given(SMALL, st.integers(2, 50))
def test_only_the_ratio_of_the_entries_counts(entries: list[tuple[int, int]], factor: int) -> None:
    """Where nothing is rounded: an entry that has one endpoint, or as many parts as endpoints."""
    even = [(weight * count, count) for weight, count in entries]
    assert weights.shares([(weight * factor, count) for weight, count in even]) == weights.shares(even)


# Who is kept


def endpoints(fleet: list[tuple[int, str, bool, bool]]) -> list[Endpoint]:
    return [
        Endpoint(
            name=f"e{i:02}",
            entry=entry,
            cluster=cluster,
            ready=ready,
            leaving=False,
            lost="connection refused" if lost and cluster else None,
            service=f"s{i:02}",
            rewrite_path="/",
            hostname=None,
        )
        for i, (entry, cluster, ready, lost) in enumerate(fleet)
    ]


def spec(*entry_weights: int) -> Spec:
    selector = {"matchLabels": {"a": "b"}}
    return Spec.model_validate({"endpoints": [{"weight": weight, "selector": selector} for weight in entry_weights]})


WEIGHTS = st.lists(st.integers(1, 100), min_size=4, max_size=4)


@given(FLEETS, WEIGHTS)
def test_who_gets_traffic_is_ready_and_not_lost_while_another_is_left(
    fleet: list[tuple[int, str, bool, bool]], entry_weights: list[int]
) -> None:
    matched = endpoints(fleet)
    got = decide.decide(spec(*entry_weights), matched, most=MOST, routed=())
    alive = [e for e in matched if e.ready and not e.lost]
    want = alive or [e for e in matched if e.ready]
    assert {e.name for e, _ in got.chosen} | {e.name for e in got.left_out} == {e.name for e in want}
    assert len(got.chosen) == min(MOST, len(want))


@given(FLEETS, WEIGHTS)
def test_every_entry_that_can_serve_keeps_a_part(
    fleet: list[tuple[int, str, bool, bool]], entry_weights: list[int]
) -> None:
    got = decide.decide(spec(*entry_weights), endpoints(fleet), most=MOST, routed=())
    usable = {e.entry for e, _ in got.chosen} | {e.entry for e in got.left_out}
    assert {e.entry for e, _ in got.chosen} == usable


@given(FLEETS, WEIGHTS)
def test_no_cluster_of_an_entry_is_served_twice_before_all_are_once(
    fleet: list[tuple[int, str, bool, bool]], entry_weights: list[int]
) -> None:
    got = decide.decide(spec(*entry_weights), endpoints(fleet), most=MOST, routed=())
    for entry in range(4):
        kept = [e.cluster for e, _ in got.chosen if e.entry == entry]
        waiting = {e.cluster for e in got.left_out if e.entry == entry}
        for one, other in combinations({*kept, *waiting}, 2):
            for more, fewer in ((one, other), (other, one)):
                assert kept.count(more) <= kept.count(fewer) + 1 or fewer not in waiting


@given(FLEETS, WEIGHTS)
def test_when_all_are_lost_the_route_stays_as_it_was(
    fleet: list[tuple[int, str, bool, bool]], entry_weights: list[int]
) -> None:
    matched = [e for e in endpoints(fleet) if e.lost and e.ready]
    routed = {e.service for e in matched[::2]}
    got = decide.decide(spec(*entry_weights), matched, most=100, routed=routed)
    assert {e.service for e, _ in got.chosen} == routed
