"""IP addresses and blocks of them (CIDR), as Kubernetes reads them.

Grammar and sentences are those of net/netip of Go 1.26 (ParseAddr, ParsePrefix). A sentence is part of what a
selector can see: `format.uri().validate` hands it out.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from function.cel.values.quoting import Malformed

_FOUR, _SIX = 32, 128
_OCTETS, _LARGEST_OCTET = 4, 255
_GROUPS, _BEFORE_FOUR = 8, 6
"""Fields of 16 bits, and those before an address of four octets."""
_DIGITS_OF_GROUP = 4
_MAPPED = 0xFFFF
_MARK = re.compile(r"[.:%]")
_GROUP = re.compile(r"[0-9A-Fa-f]{0,5}")
_LENGTH = re.compile(r"[0-9]|[1-9][0-9]{1,2}")
_DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class Ip:
    """An address, of 32 bits or of 128."""

    number: int
    bits: int

    @property
    def family(self) -> int:
        return 4 if self.bits == _FOUR else 6

    def __str__(self) -> str:
        """In the one form that is canonical."""
        return str(ipaddress.IPv4Address(self.number) if self.bits == _FOUR else ipaddress.IPv6Address(self.number))

    def begins(self, first: int, length: int) -> bool:
        """Whether its first bits are these."""
        return self.number >> (self.bits - length) == first


@dataclass(frozen=True, slots=True)
class Cidr:
    """An address, and how many of its bits are those of the block."""

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


def address(text: str) -> Ip:
    """ValueError for what is none, has a zone, or is an IPv4 address in IPv6's clothes."""
    ip, zone = read(text)
    if zone or _is_mapped(ip):
        raise ValueError("it has a zone, or is an IPv4 address mapped to IPv6")
    return ip


def block(text: str) -> Cidr:
    """ValueError for what is none."""
    start, slash, length = text.rpartition("/")
    ip = address(start) if slash else None
    if ip is None or not _LENGTH.fullmatch(length) or int(length) > ip.bits:
        raise ValueError("it is not an address, a slash, and a number of bits")
    return Cidr(ip, int(length))


def read(text: str) -> tuple[Ip, str]:
    """An address and its zone. Malformed for what is none."""
    mark = _MARK.search(text)
    if mark is None:
        raise _wrong(text, "unable to parse IP")
    if mark[0] == ".":
        return Ip(_four(text, text), _FOUR), ""
    if mark[0] == ":":
        return _six(text)
    raise _wrong(text, "missing IPv6 address")


def _wrong(text: str, problem: str, rest: str = "") -> Malformed:
    if rest:
        return Malformed(f"ParseAddr({{}}): {problem} (at {{}})", text, rest)
    return Malformed(f"ParseAddr({{}}): {problem}", text)


def _is_mapped(ip: Ip) -> bool:
    return ip.bits == _SIX and ip.number >> _FOUR == _MAPPED


def _four(part: str, text: str) -> int:
    """Four octets. What is wrong is told of the whole text, as soon as it shows."""
    octets = [""]
    for i, letter in enumerate(part):
        if letter == ".":
            _check_end(octets, part[i:], text)
            octets.append("")
            continue
        if letter not in _DIGITS:
            raise _wrong(text, "unexpected character", part[i:])
        octets[-1] = _longer(octets[-1], letter, text)
    if len(octets) < _OCTETS:
        raise _wrong(text, "IPv4 address too short")
    return int.from_bytes(bytes(map(int, octets)), "big")


def _check_end(octets: list[str], rest: str, text: str) -> None:
    """At a dot, that there is an octet before it, and can be one behind it."""
    if not octets[-1] or rest == ".":
        raise _wrong(text, "IPv4 field must have at least one digit", rest)
    if len(octets) == _OCTETS:
        raise _wrong(text, "IPv4 address too long")


def _longer(octet: str, digit: str, text: str) -> str:
    if octet == "0":
        raise _wrong(text, "IPv4 field has octet with leading zero")
    if int(octet + digit) > _LARGEST_OCTET:
        raise _wrong(text, "IPv4 field has value >255")
    return octet + digit


def _six(text: str) -> tuple[Ip, str]:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _wrong(text, "zone must be a non-empty string")
    groups: list[int] = []
    gap = None
    if rest.startswith("::"):
        gap, rest = 0, rest[2:]
    while rest and len(groups) < _GROUPS:
        digits = _digits(rest, text)
        if rest[len(digits) :].startswith("."):
            groups += _last_groups(rest, text, len(groups), may_be_early=gap is not None)
            rest = ""
            break
        groups.append(int(digits, 16))
        rest = _after(rest[len(digits) :], text)
        if rest.startswith(":"):
            if gap is not None:
                raise _wrong(text, "multiple :: in address", rest)
            gap, rest = len(groups), rest[1:]
    if rest:
        raise _wrong(text, "trailing garbage after address", rest)
    return Ip(_joined(groups, gap, text), _SIX), zone


def _digits(rest: str, text: str) -> str:
    """Of the group that the rest begins with."""
    found = _GROUP.match(rest)
    digits = found[0] if found else ""
    if len(digits) > _DIGITS_OF_GROUP:
        raise _wrong(text, "each group must have 4 or less digits", rest)
    if not digits:
        raise _wrong(text, "each colon-separated field must have at least one digit", rest)
    return digits


def _after(rest: str, text: str) -> str:
    """What follows the colon behind a group, if anything does."""
    if rest and rest[0] != ":":
        raise _wrong(text, "unexpected character, want colon", rest)
    if rest == ":":
        raise _wrong(text, "colon must be followed by more characters", rest)
    return rest[1:]


def _last_groups(rest: str, text: str, before: int, *, may_be_early: bool) -> tuple[int, int]:
    """The two that are written as four octets."""
    if not may_be_early and before != _BEFORE_FOUR:
        raise _wrong(text, "embedded IPv4 address must replace the final 2 fields of the address", rest)
    if before > _BEFORE_FOUR:
        raise _wrong(text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest)
    return divmod(_four(rest, text), 2**16)


def _joined(groups: list[int], gap: int | None, text: str) -> int:
    missing = _GROUPS - len(groups)
    if gap is None:
        if missing:
            raise _wrong(text, "address string too short")
        gap = 0
    elif not missing:
        raise _wrong(text, "the :: must expand to at least one field of zeros")
    number = 0
    for group in (*groups[:gap], *[0] * missing, *groups[gap:]):
        number = number << 16 | group
    return number
