"""The ranges of a GKE cluster have room for what is asked for, and nothing is refused that has."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.clouds.gke import addresses, facts
from function.clouds.gke.blocks import Network
from function.contracts.cloud.nodepool import NodePool

GOOGLES = 4
"""Addresses of a subnetwork that Google keeps (page "Subnets")."""
FIELDS = ("cidr", "podCidr", "serviceCidr")


def pools(*counts: int) -> list[NodePool]:
    return [NodePool(name=f"p{i}", className="l4", nodeCount=count) for i, count in enumerate(counts)]


def faults(*counts: int, **ranges: str) -> dict[str, str]:
    return dict(addresses.faults(Network.model_validate(ranges), pools(*counts)))


def range_within(base: str, shortest: int, longest: int = 29) -> st.SearchStrategy[str]:
    network = IPv4Network(base)

    def part(prefix: int) -> st.SearchStrategy[str]:
        index = st.integers(0, 2 ** (prefix - network.prefixlen) - 1)
        return index.map(lambda i: str(IPv4Network((int(network.network_address) + (i << (32 - prefix)), prefix))))

    return st.integers(max(shortest, network.prefixlen), longest).flatmap(part)


LEGAL = st.one_of(range_within("10.0.0.0/8", 9), range_within("192.168.0.0/16", 16), range_within("100.64.0.0/10", 10))
ANY = st.one_of(LEGAL, range_within("172.16.0.0/12", 12), range_within("0.0.0.0/0", 4))


def test_the_ranges_by_default_have_room_for_eight_pools_of_hundreds_of_nodes() -> None:
    assert faults(*[500] * 8) == {}


@pytest.mark.parametrize(("pods", "want"), [(8, 16), (9, 32), (32, 64), (33, 128), (64, 128), (65, 256), (110, 256)])
def test_a_node_has_twice_as_many_addresses_as_pods(pods: int, want: int) -> None:
    """The table of the page "Configure maximum Pods per node"."""
    assert addresses.per_node(pods) == want


@given(cidr=LEGAL, pod=LEGAL, service=LEGAL, counts=st.lists(st.integers(0, 2000), min_size=1, max_size=8))
def test_ranges_that_are_accepted_have_room_and_do_not_overlap(
    cidr: str, pod: str, service: str, counts: list[int]
) -> None:
    if faults(*counts, cidr=cidr, podCidr=pod, serviceCidr=service):
        return
    nodes, pods, services = map(IPv4Network, (cidr, pod, service))
    assert not nodes.overlaps(pods)
    assert not nodes.overlaps(services)
    assert not pods.overlaps(services)
    assert nodes.num_addresses - GOOGLES > sum(counts) + facts.MOST_SYSTEM_NODES
    left = pods.num_addresses - facts.MOST_SYSTEM_NODES * addresses.per_node(facts.SYSTEM_PODS)
    assert left >= sum(counts) * addresses.per_node(facts.POOL_PODS)


@given(cidr=ANY, pod=ANY, service=ANY, count=st.integers(0, 5000))
def test_every_refusal_names_a_field_once_and_its_value(cidr: str, pod: str, service: str, count: int) -> None:
    values = dict(zip(FIELDS, (cidr, pod, service), strict=True))
    found = list(addresses.faults(Network.model_validate(values), pools(count)))

    assert all(field in FIELDS and values[field] in problem for field, problem in found)
    assert len(set(found)) == len(found)


@given(count=st.integers(1, 4000), index=st.integers(0, 15))
def test_the_size_that_a_refusal_names_is_accepted(count: int, index: int) -> None:
    refused = faults(count, cidr="192.168.0.0/29", podCidr="192.168.1.0/29", serviceCidr="192.168.2.0/29")
    bases = {"cidr": f"10.{index * 16}.0.0", "podCidr": "100.64.0.0", "serviceCidr": "172.18.0.0"}
    named = {field: f"{bases[field]}/{refused[field].partition(' a /')[2].partition(' ')[0]}" for field in FIELDS}

    assert faults(count, **named) == {}


@pytest.mark.parametrize(
    ("ranges", "field", "want"),
    [
        (
            {"podCidr": "10.16.0.0/18"},
            "podCidr",
            (
                "must be a /15 or larger, not 10.16.0.0/18: 66048 addresses are needed for 128 on each of 500 nodes in "
                "pools, and 256 on each of 8 system nodes"
            ),
        ),
        (
            {"cidr": "10.0.0.0/24"},
            "cidr",
            (
                "must be a /22 or larger, not 10.0.0.0/24: 524 addresses are needed for 500 nodes in pools, 8 of the "
                "system, 16 others"
            ),
        ),
        (
            {"serviceCidr": "10.8.0.0/28"},
            "serviceCidr",
            (
                "must be a /24 or larger, not 10.8.0.0/28: 256 addresses are needed for the Services of the serving "
                "stack and of the models"
            ),
        ),
        (
            {"serviceCidr": "10.32.0.0/15"},
            "serviceCidr",
            "must be a /16 or smaller, not 10.32.0.0/15: GKE takes no larger range",
        ),
        (
            {"serviceCidr": "10.20.0.0/20"},
            "serviceCidr",
            "must not overlap network.podCidr, 10.16.0.0/13, as 10.20.0.0/20 does",
        ),
        (
            {"cidr": "172.17.0.0/20"},
            "cidr",
            "must not overlap 172.17.0.0/16, which Google reserves, as 172.17.0.0/20 does",
        ),
        (
            {"podCidr": "8.0.0.0/8"},
            "podCidr",
            ("must be part of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10, not 8.0.0.0/8"),
        ),
        (
            {"cidr": "fd00::/64"},
            "cidr",
            ("must be part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, not fd00::/64"),
        ),
        (
            {"cidr": "100.64.0.0/20"},
            "cidr",
            ("must be part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, not 100.64.0.0/20"),
        ),
    ],
    ids=["pods", "nodes", "services", "many services", "overlap", "docker", "public", "IPv6", "shared"],
)
def test_a_range_that_cannot_be_is_refused(ranges: dict[str, str], field: str, want: str) -> None:
    assert faults(500, **ranges) == {field: want}
