"""Networks of Nebius: what has no room is refused, and what is accepted has room for every allocation."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, collapse_addresses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.clouds.nebius import addresses
from function.clouds.nebius.blocks import Network
from function.contracts.cloud.nodepool import NodePool

NETWORKS = st.builds(
    lambda prefix, part: IPv4Network((int(IPv4Network("10.0.0.0/8").network_address) + part, prefix), strict=False),
    st.integers(8, 26),
    st.integers(0, 2**24 - 1),
)
POOLS = st.lists(
    st.builds(
        lambda count, most: {"nodeCount": count, **({} if most is None else {"maxNodeCount": most})},
        st.integers(0, 300),
        st.one_of(st.none(), st.integers(0, 300)),
    ),
    min_size=1,
    max_size=8,
)


def pools(*sizes: dict[str, int]) -> list[NodePool]:
    return [NodePool.model_validate({"name": f"p{i}", "className": "c", **size}) for i, size in enumerate(sizes)]


def faults(network: dict[str, str], *sizes: dict[str, int]) -> list[str]:
    found = addresses.faults(Network.model_validate(network), pools(*sizes or ({"nodeCount": 1},)))
    return [f"{field}: {problem}" for field, problem in found]


class Space:
    """Free addresses, from which the first that fit are taken: what Nebius allocates must not overlap."""

    def __init__(self, whole: IPv4Network) -> None:
        self.free = [whole]
        self.taken: list[IPv4Network] = []

    def take(self, part: IPv4Network) -> None:
        [around] = [free for free in self.free if part.subnet_of(free)]
        self.free.remove(around)
        self.free = sorted([*self.free, *around.address_exclude(part)])
        self.taken.append(part)

    def allocate(self, prefix: int) -> None:
        smallest = max((free for free in self.free if free.prefixlen <= prefix), key=lambda free: free.prefixlen)
        self.take(next(smallest.subnets(new_prefix=prefix)))


def allocate(network: Network, nodes: int) -> Space:
    """All that a cluster takes, as docs.nebius.com lists it: Services, the control plane, then node by node."""
    space = Space(IPv4Network(network.cidr or ""))
    if network.serviceCidr.startswith("/"):
        space.allocate(addresses.service_prefix(network))
    else:
        space.take(IPv4Network(network.serviceCidr))
    for prefix in (*[32] * 5, *[24, 32] * nodes):
        space.allocate(prefix)
    return space


def service_cidrs(whole: IPv4Network) -> Iterator[str]:
    """Some of all that Services can have."""
    yield from ("/12", "/16", "/24", "/28")
    for prefix in range(max(12, whole.prefixlen), 29, 4):
        yield str(next(whole.subnets(new_prefix=prefix)))
        yield str(IPv4Network((int(whole.broadcast_address), prefix), strict=False))


@pytest.mark.slow
@given(NETWORKS, POOLS, st.data())
def test_what_is_accepted_has_room_for_all_nodes(whole: IPv4Network, sizes: list[dict], data: st.DataObject) -> None:
    service = data.draw(st.sampled_from(list(service_cidrs(whole))))
    network = Network(cidr=str(whole), serviceCidr=service)
    asked = pools(*sizes)
    if list(addresses.faults(network, asked)):
        return

    space = allocate(network, addresses.nodes(asked))
    assert sum(part.num_addresses for part in space.taken) == sum(
        n.num_addresses for n in collapse_addresses(space.taken)
    )


@pytest.mark.slow
@given(st.integers(16, 22), st.integers(16, 28))
def test_as_many_nodes_as_are_counted_fit_and_no_more(prefix: int, service: int) -> None:
    whole = IPv4Network(("172.16.0.0", prefix))
    network = Network(cidr=str(whole), serviceCidr=f"/{service}")
    most = sum(addresses.needed(nodes, service) <= whole.num_addresses for nodes in range(257)) - 1
    if most < 0:
        return

    allocate(network, most)
    with pytest.raises(ValueError, match="max"):
        allocate(network, most + 1)


@given(POOLS, st.integers(12, 28))
def test_the_length_that_a_refusal_names_is_enough_and_one_more_is_not(sizes: list[dict], service: int) -> None:
    asked = pools(*sizes)
    [refusal] = addresses.faults(Network(cidr="10.0.0.0/28", serviceCidr=f"/{service}"), asked)
    length = int(refusal[1].partition(" a /")[2].split()[0])

    enough, less = (Network(cidr=f"10.0.0.0/{prefix}", serviceCidr=f"/{service}") for prefix in (length, length + 1))
    assert list(addresses.faults(enough, asked)) == []
    assert [field for field, _ in addresses.faults(less, asked)] == ["network.cidr"]


def test_nodes_are_counted_as_many_as_there_can_be() -> None:
    """A pool that is scaled down is as large as its maximum. Only the cluster's own takes one more in an update."""
    asked = pools({"nodeCount": 3}, {"nodeCount": 1, "maxNodeCount": 8})

    assert addresses.nodes(asked) == (4 + 1) + 3 + 8


@pytest.mark.parametrize(
    ("network", "want"),
    [
        ({}, []),
        ({"serviceCidr": "/20"}, []),
        (
            {"serviceCidr": "10.64.0.0/16"},
            [
                (
                    "network.serviceCidr: must be a length such as /16, not 10.64.0.0/16, where network.cidr is left"
                    " out: Nebius chooses the addresses"
                )
            ],
        ),
        ({"cidr": "10.64.0.0/15", "serviceCidr": "10.65.0.0/16"}, []),
        (
            {"cidr": "10.64.0.0/15", "serviceCidr": "10.66.0.0/16"},
            ["network.serviceCidr: must be part of network.cidr, 10.64.0.0/15, not 10.66.0.0/16"],
        ),
        (
            {"cidr": "10.64.0.0/15", "serviceCidr": "10.64.1.0/16"},
            ["network.serviceCidr: must be a network written with its first address, not 10.64.1.0/16"],
        ),
        (
            {"cidr": "10.64.0.0/15", "serviceCidr": "10.64.0.999/24"},
            ["network.serviceCidr: must be a network written with its first address, not 10.64.0.999/24"],
        ),
        (
            {"cidr": "100.64.0.0/10"},
            ["network.cidr: must be part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, not 100.64.0.0/10"],
        ),
        (
            {"cidr": "fd00::/8"},
            ["network.cidr: must be part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, not fd00::/8"],
        ),
        (
            {"cidr": "192.168.0.0/16"},
            [
                (
                    "network.cidr: must be a /15 or larger, not 192.168.0.0/16: there must be room for 6 nodes with a"
                    " /24 each, 5 of the cluster's own among them, and for a /16 of Services"
                )
            ],
        ),
    ],
)
def test_a_network_is_accepted_or_refused_with_what_would_be(network: dict[str, str], want: list[str]) -> None:
    assert faults(network) == want


@pytest.mark.parametrize("text", ["/11", "/29", "16", "10.0.0.0", "10.0.0/16", "010.0.0.0/16", "10.0.0.0/8", ""])
def test_services_have_a_length_from_12_to_28(text: str) -> None:
    with pytest.raises(ValueError, match="must be a length from /12 to /28, or a network of such a length"):
        Network(serviceCidr=text)
