"""The address plan of a VPC."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.clouds.eks import addresses, faults, zones
from function.clouds.eks.blocks import Cluster
from function.contracts.cloud.nodepool import NodePool

REGION = "us-east-1"
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
letters = st.lists(st.sampled_from(zones.LETTERS), min_size=zones.FEWEST, max_size=zones.MOST, unique=True)


@st.composite
def bases(draw: st.DrawFn) -> IPv4Network:
    """Any network that a VPC can have."""
    within = IPv4Network(draw(st.sampled_from(PRIVATE)))
    prefix = draw(st.integers(addresses.LARGEST, addresses.SMALLEST))
    index = draw(st.integers(0, 2 ** (prefix - within.prefixlen) - 1))
    return IPv4Network((int(within.network_address) + (index << (32 - prefix)), prefix))


@st.composite
def pools(draw: st.DrawFn) -> list[NodePool]:
    def one(index: int) -> NodePool:
        at = [f"{REGION}{letter}" for letter in draw(st.lists(st.sampled_from("abcdef"), max_size=3, unique=True))]
        most = {"maxNodeCount": draw(st.integers(1, 300))} if draw(st.booleans()) else {}
        count = draw(st.integers(0, 300))
        return NodePool.model_validate(
            {"name": f"p{index}", "className": "some", "zones": at, "nodeCount": count, **most}
        )

    return [one(index) for index in range(draw(st.integers(1, 4)))]


@given(bases(), letters)
def test_subnets_are_in_the_base_and_overlap_nowhere(base: IPv4Network, chosen: Sequence[str]) -> None:
    parts = [*addresses.parts(base, chosen)]

    assert len(parts) == 2 * len(chosen)
    assert all(part.subnet_of(base) for part in parts)
    assert not any(one.overlaps(other) for one, other in combinations(parts, 2))


@given(bases(), letters)
def test_aws_takes_every_subnet(base: IPv4Network, chosen: Sequence[str]) -> None:
    assert all(addresses.LARGEST <= part.prefixlen <= 28 for part in addresses.parts(base, chosen))


@given(bases(), letters, st.sampled_from(zones.LETTERS))
def test_a_zone_more_moves_no_subnet(base: IPv4Network, chosen: Sequence[str], more: str) -> None:
    before, after = ({*addresses.parts(base, each)} for each in (chosen, {*chosen, more}))

    assert before <= after


@given(pools(), bases())
def test_a_cluster_that_is_taken_has_room_in_every_zone(some: list[NodePool], base: IPv4Network) -> None:
    block = Cluster(region=REGION, network={"cidr": str(base), "serviceCidr": free(base)})
    taken = not [*faults.of_cluster(block, some)]
    home = zones.home(REGION, (), some)
    needed = addresses.need(REGION, some, home, 6)

    assert taken == all(needed[letter] <= addresses.private(base, letter).num_addresses for letter in needed)


@given(pools(), bases())
def test_the_network_that_is_named_has_room_and_the_next_smaller_has_not(
    some: list[NodePool], base: IPv4Network
) -> None:
    needed = addresses.need(REGION, some, zones.home(REGION, (), some), 6)
    found = addresses.shortage(base, needed)
    if found and found.smallest:
        larger = base.supernet(new_prefix=found.smallest)
        assert addresses.shortage(larger, needed) is None
        assert addresses.shortage(next(larger.subnets()), needed)


def free(base: IPv4Network) -> str:
    """A network for Services that does not overlap."""
    others = ("172.20.0.0/16", "10.100.0.0/16")
    return next(each for each in others if not IPv4Network(each).overlaps(base))


@pytest.mark.parametrize(
    ("cidr", "private", "public"),
    [
        ("10.0.0.0/16", ["10.0.0.0/19", "10.0.32.0/19", "10.0.192.0/19"], ["10.0.224.0/22", "10.0.228.0/22"]),
        ("192.168.4.0/22", ["192.168.4.0/25", "192.168.4.128/25", "192.168.7.0/25"], ["192.168.7.128/28"]),
    ],
    ids=["largest", "smallest"],
)
def test_the_plan_is_this(cidr: str, private: list[str], public: list[str]) -> None:
    base = IPv4Network(cidr)

    assert [str(addresses.private(base, letter)) for letter in "abg"] == private
    assert [str(addresses.public(base, letter)) for letter in "abcdefg"][: len(public)] == public


def pool(**fields: Any) -> NodePool:
    return NodePool.model_validate({"name": "gpu", "className": "some", **fields})


def test_nodes_count_by_their_maximum_spread_over_their_zones() -> None:
    some = [pool(nodeCount=1, maxNodeCount=7), pool(nodeCount=3, zones=["us-east-1d"])]

    needed = addresses.need(REGION, some, "ab", 6)

    system = 3 * addresses.OF_SYSTEM_NODE
    shared = addresses.RESERVED + system + 4 * addresses.OF_NODE
    assert needed == {"a": shared, "b": shared, "d": addresses.RESERVED + 3 * addresses.OF_NODE}
