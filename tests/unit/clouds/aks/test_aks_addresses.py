"""Address plans of AKS: every network is legal, and has room for the nodes, or is refused with a word of what is."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.clouds.aks import addresses
from function.clouds.aks.blocks import Network


def cidrs(shortest: int, longest: int) -> st.SearchStrategy[str]:
    return st.builds(
        lambda prefix, number: str(IPv4Network((number >> (32 - prefix) << (32 - prefix), prefix))),
        st.integers(shortest, longest),
        st.integers(0, 2**32 - 1),
    )


NETWORKS = st.builds(Network, cidr=cidrs(8, 28), podCidr=cidrs(8, 24), serviceCidr=cidrs(13, 24))
LEGAL = NETWORKS.filter(lambda network: not any(addresses.legal_faults(network)))


@given(LEGAL)
def test_the_parts_of_a_legal_plan_do_not_overlap_and_the_subnet_is_in_the_network(network: Network) -> None:
    plan = addresses.plan(network)

    assert not any(one.overlaps(other) for one, other in combinations((plan.network, plan.pods, plan.services), 2))
    assert plan.nodes.subnet_of(plan.network)
    assert plan.nodes != plan.network
    assert plan.dns in plan.services
    assert plan.dns not in (plan.services[0], plan.services[1], plan.services[-1])


@pytest.mark.slow
@given(LEGAL, st.integers(3, 6000))
def test_a_plan_is_refused_exactly_where_it_has_no_room(network: Network, nodes: int) -> None:
    plan = addresses.plan(network)
    refused = {field for field, _ in addresses.room_faults(network, nodes)}

    usable = max(0, plan.nodes.num_addresses - 5 - 1)  # Azure keeps five; one is for a load balancer
    assert ("network.cidr" in refused) == (usable < nodes)
    assert ("network.podCidr" in refused) == (len(_nodes_of(plan.pods)) < nodes)


def _nodes_of(pods: IPv4Network) -> range:
    """A number for each /24."""
    return range(int(pods.network_address) >> 8, (int(pods.broadcast_address) >> 8) + 1)


@given(LEGAL, st.integers(3, 5000))
def test_a_network_as_large_as_the_problem_says_is_accepted(network: Network, nodes: int) -> None:
    for field, problem in addresses.room_faults(network, nodes):
        wanted = int(problem.partition("takes a /")[2].partition(";")[0])
        name = field.removeprefix("network.")
        large = IPv4Network(getattr(network, name)).supernet(new_prefix=wanted)
        again = dict(addresses.room_faults(network.model_copy(update={name: str(large)}), nodes))
        assert field not in again


def test_the_defaults_have_room_for_every_cluster_that_aks_makes() -> None:
    assert list(addresses.legal_faults(Network())) == []
    assert list(addresses.room_faults(Network(), 5000)) == []


@pytest.mark.parametrize(
    ("network", "want"),
    [
        ({"cidr": "fd00::/48"}, ("network.cidr", "must be an IPv4 network, not fd00::/48")),
        ({"cidr": "10.0.0.0/29"}, ("network.cidr", "must be a network from /8 to /28, not 10.0.0.0/29")),
        (
            {"podCidr": "10.244.0.0/25"},
            ("network.podCidr", "must be a network from /8 to /24, not 10.244.0.0/25"),
        ),
        (
            {"serviceCidr": "10.96.0.0/12"},
            ("network.serviceCidr", "must be a network from /13 to /24, not 10.96.0.0/12"),
        ),
        (
            {"podCidr": "172.16.0.0/12"},
            ("network.podCidr", "must not overlap 172.30.0.0/16, which AKS keeps, as 172.16.0.0/12 does"),
        ),
        (
            {"cidr": "169.254.1.0/24"},
            ("network.cidr", "must not overlap 169.254.0.0/16, which AKS keeps, as 169.254.1.0/24 does"),
        ),
        (
            {"serviceCidr": "192.0.2.0/24"},
            ("network.serviceCidr", "must not overlap 192.0.2.0/24, which AKS keeps, as 192.0.2.0/24 does"),
        ),
        (
            {"cidr": "168.63.0.0/16"},
            ("network.cidr", "must not overlap 168.63.129.16/32, which Azure keeps, as 168.63.0.0/16 does"),
        ),
        (
            {"serviceCidr": "10.0.8.0/24"},
            ("network.serviceCidr", "must not overlap network.cidr, 10.0.0.0/16, as 10.0.8.0/24 does"),
        ),
        (
            {"cidr": "10.0.0.0/12", "podCidr": "10.8.0.0/16", "serviceCidr": "10.96.0.0/16"},
            ("network.podCidr", "must not overlap network.cidr, 10.0.0.0/12, as 10.8.0.0/16 does"),
        ),
    ],
    ids=["v6", "tiny", "tiny-pods", "large-services", "aks", "link-local", "test", "azure", "services", "pods"],
)
def test_what_is_illegal_is_named_with_what_is_not(network: dict[str, str], want: tuple[str, str]) -> None:
    assert next(addresses.legal_faults(Network(**network))) == want


def test_too_little_room_is_told_with_need_and_have() -> None:
    network = Network(cidr="10.0.0.0/24", podCidr="10.244.0.0/18")

    assert dict(addresses.room_faults(network, 130)) == {
        "network.cidr": "must have room for 130 nodes, which takes a /23; 10.0.0.0/24 has room for 122",
        "network.podCidr": (
            "must have room for 130 nodes with a /24 each, which takes a /16; 10.244.0.0/18 has room for 64"
        ),
    }
