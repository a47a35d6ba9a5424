"""What is said of a shared pool that takes no more."""

from __future__ import annotations

import pytest

from function.core import NamespacedName
from function.scheduling import Cluster, Fit, Fitter, Fleet, Hint, Pool, Replica, rejections, solve
from function.scheduling.fit import NoFit
from tests.support.fleets import ME
from tests.support.shared_pools import SHAPES, Wish, job

ON = NamespacedName("ml", "other")
FRAGMENTED = "fragmented (needs"


def cluster(nodes: int, shape: str) -> Cluster:
    return Cluster("c", pools=(Pool("p", nodes, SHAPES[shape], shared=True),))


def said(nodes: int, shape: str, wish: Wish, *there: Wish) -> list[str]:
    """Why a pool with one replica of each wish takes no replica more."""
    fleet = Fleet({"c": cluster(nodes, shape)}, tuple(_replica(i, w, shape) for i, w in enumerate(there)))
    wanted = job(ME, 1, wish)
    return [str(r.reason) for r in rejections(wanted, fleet, solve(wanted, fleet))]


def _replica(number: int, wish: Wish, shape: str) -> Replica:
    [placed] = solve(job(ON, 1, wish), Fleet({"c": cluster(9, shape)})).placements
    return Replica(NamespacedName("ml", f"r{number}"), ON, "c", number, placed.engines, True, serving=True, served=True)


@pytest.mark.parametrize(
    ("nodes", "shape", "wish", "there", "want"),
    [
        (1, "four", Wish(2), [Wish(3)], "full (needs 2 gpu, 1 gpu free on p)"),
        (1, "four", Wish(3, copies=2), [], "full (needs 6 gpu, 4 gpu free on p)"),
        (2, "four", Wish(4), [Wish(1), Wish(1)], f"{FRAGMENTED} 1 pod with 4 gpu, 0 safe to add, 6 gpu free on p)"),
        (3, "four", Wish(3, copies=3), [Wish(2)], f"{FRAGMENTED} 3 pods with 3 gpu, 2 safe to add, 10 gpu free on p)"),
        (1, "counted", Wish(1, cpu=5), [Wish(1, cpu=4)], "full (needs 0.005 cpu, 0.004 cpu free on p)"),
        (
            2, "counted", Wish(1, cpu=5), [Wish(1, cpu=4)] * 2,
            f"{FRAGMENTED} 1 pod with 0.005 cpu, 0 safe to add, 0.008 cpu free on p)",
        ),
        (1, "mixed", Wish(1, word="big"), [Wish(2, word="big")], "full (needs 1 b, 0 b free on p)"),
    ],
)  # fmt: skip
def test_a_pool_says_what_it_lacks(nodes: int, shape: str, wish: Wish, there: list[Wish], want: str) -> None:
    assert said(nodes, shape, wish, *there) == [want]


def test_a_pool_that_has_room_says_nothing() -> None:
    assert said(3, "four", Wish(4), Wish(1)) == []


@pytest.mark.parametrize(("pods", "fits"), [(0, False), (1, False), (2, True)])
def test_a_hint_chooses_by_the_pods_that_fit_at_most(pods: int, fits: bool) -> None:
    wanted = job(ME, 1, Wish(3, copies=2))
    hint = Hint(((1, 8), (2, pods), (4, 0)), 6)
    found = Fitter(wanted.engines).fit(cluster(2, "four"), {"p": hint})
    assert isinstance(found, Fit if fits else NoFit)


def test_what_is_placed_by_a_hint_takes_places_of_all_smaller_pods() -> None:
    fleet = Fleet({"c": cluster(2, "four")}, published={"c": {"p": Hint(((1, 8), (2, 4), (4, 2)), 8)}})
    plan = solve(job(ME, 2, Wish(2, copies=2)), fleet)
    assert plan.ledger.free("c")["p"] == Hint(((1, 4), (2, 0), (4, 2)), 0)
    assert plan.stands_on == {"c"}
