"""The address plan: what the ranges of nodes, pods and Services must be for the nodes that are asked for.

GKE gives every node a part of the pods' range of its own, of a fixed size. A range that is too small is found only when
a node cannot be added, and no range can be changed: all of it is checked before anything is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network, ip_network

from function.clouds.gke import facts
from function.clouds.gke.blocks import Network
from function.contracts.cloud import addresses
from function.contracts.cloud.nodepool import NodePool

_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
"""RFC 1918. Nodes mount Filestore's shares, which serve no others without being told (page "Filestore: networking")."""
_SHARED = (*_PRIVATE, IPv4Network("100.64.0.0/10"))
"""And RFC 6598. GKE takes public ranges as well, whose owners the cluster could not reach then."""
_ACCEPTED = {"cidr": _PRIVATE, "podCidr": _SHARED, "serviceCidr": _SHARED}
_DOCKER = IPv4Network("172.17.0.0/16")
"""The bridge network of Docker, which Google reserves on its images (page "Subnets", unusable ranges)."""
_SYSTEM = 8
"""System nodes for which there is room: four, one that is added while they are upgraded, and those of the pool that GKE
makes first, in three zones, and the provider removes."""
_SPARE = 16
"""Addresses of the nodes' range that no node takes: four are Google's (page "Subnets"), one is the control plane's, and
load balancers take some."""
_SERVICES = (256, 65536)
"""Fewest Services that there is room for with the serving stack, and most that GKE takes: a /16 (page "VPC-native
clusters")."""


def per_node(pods: int) -> int:
    """Return how many addresses GKE reserves for a node of at most so many pods: twice as many, as a power of two."""
    return 1 << (32 - addresses.prefix_for(2 * pods))


def most_nodes(pools: Iterable[NodePool]) -> int:
    """Return the most nodes that pools ask for."""
    return sum(pool.most_nodes for pool in pools)


def faults(network: Network, pools: Iterable[NodePool]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the ranges of a network, as pairs of a field below `network` and a problem."""
    ranges = {}
    for field, accepted in _ACCEPTED.items():
        range_ = ip_network(getattr(network, field))
        if isinstance(range_, IPv4Network) and any(range_.subnet_of(each) for each in accepted):
            ranges[field] = range_
        else:
            parts = ", ".join(map(str, accepted[:-1]))
            yield field, f"must be part of {parts} or {accepted[-1]}, not {range_}"
    yield from _conflicts(ranges)
    yield from _sizes(ranges, most_nodes(pools))


def _conflicts(ranges: Mapping[str, IPv4Network]) -> Iterator[tuple[str, str]]:
    for one, other in addresses.overlaps(ranges):
        yield other, f"must not overlap network.{one}, {ranges[one]}, as {ranges[other]} does"
    for field, range_ in ranges.items():
        if range_.overlaps(_DOCKER):
            yield field, f"must not overlap {_DOCKER}, which Google reserves, as {range_} does"


def _sizes(ranges: Mapping[str, IPv4Network], nodes: int) -> Iterator[tuple[str, str]]:
    pods, system = per_node(facts.POOL_PODS), per_node(facts.SYSTEM_PODS)
    needs = {
        "cidr": (nodes + _SYSTEM + _SPARE, f"{nodes} nodes in pools, {_SYSTEM} of the system, {_SPARE} others"),
        "podCidr": (
            nodes * pods + _SYSTEM * system,
            f"{pods} on each of {nodes} nodes in pools, and {system} on each of {_SYSTEM} system nodes",
        ),
        "serviceCidr": (_SERVICES[0], "the Services of the serving stack and of the models"),
    }
    for field, range_ in ranges.items():
        need, why = needs[field]
        if range_.num_addresses < need:
            short = f"must be a /{addresses.prefix_for(need)} or larger, not {range_}"
            yield field, f"{short}: {need} addresses are needed for {why}"
    services = ranges.get("serviceCidr")
    if services and services.num_addresses > _SERVICES[1]:
        yield "serviceCidr", f"must be a /16 or smaller, not {services}: GKE takes no larger range"
