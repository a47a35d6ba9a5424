"""Networks and address ranges, read exactly as the API server's CEL library reads them (net/netip of Go)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Annotated, TypeAlias

from function.cel.libraries import ip
from function.schema.fields import Text, quoted

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_NETWORK_WORDS = (
    "a network such as 192.0.2.0/24: its first address, a slash and a length, without leading zeros and without"
    " IPv4 addresses in IPv6 form"
)
_RANGE_WORDS = (
    "a range of addresses such as 192.0.2.10-192.0.2.20, the lower one first, or a network such as 192.0.2.0/28,"
    " written with its first address"
)
_IS_NETWORK = "isCIDR(self) && cidr(self).masked() == cidr(self)"
"""As in Kubernetes with StrictIPCIDRValidation (k8s.io/apimachinery v0.36, pkg/util/validation/ip.go, parseCIDR)."""
_FROM, _TO = "self.substring(0, self.indexOf('-'))", "self.substring(self.indexOf('-') + 1)"
"""The two sides of a dash. Kubernetes can bound the length of a substring, and so the cost of parsing it, but not that
of the parts that split() returns."""
_LENGTHS = f"[{', '.join(map(str, range(128)))}]"
_SUFFIXES = "".join(f"/{length}".ljust(4) for length in range(129))


def _block(address: str, length: str) -> str:
    """Return the block of an address, in CEL.

    The length is cut out of a text for the same reason: Kubernetes does not know the size of `string(length)`.
    """
    return f"cidr({address} + '{_SUFFIXES}'.substring(4 * ({length}), 4 * ({length}) + 4).trim())"


_IS_BEFORE = (
    f"{_LENGTHS}.exists(bits, bits < (ip({_FROM}).family() == 4 ? 32 : 128)"
    f" && {_block(_FROM, 'bits')}.containsIP(ip({_TO})) && !{_block(_FROM, 'bits + 1')}.containsIP(ip({_TO}))"
    f" && {_block(_FROM, 'bits')}.masked().ip() == {_block(_FROM, 'bits + 1')}.masked().ip())"
)
"""CEL does not order addresses. The lower of two addresses has a 0 in the first bit in which they differ."""
_IS_RANGE = (
    f"self.indexOf('-') > 0 && isIP({_FROM}) && isIP({_TO}) && ip({_FROM}).family() == ip({_TO}).family()"
    f" && (ip({_FROM}) == ip({_TO}) || {_IS_BEFORE})"
)
"""An address pool as MetalLB reads it (metallb v0.16, internal/config, ParseCIDR), without spaces around the dash."""


def is_network(text: str) -> bool:
    try:
        block = ip.parse_cidr(text)
    except ValueError:
        return False
    return block.masked() == block


def is_range(text: str) -> bool:
    """Return whether a text is two addresses of one family with a dash between them, the lower one first."""
    try:
        first, last = map(ip.parse_ip, text.split("-"))
    except ValueError:
        return False
    return first.bits == last.bits and first.number <= last.number


Cidr = Annotated[str, Text(49, words=_NETWORK_WORDS, cel=_IS_NETWORK, holds=is_network)]
AddressRange = Annotated[
    str,
    Text(
        100,
        words=_RANGE_WORDS,
        cel=f"({_IS_NETWORK} || {_IS_RANGE})",
        holds=lambda text: is_network(text) or is_range(text),
    ),
]

_TOP_LABEL = "[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
_DOMAIN = rf"^([*]|([*][.])?(([a-z0-9]([-a-z0-9]{{0,61}}[a-z0-9])?)[.])*{_TOP_LABEL})$"


def _is_destination(text: str) -> bool:
    return is_network(text) or _is_address(text) or re.fullmatch(_DOMAIN, text) is not None


def _is_address(text: str) -> bool:
    try:
        ip.parse_ip(text)
    except ValueError:
        return False
    return True


Destination = Annotated[
    str,
    Text(
        253,
        words=(
            "a network such as 10.0.0.0/8 (its first address, a slash and a length), an IP address, a host name in"
            " lower case, *. before a domain, such as *.corp.example.com, or * for every name"
        ),
        cel=f"(isIP(self) || ({_IS_NETWORK}) || self.matches({quoted(_DOMAIN)}))",
        holds=_is_destination,
    ),
]
"""Hosts: a network, an address, a name, or the names below a domain."""

_NOT_ROUTED = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "224.0.0.0/3",
    )
)
"""Addresses that never occur on the internet (IANA, IPv4 Special-Purpose Address Registry; multicast, class E)."""
_EVERY_IPV4 = ipaddress.IPv4Network("0.0.0.0/0")
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
"""All IPv6 unicast addresses of the internet (IANA, Internet Protocol Version 6 Address Space)."""


def cover_the_internet(networks: Iterable[str]) -> bool:
    """Return whether networks together cover every public address of IPv4, or of IPv6."""
    read = [ipaddress.ip_network(network) for network in networks]
    four = [network for network in read if isinstance(network, ipaddress.IPv4Network)]
    six = [network for network in read if isinstance(network, ipaddress.IPv6Network)]
    return _EVERY_IPV4 in ipaddress.collapse_addresses((*four, *_NOT_ROUTED)) or any(
        network.supernet_of(_GLOBAL_IPV6) for network in ipaddress.collapse_addresses(six)
    )
