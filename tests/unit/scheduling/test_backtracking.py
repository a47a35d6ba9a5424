"""Which claims kube-scheduler would search for too long on a node that others have partly filled."""

from __future__ import annotations

import pytest

from function.scheduling.backtracking import is_searchable, tries
from function.scheduling.packing import NodeCapacity, PodDemand, fits_empty


def claim(*requests: tuple[int, tuple[int, ...]]) -> PodDemand:
    return PodDemand(tuple(sorted(requests)))


GPU, NIC = (0,), (1,)


@pytest.mark.parametrize(
    ("devices", "demand"),
    [
        ((8,), claim((8, GPU))),
        ((8,), claim((4, GPU), (4, GPU))),
        ((8,), claim(*[(1, GPU)] * 8)),
        ((16,), claim((16, GPU))),
        ((56,), claim((7, GPU))),
        ((8, 8), claim((8, GPU), (8, NIC))),
        ((8, 16), claim((4, GPU), (8, NIC))),
        ((8, 16), claim((8, GPU), (16, NIC))),
    ],
)
def test_what_models_ask_for_is_searched_in_time(devices: tuple[int, ...], demand: PodDemand) -> None:
    assert is_searchable(devices, demand)


@pytest.mark.parametrize(
    ("devices", "demand"),
    [
        ((16,), claim((8, GPU), (8, GPU))),
        ((16,), claim(*[(4, GPU)] * 4)),
        ((32,), claim((32, GPU))),
        ((16, 16), claim((8, GPU), (8, NIC))),
        ((8,) * 9, claim(*[(1, (e,)) for e in range(9)])),
    ],
)
def test_a_claim_that_would_be_searched_too_long_is_promised_nothing(
    devices: tuple[int, ...], demand: PodDemand
) -> None:
    """It fits on an empty node, but a node with too few devices left would take the allocator more than its time."""
    assert fits_empty(NodeCapacity(devices), demand)
    assert not is_searchable(devices, demand)


def test_one_request_is_tried_with_each_set_of_fewer_devices() -> None:
    """On a node with seven free devices, a request of eight is tried with each of their 128 sets."""
    assert 128 <= tries((8,), claim((8, GPU))) <= 128 + 2


def test_the_order_of_requests_plays_no_part() -> None:
    one, other = PodDemand(((2, GPU), (7, NIC))), PodDemand(((7, NIC), (2, GPU)))
    assert tries((8, 8), one) == tries((8, 8), other)
