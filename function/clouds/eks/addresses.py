"""The addresses of a VPC: which zone has which part of it, and whether that has room.

Terms. The *base* is the network of the VPC. It has eight equal parts. Those of the letters a to g are the private
subnets, for nodes and pods; the eighth has eight equal parts again, which are the public subnets, for NAT gateways and
load balancers. A zone's subnets depend on the base and on the zone's letter alone, so that no edit moves one.

Room. Pods take addresses of the VPC. A zone must have an address for what AWS itself takes, and for every node that can
be there a number that its pods are unlikely to exceed. The nodes of a pool are counted as evenly spread over its zones,
which is how Auto Scaling groups place them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from function.clouds.eks import zones
from function.contracts.cloud import addresses
from function.contracts.cloud.nodepool import NodePool

LARGEST, SMALLEST = 16, 22
"""Prefix lengths of the base. AWS takes VPCs of at most /16, and subnets of at least /28 (VPC user guide)."""
_PRIVATE, _PUBLIC = 3, 6
_OF_PUBLIC = len(zones.LETTERS) * 2 ** (_PUBLIC - _PRIVATE)
"""Index of the first public subnet among parts of its size: after all private ones."""

RESERVED = 5 + 16 + 1 + 8
"""Addresses of a private subnet that nodes and pods cannot have. AWS reserves 5, EKS advises to leave 16 to the control
plane (user guide, network requirements), a mount target of EFS has one, and a load balancer wants 8 (ELB user guide).
"""
OF_NODE = 32
"""Addresses of a node with devices: its own and that of a second interface, and those of 30 pods. A node of eight GPUs
has eight engines at most, and some ten pods of DaemonSets."""
OF_SYSTEM_NODE = 60
"""Addresses of a node of the system pool: all that four interfaces of fifteen have, those of an xlarge or 2xlarge."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """A zone without enough room."""

    letter: str
    need: int
    have: int
    smallest: int | None
    """Prefix length of the smallest base with enough room in every zone; None where no base has it."""


def private(base: IPv4Network, letter: str) -> IPv4Network:
    """Return the subnet of a zone for nodes and pods."""
    return addresses.part(base, base.prefixlen + _PRIVATE, zones.LETTERS.index(letter))


def public(base: IPv4Network, letter: str) -> IPv4Network:
    """Return the subnet of a zone for what has a public address."""
    return addresses.part(base, base.prefixlen + _PUBLIC, _OF_PUBLIC + zones.LETTERS.index(letter))


def need(region: str, pools: Sequence[NodePool], home: Sequence[str], system_nodes: int) -> dict[str, int]:
    """Return the addresses that the private subnet of each zone needs, by the zone's letter."""
    needed = dict.fromkeys(zones.everything(region, home, pools), RESERVED)
    _add(needed, home, system_nodes, OF_SYSTEM_NODE)
    for pool in pools:
        _add(needed, zones.of_pool(region, pool, home), pool.most_nodes, OF_NODE)
    return needed


def _add(needed: dict[str, int], letters: Sequence[str], nodes: int, each: int) -> None:
    for letter in letters:
        needed[letter] += -(-nodes // len(letters)) * each


def shortage(base: IPv4Network, needed: Mapping[str, int]) -> Shortage | None:
    """Return the zone that lacks the most; None where all have room."""
    letter = max(needed, key=lambda each: needed[each])
    have = private(base, letter).num_addresses
    if needed[letter] <= have:
        return None
    prefix = addresses.prefix_for(needed[letter]) - _PRIVATE
    return Shortage(letter, needed[letter], have, prefix if prefix >= LARGEST else None)


def parsed(text: str) -> IPv4Network | None:
    """Return the IPv4 network of a text; None for any other, such as one of IPv6."""
    try:
        return addresses.network(text)
    except ValueError:
        return None


def parts(base: IPv4Network, letters: Sequence[str]) -> Iterator[IPv4Network]:
    """Yield all subnets of a cluster with zones of some letters."""
    for letter in letters:
        yield private(base, letter)
        yield public(base, letter)
