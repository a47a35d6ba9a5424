"""What a pool offers on shared nodes: only what kube-scheduler can give beside other pods."""

from __future__ import annotations

import pytest

from function.core import NamespacedName
from function.scheduling import (
    Cluster,
    Device,
    DeviceRequest,
    Engine,
    Fitter,
    Fleet,
    Job,
    Member,
    NodeShape,
    Offer,
    Pool,
    Shortfall,
    rejections,
    solve,
)
from function.scheduling.rejection import Reason, SearchLimit, SelectorError
from tests.support.fleets import GPU, NIC, Wants, request

SOUND = Device("a", 2, GPU, "gpu big", 80)
FAILING = Device("b", 2, GPU, "gpu error", 80)


def offered(shape: NodeShape, *requests: DeviceRequest, shared: bool) -> object:
    member = Member("Standalone", 1, requests)
    return Fitter((Engine("e", 1, (member,)),)).offer(member, Pool("p", 2, shape, shared=shared))


def rejected(shape: NodeShape, *requests: DeviceRequest) -> list[Reason]:
    job = Job(NamespacedName("ns", "d"), 1, (Engine("e", 1, (Member("Standalone", 1, requests),)),))
    fleet = Fleet({"c": Cluster("c", pools=(Pool("p", 2, shape, shared=True),))})
    fitter = Fitter(job.engines)
    plan = solve(job, fleet, fitter)
    assert not plan.placements
    return [one.reason for one in rejections(job, fleet, plan, fitter)]


def test_a_selector_that_fails_on_a_device_is_refused_where_others_may_have_taken_those_before_it() -> None:
    """On an empty node, the allocator finds two devices before it comes to the one on which the selector fails."""
    shape, asked = NodeShape((SOUND, FAILING)), DeviceRequest("gpu", 2, (Wants("gpu"),))
    assert isinstance(offered(shape, asked, shared=False), Offer)
    assert offered(shape, asked, shared=True) == Shortfall("gpu", 2, 0, "no such key")
    assert rejected(shape, asked) == [SelectorError("e", "Standalone", "gpu", "no such key")]


@pytest.mark.parametrize(
    "other",
    [
        Device("b", 2, NIC, "gpu error", None),
        Device("b", 2, None, "gpu error", None),
        Device("b", 0, GPU, "gpu error", None),
    ],
    ids=["of another class", "that no claim can have", "that no node has"],
)
def test_a_selector_that_fails_on_a_device_which_the_claim_never_comes_to_is_no_matter(other: Device) -> None:
    assert isinstance(offered(NodeShape((SOUND, other)), request(count=2), shared=True), Offer)


def test_a_claim_that_is_searched_too_long_beside_others_is_refused() -> None:
    shape, asked = NodeShape((Device("gpu", 16, GPU, "gpu big", 80),)), (request("x", 8), request("y", 8))
    assert isinstance(offered(shape, *asked, shared=False), Offer)
    assert offered(shape, *asked, shared=True) == Shortfall("y", 8, 0, searched=False)
    assert rejected(shape, *asked) == [SearchLimit()]
    assert isinstance(offered(shape, request("x", 16), shared=True), Offer)
