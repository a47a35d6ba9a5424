"""What a shared pool is said to lack."""

from __future__ import annotations

from function.scheduling import Cluster, Device, Engine, NodeCapacity, NodeShape, PodDemand, Pool
from function.scheduling.fit import Option, Waste
from function.scheduling.rejection import Fragmented, Full
from function.scheduling.sharing import Room
from function.scheduling.shortage import shortages
from tests.support.fleets import GPU

SHAPE = NodeShape((Device("big", 2, GPU, "gpu big"), Device("small", 4, GPU, "gpu small")))
POOL = Pool("a", 1, SHAPE, shared=True)
BIG, ANY = (0,), (0, 1)


def lacks(claims: int, entries: tuple[int, ...], *there: tuple[int, tuple[int, ...]]) -> Full | Fragmented:
    """What is said of a pod with a claim, on one node with pods that have one claim each."""
    pods = frozenset({(PodDemand((one,)), there.count(one)) for one in there})
    room = Room(frozenset({(NodeCapacity((2, 4)), 1)}), pods)
    asked = frozenset({(PodDemand(((claims, entries),)), 1)})
    option = Option((0,), (), (), Waste(), ((0, asked),))
    [found] = shortages(Engine("e", 1, ()), [option], Cluster("east", pools=(POOL,)), [room])
    return found.reason


def test_claims_that_may_draw_on_other_devices_fill_none_of_them() -> None:
    """kube-scheduler may have given the small GPUs to the pod that takes any: then a big one is free, and that the pool
    is full would be false."""
    assert lacks(1, BIG, (2, ANY)) == Fragmented("a", 1, 1, 0, 2, "big")


def test_claims_that_draw_on_nothing_else_fill_a_pool() -> None:
    assert lacks(1, BIG, (2, BIG)) == Full("a", 1, 0, unit="big")
    assert lacks(3, ANY, (2, BIG), (2, ANY)) == Full("a", 3, 2, unit="big/small")
