"""An edit on shared nodes is made in place exactly when no mixture of old and new copies can get stuck."""

from __future__ import annotations

from collections import Counter
from itertools import product

from hypothesis import assume, event, given
from hypothesis import strategies as st

from function.scheduling import NodeCapacity, PodDemand
from function.scheduling.sharing import Pods, Room, mixtures
from tests.support.arrangements import stuck

Spec = tuple[Pods, int]
"""The pods of one copy, and the copies."""
demands = st.builds(lambda gpus, cpu: PodDemand(((gpus, (0,)),), (cpu, 0, 0)), st.integers(1, 3), st.integers(0, 5))
pods = st.lists(st.tuples(demands, st.just(1)), min_size=1, max_size=2, unique_by=lambda pair: pair[0]).map(frozenset)
specs = st.tuples(pods, st.integers(1, 3))
neighbours = st.lists(demands, max_size=4).map(Counter)


def moments(given_: list[Spec]) -> list[Counter[PodDemand]]:
    """All that the pods of an engine can be while it goes from one spec to the next.

    One that comes back counts once: its new copies are made in the place of others.
    """
    given_ = list(dict.fromkeys(given_))
    most = max(copies for _, copies in given_)
    numbers = product(*(range(copies + 1) for _, copies in given_))
    return [
        sum((Counter({d: k * n for d, k in of_one}) for (of_one, _), n in zip(given_, chosen, strict=True)), Counter())
        for chosen in numbers
        if sum(chosen) <= most
    ]


@given(st.integers(1, 3), neighbours, st.lists(specs, min_size=1, max_size=2), specs)
def test_an_edit_is_made_in_place_exactly_when_every_mixture_is_safe(nodes, others, before, after) -> None:
    node = NodeCapacity((4,), (8, None, None))
    room = Room(frozenset({(node, nodes)}), frozenset(others.items())).edited({"e": before})
    all_specs = [*before, after]
    assume(sum(others.values()) + max(n * sum(k for _, k in of_one) for of_one, n in all_specs) <= 8)
    want = not any(stuck({node: nodes}, +(others + moment)) for moment in moments(all_specs))
    event(f"in place: {want}")
    assert (room.taking("e", *after) is not None) == want


@given(st.lists(specs, min_size=1, max_size=3))
def test_every_moment_is_part_of_a_state_and_every_state_is_a_moment(given_) -> None:
    states, possible = [Counter(dict(state)) for state in mixtures(given_)], moments(given_)
    assert all(state in possible for state in states)
    assert all(any(moment <= state for state in states) for moment in possible)
