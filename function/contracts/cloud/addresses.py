"""Plans of networks: parts of a base network, sizes, and overlaps.

A plan is a function of the base and of what a part is for, never of how many parts there are: an edit that adds a part
moves no other. All networks are IPv4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from itertools import combinations


def network(text: str) -> IPv4Network:
    """Return the network of a text that is known to be one. Raises ValueError for any other."""
    return IPv4Network(text)


def part(base: IPv4Network, prefix: int, index: int) -> IPv4Network:
    """Return the part of a base network that has a prefix length, and an index among all parts of that length.

    Raises:
        ValueError: There is no such part.
    """
    if not base.prefixlen <= prefix <= base.max_prefixlen or not 0 <= index < 2 ** (prefix - base.prefixlen):
        raise ValueError(f"{base} has no part {index} of prefix length {prefix}")
    first = int(base.network_address) + (index << (base.max_prefixlen - prefix))
    return IPv4Network((first, prefix))


def overlaps(networks: Mapping[str, IPv4Network]) -> Iterator[tuple[str, str]]:
    """Yield each pair of names whose networks overlap, in the order of the mapping."""
    for (one, first), (other, second) in combinations(networks.items(), 2):
        if first.overlaps(second):
            yield one, other


def prefix_for(addresses: int) -> int:
    """Return the longest prefix length of a network with at least so many addresses."""
    return 32 - max(0, addresses - 1).bit_length()
