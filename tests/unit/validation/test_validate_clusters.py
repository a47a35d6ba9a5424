"""Node pools beside others: what no cloud is asked for yet, and what only several objects together give."""

from __future__ import annotations

from typing import Any

import pytest

from function.validation import clusters
from tests.support.samples import CLASS, Object, edited, of

RESERVATION = {"capacityReservationId": "cr-0123456789abcdef0"}
OTHER = {"capacityReservationId": "cr-fedcba98765432100"}
AT = "spec.nodePools[{}].capacityBlock.capacityReservationId"


def cluster(name: str, *pools: dict[str, Any]) -> Object:
    spec = {
        "cluster": {"source": "EKS", "eks": {"region": "us-east-1"}},
        "nodePools": [{"name": f"p{at}", "className": "h100", **pool} for at, pool in enumerate(pools)],
    }
    return edited(of("InferenceCluster", spec, namespace=None), "metadata.name", name)


def class_(**nic: Any) -> Object:
    found = edited(CLASS, "metadata.name", "h100")
    gpu = found["spec"]["devices"][0]
    return edited(found, "spec.devices", [gpu, *([{"name": "nic", "count": 4, **nic}] if nic else [])])


def said(*objects: Object) -> list[tuple[int, str, int | None, str]]:
    return [(f.index, f.field, f.other, f.code) for f in clusters.findings(list(enumerate(objects)))]


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        (
            [cluster("a", {"capacityBlock": RESERVATION}, {"capacityBlock": RESERVATION})],
            [(0, AT.format(1), 0, "reservation")],
        ),
        (
            [cluster("a", {}, {"capacityBlock": RESERVATION}), cluster("b", {"capacityBlock": RESERVATION})],
            [(1, AT.format(0), 0, "reservation")],
        ),
        ([cluster("a", {"capacityBlock": RESERVATION}), cluster("b", {"capacityBlock": OTHER})], []),
        ([cluster("a", {}, {}), cluster("b", {})], []),
    ],
    ids=["of one cluster", "of two clusters", "each its own", "none"],
)
def test_a_reservation_of_two_pools_is_told(objects: list[Object], want: list[Any]) -> None:
    assert said(*objects) == want


def test_it_is_told_which_pool_has_the_reservation() -> None:
    first, second = cluster("a", {"capacityBlock": RESERVATION}), cluster("b", {"capacityBlock": RESERVATION})

    [finding] = clusters.findings([(0, first), (1, second)])
    assert finding.message == (
        "cr-0123456789abcdef0 is the reservation of pool p0 of InferenceCluster a, too; "
        "it must have room for the nodes of both"
    )


@pytest.mark.parametrize(
    ("pool", "nic", "is_told"),
    [
        ({}, {"driver": "dra.net"}, True),
        ({"fabric": {"type": "None"}}, {"driver": "dra.net"}, True),
        ({"fabric": {"type": "EFA"}}, {"driver": "dra.net"}, False),
        ({}, {"driver": "dra.net", "claim": "Synthetic"}, False),
        ({}, {"driver": "gpu.nvidia.com"}, False),
        ({}, {}, False),
    ],
)
def test_nics_that_nodes_lack_without_a_fabric_are_told(
    pool: dict[str, Any], nic: dict[str, Any], is_told: bool
) -> None:
    got = said(cluster("a", pool), class_(**nic))

    assert got == ([(0, "spec.nodePools[0].fabric", None, "fabric")] if is_told else [])


def test_a_class_that_is_not_given_says_nothing_of_nics() -> None:
    assert said(cluster("a", {})) == []
