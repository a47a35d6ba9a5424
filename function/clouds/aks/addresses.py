"""The address plan of a cluster: the virtual network, its subnet of nodes, the pods and the Services.

The subnet of nodes is the first half of the virtual network; the second half is left for private endpoints and other
subnets of the user's. Pods have addresses of an overlay, of which each node takes a /24 (CNI overlay). The plan
depends on the networks alone, so that no edit of the pools moves anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from function.clouds.aks.blocks import Network
from function.contracts.cloud import addresses

POD_PREFIX = 24
"""Prefix length of the pods' addresses on one node. It cannot be chosen (AKS, concepts-network-azure-cni-overlay)."""
RESERVED = 5
"""Addresses of a subnet that Azure keeps (virtual-networks-faq)."""
_OURS = 1
"""Addresses of a subnet that are for no node: that of an internal load balancer."""
_DNS = 10
_PREFIXES = {"network.cidr": (8, 28), "network.podCidr": (8, POD_PREFIX), "network.serviceCidr": (13, 24)}
"""The shortest and the longest prefix length of each network. A service range must be smaller than /12 (AKS,
concepts-network-azure-cni-overlay); the other bounds are ours."""
_ILLEGAL = {
    # AKS: not for the virtual network, pods or Services
    **dict.fromkeys(("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24"), "AKS"),
    # Azure: not for a virtual network (virtual-networks-faq)
    **dict.fromkeys(("127.0.0.0/8", "168.63.129.16/32", "224.0.0.0/4", "255.255.255.255/32"), "Azure"),
}
"""Networks that cannot be used, each with what uses it itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The networks of a cluster."""

    network: IPv4Network
    nodes: IPv4Network
    pods: IPv4Network
    services: IPv4Network

    @property
    def dns(self) -> IPv4Address:
        """Address of the cluster's DNS service. The first address of the range belongs to the API server."""
        return self.services[_DNS]


def plan(network: Network) -> Plan:
    """Return the plan of networks that `legal_faults` finds nothing against."""
    base = addresses.network(network.cidr)
    return Plan(
        network=base,
        nodes=addresses.part(base, base.prefixlen + 1, 0),
        pods=addresses.network(network.podCidr),
        services=addresses.network(network.serviceCidr),
    )


def legal_faults(network: Network) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the networks, however many nodes there are: pairs of a field and a problem."""
    found: dict[str, IPv4Network] = {}
    texts = network.cidr, network.podCidr, network.serviceCidr
    for (field, (shortest, longest)), text in zip(_PREFIXES.items(), texts, strict=True):
        try:
            found[field] = addresses.network(text)
        except ValueError:
            yield field, f"must be an IPv4 network, not {text}"
            continue
        if not shortest <= found[field].prefixlen <= longest:
            yield field, f"must be a network from /{shortest} to /{longest}, not {text}"
    yield from _overlaps(found)


def _overlaps(found: dict[str, IPv4Network]) -> Iterator[tuple[str, str]]:
    for field, network in found.items():
        for text, owner in _ILLEGAL.items():
            if network.overlaps(addresses.network(text)):
                yield field, f"must not overlap {text}, which {owner} keeps, as {network} does"
    for one, other in addresses.overlaps(found):
        yield other, f"must not overlap {one}, {found[one]}, as {found[other]} does"


def room_faults(network: Network, nodes: int) -> Iterator[tuple[str, str]]:
    """Yield which of some legal networks have no room for so many nodes: pairs of a field and a problem."""
    planned = plan(network)
    needed = nodes + _OURS + RESERVED
    if planned.nodes.num_addresses < needed:
        has = max(0, planned.nodes.num_addresses - _OURS - RESERVED)
        wanted = f"{nodes} nodes, which takes a /{addresses.prefix_for(needed) - 1}"
        yield "network.cidr", f"must have room for {wanted}; {planned.network} has room for {has}"
    has = planned.pods.num_addresses >> (32 - POD_PREFIX)
    if has < nodes:
        wanted = f"{nodes} nodes with a /{POD_PREFIX} each, which takes a /{_pods_prefix(nodes)}"
        yield "network.podCidr", f"must have room for {wanted}; {planned.pods} has room for {has}"


def _pods_prefix(nodes: int) -> int:
    return addresses.prefix_for(nodes << (32 - POD_PREFIX))
