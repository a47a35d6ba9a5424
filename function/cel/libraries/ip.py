"""IP addresses and blocks of them (CIDR).

Kubernetes takes addresses as net/netip of Go does, but without zones and without IPv4 addresses in IPv6 form. Source:
k8s.io/apiserver v0.36, pkg/cel/library (ip.go, cidr.go, cost.go) and pkg/cel (ip.go, cidr.go).
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from function.cel.golang.netip import IPV4_BITS, IPV6_BITS, parse_addr
from function.cel.golang.strconv import explained, is_parsed
from function.cel.language.declarations.cost import (
    PARSED,
    TRAVERSAL,
    UNIT,
    Argument,
    Cost,
    Estimate,
    by_function,
    double_text_charge,
    size_of,
    text_charge,
)
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import function, method
from function.cel.language.declarations.ranges import NOTHING, ONE, Range
from function.cel.language.errors import Failure
from function.cel.language.values.opaque import OpaqueType

_MAPPED = 0xFFFF
_LENGTH = re.compile(r"[0-9]|[1-9][0-9]{1,2}")
_LOOPBACK = {32: (127, 8), 128: (1, 128)}
"""By the bits of an address: what it begins with, and how many bits that is."""
_LINK_LOCAL = {32: (0xA9FE, 16), 128: (0x3FA, 10)}
_LINK_LOCAL_MULTICAST = {32: (0xE00000, 24)}
_MULTICAST = {32: (0xE, 4), 128: (0xFF, 8)}


@dataclass(frozen=True, slots=True)
class Ip:
    """An address of IPv4 or IPv6."""

    number: int
    bits: int

    @property
    def family(self) -> int:
        return 4 if self.bits == IPV4_BITS else 6

    def __str__(self) -> str:
        """The canonical form."""
        return str(ipaddress.IPv4Address(self.number) if self.bits == IPV4_BITS else ipaddress.IPv6Address(self.number))

    def begins(self, first: int, length: int) -> bool:
        """Whether its first bits, so many of them, are this number."""
        return self.number >> (self.bits - length) == first


@dataclass(frozen=True, slots=True)
class Cidr:
    """A block of addresses: one of them, and the length of the prefix that they share."""

    ip: Ip
    length: int

    def __str__(self) -> str:
        return f"{self.ip}/{self.length}"

    def has(self, ip: Ip, bits: int) -> bool:
        """Whether an address begins with the first bits of this block's."""
        beyond = self.ip.bits - bits
        return ip.bits == self.ip.bits and ip.number >> beyond == self.ip.number >> beyond

    def masked(self) -> Cidr:
        beyond = self.ip.bits - self.length
        return Cidr(Ip(self.ip.number >> beyond << beyond, self.ip.bits), self.length)


def parse_ip(text: str) -> Ip:
    """Parse an address. ValueError where it is none, has a zone, or is an IPv4 address mapped to IPv6."""
    number, bits, zone = parse_addr(text)
    ip = Ip(number, bits)
    if zone or _is_mapped(ip):
        raise ValueError("it has a zone, or is an IPv4 address mapped to IPv6")
    return ip


def parse_cidr(text: str) -> Cidr:
    """Parse a block. ValueError where it is none."""
    start, slash, length = text.rpartition("/")
    ip = parse_ip(start) if slash else None
    if ip is None or not _LENGTH.fullmatch(length) or int(length) > ip.bits:
        raise ValueError("it is not an address, a slash, and a number of bits")
    return Cidr(ip, int(length))


def _is_mapped(ip: Ip) -> bool:
    return ip.bits == IPV6_BITS and ip.number >> IPV4_BITS == _MAPPED


# Functions

_BROADCAST = Ip(2**32 - 1, 32)


def _ip(text: str) -> Ip:
    try:
        return parse_ip(text)
    except ValueError as error:
        raise Failure(explained(text, "IP address", error)) from None


def _cidr(text: str) -> Cidr:
    try:
        return parse_cidr(text)
    except ValueError as error:
        raise Failure(explained(text, "CIDR", error)) from None


def _is_loopback(ip: Ip) -> bool:
    return ip.begins(*_LOOPBACK[ip.bits])


def _is_link_local_unicast(ip: Ip) -> bool:
    return ip.begins(*_LINK_LOCAL[ip.bits])


def _is_link_local_multicast(ip: Ip) -> bool:
    if ip.bits in _LINK_LOCAL_MULTICAST:
        return ip.begins(*_LINK_LOCAL_MULTICAST[ip.bits])
    return ip.number >> 112 & 0xFF0F == 0xFF02  # noqa: PLR2004  (ff?2::/16)


def _is_global_unicast(ip: Ip) -> bool:
    is_special = not ip.number or ip == _BROADCAST or ip.begins(*_MULTICAST[ip.bits])
    return not (is_special or _is_loopback(ip) or _is_link_local_unicast(ip))


def _contains_ip(cidr: Cidr, ip: Ip) -> bool:
    return cidr.has(ip, cidr.length)


def _contains_cidr(cidr: Cidr, other: Cidr) -> bool:
    return cidr.length <= other.length and cidr.has(other.ip, cidr.length)


# Prices

_ADDRESS = Range(4, 16)
"""Bytes of an address."""
_OF_BLOCK = _ADDRESS.scaled(TRAVERSAL) + ONE
"""For a block in a block, beside its address."""


def _canonical(_: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    return Estimate(args[0].known_size.scaled(2 * TRAVERSAL)) if args else None


def _in_block(values: Sequence[Any], _: Any = None) -> int:
    return math.ceil(2 * size_of(values[0]) * TRAVERSAL)


def _block_in_block(values: Sequence[Any], _: Any = None) -> int:
    return _in_block(values) + math.ceil(size_of(values[0]) * TRAVERSAL) + 1


def _contained(more: Range, charge: Callable[..., int], *, parses: bool) -> Cost:
    """Of containment in a block, where the argument may have to be parsed first."""

    def estimated(_: Argument | None, args: Sequence[Argument]) -> Estimate | None:
        cost = (_ADDRESS + _ADDRESS).scaled(TRAVERSAL) + more
        return Estimate(cost + args[0].known_size.scaled(TRAVERSAL) if parses else cost)

    def charged(values: Sequence[Any], _: Any) -> int:
        return charge(values) + (text_charge(values[1:]) if parses else 0)

    return Cost(estimated, charged, unresolved=charge)


_CANONICAL = by_function(_canonical, double_text_charge)
_IP_IN_BLOCK = _contained(NOTHING, _in_block, parses=False)
_TEXT_IN_BLOCK = _contained(NOTHING, _in_block, parses=True)
_BLOCK_IN_BLOCK = _contained(_OF_BLOCK, _block_in_block, parses=False)
_BLOCK_TEXT_IN_BLOCK = _contained(_OF_BLOCK, _block_in_block, parses=True)

LIBRARY = Library(
    name="addresses",
    types=(
        OpaqueType(
            name="ip",
            type_name="net.IP",
            values=Ip,
            is_named=True,
            is_written=True,
            is_key=True,
            is_readable=False,
            size=lambda ip: math.ceil(ip.bits / 8),
        ),
        OpaqueType(
            name="cidr",
            type_name="net.CIDR",
            values=Cidr,
            is_named=True,
            is_written=True,
            is_key=True,
            is_readable=False,
            size=lambda cidr: math.ceil(cidr.length / 8),
        ),
    ),
    overloads=(
        function("string_to_ip: ip(string) -> ip", _ip, PARSED),
        function("is_ip: isIP(string) -> bool", lambda text: is_parsed(parse_ip, text), PARSED),
        function("ip_is_canonical: ip.isCanonical(string) -> bool", lambda text: str(_ip(text)) == text, _CANONICAL),
        method("ip_family: ip.family() -> int", lambda ip: ip.family, UNIT),
        method("ip_is_unspecified: ip.isUnspecified() -> bool", lambda ip: ip.number == 0, UNIT),
        method("ip_is_loopback: ip.isLoopback() -> bool", _is_loopback, UNIT),
        method("ip_is_link_local_multicast: ip.isLinkLocalMulticast() -> bool", _is_link_local_multicast, UNIT),
        method("ip_is_link_local_unicast: ip.isLinkLocalUnicast() -> bool", _is_link_local_unicast, UNIT),
        method("ip_is_global_unicast: ip.isGlobalUnicast() -> bool", _is_global_unicast, UNIT),
        function("ip_to_string: string(ip) -> string", str, UNIT),
        function("string_to_cidr: cidr(string) -> cidr", _cidr, PARSED),
        function("is_cidr: isCIDR(string) -> bool", lambda text: is_parsed(parse_cidr, text), PARSED),
        method(
            "cidr_contains_ip_string: cidr.containsIP(string) -> bool",
            lambda cidr, text: _contains_ip(cidr, _ip(text)),
            _TEXT_IN_BLOCK,
        ),
        method("cidr_contains_ip_ip: cidr.containsIP(ip) -> bool", _contains_ip, _IP_IN_BLOCK),
        method(
            "cidr_contains_cidr_string: cidr.containsCIDR(string) -> bool",
            lambda cidr, text: _contains_cidr(cidr, _cidr(text)),
            _BLOCK_TEXT_IN_BLOCK,
        ),
        method("cidr_contains_cidr: cidr.containsCIDR(cidr) -> bool", _contains_cidr, _BLOCK_IN_BLOCK),
        method("cidr_ip: cidr.ip() -> ip", lambda cidr: cidr.ip, UNIT),
        method("cidr_prefix_length: cidr.prefixLength() -> int", lambda cidr: cidr.length, UNIT),
        method("cidr_masked: cidr.masked() -> cidr", lambda cidr: cidr.masked(), UNIT),
        function("cidr_to_string: string(cidr) -> string", str, UNIT),
    ),
)
