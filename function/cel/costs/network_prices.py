"""What the functions over URLs, addresses and named formats cost at most, and those that authorize.

Source: k8s.io/apiserver v0.36, pkg/cel/library/cost.go and pkg/cel/limits.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from function.cel.costs.parts import PATTERN, TRAVERSAL, Part, Price
from function.cel.costs.sizes import ONE, Range, exactly

Pricing: TypeAlias = Callable[[Part | None, Sequence[Part]], Price | None]

NOMINAL = frozenset(
    {
        *("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery", "family", "isUnspecified"),
        *("isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast", "masked", "prefixLength"),
        *("format.named", "serviceAccount", "path", "group", "resource", "subresource", "namespace", "name"),
        *("allowed", "reason", "error", "errored"),
    }
)
"""They cost one unit."""
CHECK = 350_000
"""Of an authorization."""
REQUIREMENT, REQUIREMENTS = 50, 0.5
"""Of a selector of labels or fields: what a requirement costs, and how many a character may be."""
LIST = 10
_ADDRESS = Range(4, 16)
"""Bytes."""
_LONGEST_PATTERN, _LONGEST_NAME = 128, 64
_SAME = frozenset({"ip", "cidr", "authorizer", "pathcheck", "groupcheck", "resourcecheck", "decision"})
"""Types whose values are compared for one unit."""


def equal(part: Part) -> Price | None:
    """Of two values of one type, given the second."""
    name = part.type.name
    if name in _SAME:
        return Price(ONE)
    if name == "format":
        return Price(Range(1, _LONGEST_NAME).scaled(TRAVERSAL))
    if name == "url":
        return Price(Range(1, part.size.most if part.size else 1).scaled(TRAVERSAL))
    return None


def _read(times: int = 1) -> Pricing:
    return lambda _, args: Price(args[0].known.scaled(times * TRAVERSAL)) if args else None


def _url(_: Part | None, args: Sequence[Part]) -> Price | None:
    return Price(args[0].known.scaled(TRAVERSAL), args[0].known) if len(args) == 1 else None


def _validated(_: Part | None, args: Sequence[Part]) -> Price | None:
    return Price(args[0].known.scaled(TRAVERSAL).scaled(_LONGEST_PATTERN * PATTERN)) if args else None


def _contained(more: Range, *, reads: bool) -> Pricing:
    """Of an address or a block in a block, which may have to be read first."""

    def priced(_: Part | None, args: Sequence[Part]) -> Price | None:
        if not args:
            return None
        cost = (_ADDRESS + _ADDRESS).scaled(TRAVERSAL) + more
        return Price(cost + args[0].known.scaled(TRAVERSAL) if reads else cost)

    return priced


_OF_BLOCK = _ADDRESS.scaled(TRAVERSAL) + ONE
_NONE = Range(0, 0)


def selected(length: Range) -> Range:
    """Of a selector of labels or fields of that length."""
    return exactly(LIST) + length.scaled(TRAVERSAL) + length.scaled(REQUIREMENTS).scaled(REQUIREMENT)


def _selected(_: Part | None, args: Sequence[Part]) -> Price | None:
    return Price(selected(args[0].known)) if len(args) == 1 else None


BY_FUNCTION: Mapping[str, Pricing] = {
    **dict.fromkeys(NOMINAL, lambda _, __: Price(ONE)),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "ip"), _read()),
    "ip.isCanonical": _read(2),
    "url": _url,
    "validate": _validated,
    "check": lambda _, __: Price(exactly(CHECK)),
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selected),
}
BY_OVERLOAD: Mapping[str, Pricing] = {
    "cidr_ip": lambda _, __: Price(ONE),
    "cidr_contains_ip_ip": _contained(_NONE, reads=False),
    "cidr_contains_ip_string": _contained(_NONE, reads=True),
    "cidr_contains_cidr": _contained(_OF_BLOCK, reads=False),
    "cidr_contains_cidr_string": _contained(_OF_BLOCK, reads=True),
}
