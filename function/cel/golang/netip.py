"""IP addresses, with the grammar and the messages of net/netip of Go 1.26 (ParseAddr).

A message is part of what a selector can see: `format.uri().validate` returns it.
"""

from __future__ import annotations

import re

from function.cel.golang.strconv import Malformed

IPV4_BITS, IPV6_BITS = 32, 128
_OCTETS, _LARGEST_OCTET = 4, 255
_GROUPS, _BEFORE_FOUR = 8, 6
"""Fields of 16 bits, and those before an address of four octets."""
_DIGITS_OF_GROUP = 4
_MARK = re.compile(r"[.:%]")
_GROUP = re.compile(r"[0-9A-Fa-f]{0,5}")
_DIGITS = frozenset("0123456789")


def parse_addr(text: str) -> tuple[int, int, str]:
    """The number of an address, its bits and its zone. Malformed where it is no address."""
    mark = _MARK.search(text)
    if mark is None:
        raise _wrong(text, "unable to parse IP")
    if mark[0] == ".":
        return _four(text, text), IPV4_BITS, ""
    if mark[0] == ":":
        number, zone = _six(text)
        return number, IPV6_BITS, zone
    raise _wrong(text, "missing IPv6 address")


def _wrong(text: str, problem: str, rest: str = "") -> Malformed:
    if rest:
        return Malformed(f"ParseAddr({{}}): {problem} (at {{}})", text, rest)
    return Malformed(f"ParseAddr({{}}): {problem}", text)


def _four(part: str, text: str) -> int:
    """Four octets. A message quotes the whole text, and is about the first character that is wrong."""
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
    """Check at a dot that an octet is before it, and that another one can follow."""
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


def _six(text: str) -> tuple[int, str]:
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
    return _joined(groups, gap, text), zone


def _digits(rest: str, text: str) -> str:
    """The digits of the group that the rest begins with."""
    found = _GROUP.match(rest)
    digits = found[0] if found else ""
    if len(digits) > _DIGITS_OF_GROUP:
        raise _wrong(text, "each group must have 4 or less digits", rest)
    if not digits:
        raise _wrong(text, "each colon-separated field must have at least one digit", rest)
    return digits


def _after(rest: str, text: str) -> str:
    """The text behind the colon that ends a group."""
    if rest and rest[0] != ":":
        raise _wrong(text, "unexpected character, want colon", rest)
    if rest == ":":
        raise _wrong(text, "colon must be followed by more characters", rest)
    return rest[1:]


def _last_groups(rest: str, text: str, before: int, *, may_be_early: bool) -> tuple[int, int]:
    """The last two groups, where they are written as four octets."""
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
