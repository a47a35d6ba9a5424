"""What pods take of shared nodes, and whether all of them fit."""

from __future__ import annotations

from function.scheduling import NodeCapacity, PodDemand
from function.scheduling.sharing import Pods, Room, mixtures


def pods(*counts: tuple[PodDemand, int]) -> Pods:
    return frozenset(counts)


def gpus(count: int, cpu: int = 0) -> PodDemand:
    return PodDemand(((count, (0,)),), (cpu, 0, 0))


def room(nodes: int, *counts: tuple[PodDemand, int], cpu: int | None = None) -> Room:
    return Room(frozenset({(NodeCapacity((4,), (cpu, None, None)), nodes)}), pods(*counts))


def test_copies_of_an_edit_are_old_or_new() -> None:
    old, new = gpus(1), gpus(2)
    got = mixtures([(pods((old, 1)), 2), (pods((new, 1)), 2)])
    assert set(got) == {pods((old, 2)), pods((old, 1), (new, 1)), pods((new, 2))}


def test_an_edit_that_changes_no_demand_has_one_state() -> None:
    assert mixtures([(pods((gpus(1), 1)), 3), (pods((gpus(1), 1)), 3)]) == (pods((gpus(1), 3)),)


def test_states_that_are_part_of_another_are_left_out() -> None:
    assert mixtures([(pods((gpus(1), 1)), 3), (pods((gpus(1), 1)), 5)]) == (pods((gpus(1), 5)),)


def test_smaller_pods_may_need_more_room() -> None:
    """Two pods of one GPU each that request most of a node's cpu never share a node. Once they request less they do,
    and two pods of three GPUs have one node left."""
    before = room(2, (gpus(1, cpu=5), 2), (gpus(3), 2), cpu=8)
    after = room(2, (gpus(1, cpu=1), 2), (gpus(3), 2), cpu=8)
    assert (before.is_safe, after.is_safe) == (True, False)


def test_an_edit_to_smaller_pods_is_refused_if_they_need_more_room() -> None:
    engine = [(pods((gpus(1, cpu=5), 1)), 2)]
    edited = room(2, (gpus(3), 2), cpu=8).edited({"e": engine})
    assert edited.is_safe
    assert edited.taking("e", pods((gpus(1, cpu=1), 1)), 2) is None


def test_no_mixture_of_very_many_has_more_than_what_is_charged() -> None:
    """Three specs with 64 copies have thousands of mixtures."""
    one, two, three = gpus(1), gpus(2), gpus(3)
    specs = [(pods((one, 2)), 64), (pods((one, 1), (two, 1)), 64), (pods((three, 1)), 32)]
    assert mixtures(specs) == (pods((one, 128), (two, 64), (three, 32)),)
