"""The network of a cluster: a network with one subnet, and a pool of addresses where the user chooses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.clouds.nebius.blocks import Network
from function.clouds.nebius.facts import NETWORK, POOL, SUBNET
from function.contracts.cloud.site import Resource, Site

KEY = "network"
SUBNET_KEY = "subnet"
_ADDRESSES = "addresses"


def resources(site: Site, network: Network) -> Iterator[Resource]:
    """Yield the network. Nebius asks for a name of everything, and the provider derives none."""
    private: dict[str, Any] = {}
    if network.cidr:
        yield _pool(site, network.cidr)
        private = {"ipv4PrivatePools": {"pools": [{"idRef": site.ref(_ADDRESSES)}]}}
    yield site.resource(KEY, NETWORK, {"name": site.name(KEY), "labels": site.tags, **private})
    wanted = {
        "name": site.name(SUBNET_KEY),
        "labels": site.tags,
        "networkIdRef": site.ref(KEY),
        "ipv4PrivatePools": {"useNetworkPools": True},
    }
    yield site.resource(SUBNET_KEY, SUBNET, wanted)


def _pool(site: Site, cidr: str) -> Resource:
    wanted = {
        "name": site.name(_ADDRESSES),
        "labels": site.tags,
        "version": "IPV4",
        "visibility": "PRIVATE",
        "cidrs": [{"cidr": cidr}],
    }
    return site.resource(_ADDRESSES, POOL, wanted)
