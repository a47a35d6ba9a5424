"""Room for nodes in the network of a cluster.

Nebius allocates addresses itself, in parts of a power of two. What must be known beforehand is whether they suffice
(docs.nebius.com, kubernetes/networking/requirements): one part for Services; a /24 and an address for every node, at
the default of 110 pods (mk8s_v1_node_group, max_pods); five addresses for the control plane.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from function.clouds.nebius.blocks import Network
from function.clouds.nebius.facts import SYSTEM_NODES
from function.contracts.cloud import addresses
from function.contracts.cloud.nodepool import NodePool

_CONTROL_PLANE = 5
_OWN = SYSTEM_NODES.stop - 1 + 1
"""Nodes of the cluster's own pool at most, with the one that an update adds."""
_PART = 256
"""Addresses of a /24, which the pods of a node take."""
_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))


def nodes(pools: Sequence[NodePool]) -> int:
    """Return the most nodes that there can be at once: an update of the cluster's own pool takes one more."""
    return _OWN + sum(pool.most_nodes for pool in pools)


def service_prefix(network: Network) -> int:
    """Return the prefix length of the addresses of Services."""
    return int(network.serviceCidr.rpartition("/")[2])


def needed(nodes_: int, service: int) -> int:
    """Return the addresses that a network must have, for some nodes and a prefix length of Services."""
    services = 1 << (32 - service)
    single = nodes_ + _CONTROL_PLANE + (services if services < _PART else 0)
    parts = nodes_ + math.ceil(single / _PART)
    return parts * _PART + (services if services >= _PART else 0)


def faults(network: Network, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the networks, as fields below the cloud's block and problems."""
    given = network.cidr
    if given is None:
        if not network.serviceCidr.startswith("/"):
            problem = f"must be a length such as /16, not {network.serviceCidr}, where network.cidr is left out"
            yield "network.serviceCidr", f"{problem}: Nebius chooses the addresses"
        return
    if ":" in given or not any(addresses.network(given).subnet_of(private) for private in _PRIVATE):
        yield "network.cidr", f"must be part of {', '.join(map(str, _PRIVATE[:2]))} or {_PRIVATE[2]}, not {given}"
        return
    yield from _service_faults(network, addresses.network(given))
    yield from _room_faults(network, addresses.network(given), pools)


def _service_faults(network: Network, whole: IPv4Network) -> Iterator[tuple[str, str]]:
    if network.serviceCidr.startswith("/"):
        return
    try:
        services = IPv4Network(network.serviceCidr)
    except ValueError:
        yield "network.serviceCidr", f"must be a network written with its first address, not {network.serviceCidr}"
        return
    if not services.subnet_of(whole):
        yield "network.serviceCidr", f"must be part of network.cidr, {whole}, not {services}"


def _room_faults(network: Network, whole: IPv4Network, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    most, service = nodes(pools), service_prefix(network)
    least = addresses.prefix_for(needed(most, service))
    if whole.num_addresses < needed(most, service):
        problem = f"must be a /{least} or larger, not {whole}: there must be room for {most} nodes with a /24 each"
        yield "network.cidr", f"{problem}, {_OWN} of the cluster's own among them, and for a /{service} of Services"
