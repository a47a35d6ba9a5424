"""What a call costs, once its arguments and its result are known.

Source: github.com/google/cel-go v0.26, interpreter/runtimecost.go, ext/lists.go and ext/sets.go; k8s.io/apiserver
v0.36, pkg/cel/library/cost.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from function.cel.costs.network_prices import CHECK, selected
from function.cel.costs.parts import PATTERN, TRAVERSAL
from function.cel.costs.sizes import exactly
from function.cel.values.addresses import Cidr, Ip
from function.cel.values.formats import Format
from function.cel.values.kinds import Optional, keys_of
from function.cel.values.opaque import OPAQUE

_LIST = 10


_BY_RESULT = frozenset({"slice", "lists.range", "reverse", "join"})


def is_told_before(function: str) -> bool:
    """Whether the arguments alone tell what a call costs: then what costs too much is not even begun."""
    return function not in _BY_RESULT


def actual(function: str, overload: str, values: Sequence[Any], result: Any) -> int:
    if overload in _SETS:
        return 1 + int(_size(values[0]) * _size(values[1]) * _SETS[overload])
    if overload.startswith("list_") or overload == "lists_range":
        price = _of_list(function, values, result)
        if price is not None:
            return price
    if overload == "cidr_ip":
        return 1
    named = _BY_FUNCTION.get(function)
    if named is not None:
        return named(values, result) + (_text(values[1:]) if overload in _READING else 0)
    if function == "_==_" and isinstance(values[0], OPAQUE):
        return 1
    general = _BY_OVERLOAD.get(overload)
    return general(values) if general else 1


def _of_list(function: str, values: Sequence[Any], result: Any) -> int | None:
    match function:
        case "slice" | "lists.range" | "reverse":
            return _size(result) + 1 + _LIST
        case "flatten":
            depth = values[1] if len(values) > 1 else 1
            return _unsigned(_size(values[0]) * float(depth)) + 1 + _LIST
        case "distinct" | "sort":
            return _squared(values[0])
        case "@sortByAssociatedKeys":
            return _squared(values[1])
    return None


def _unsigned(number: float) -> int:
    """As Go makes an unsigned integer of it: one that does not fit is 2^63. Source: what Go 1.26 does on amd64."""
    return int(number) % 2**64 if -(2.0**63) <= number < 2.0**64 else 2**63


def _squared(items: list[Any]) -> int:
    factor = 2 + TRAVERSAL if items and isinstance(items[0], str | bytes) else 2
    return int(len(items) ** 2 * factor) + 1 + _LIST


def _size(value: Any) -> int:
    if isinstance(value, Optional) and value.is_there:
        return _size(value.content[0])
    if isinstance(value, Ip | Cidr):
        return math.ceil((value.bits if isinstance(value, Ip) else value.length) / 8)
    return len(value) if isinstance(value, str | bytes | list | dict) else 1


def _walk(value: Any) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * TRAVERSAL)
    if isinstance(value, bytes):
        return int(len(value) * TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_walk, value))
    if isinstance(value, dict):
        return sum(map(_walk, keys_of(value))) + sum(map(_walk, value.values()))
    return 1


def _text(values: Sequence[Any], _: Any = None) -> int:
    return math.ceil(_size(values[0]) * TRAVERSAL)


def _rewritten(values: Sequence[Any], _: Any) -> int:
    return math.ceil(_size(values[0]) * 2 * TRAVERSAL)


def _pattern(values: Sequence[Any], _: Any = None) -> int:
    return math.ceil((1 + _size(values[0])) * TRAVERSAL) * math.ceil(_size(values[1]) * PATTERN)


def _least(values: Sequence[Any]) -> int:
    return math.ceil(min(_size(values[0]), _size(values[1])) * TRAVERSAL)


def _validated(values: Sequence[Any], _: Any) -> int:
    if not isinstance(values[0], Format):
        return 1
    return math.ceil((1 + _size(values[1])) * TRAVERSAL) * math.ceil(values[0].pattern * PATTERN)


def _in_block(values: Sequence[Any], _: Any = None) -> int:
    return math.ceil(2 * _size(values[0]) * TRAVERSAL)


def _block_in_block(values: Sequence[Any], _: Any) -> int:
    return _in_block(values) + math.ceil(_size(values[0]) * TRAVERSAL) + 1


def _selected(values: Sequence[Any], _: Any) -> int:
    return selected(exactly(_size(values[1]))).most


_READING = frozenset({"cidr_contains_ip_string", "cidr_contains_cidr_string"})
"""What is contained is a text, which has to be read."""
_SETS = {"list_sets_contains_list": 1, "list_sets_intersects_list": 1, "list_sets_equivalent_list": 2}
_BY_FUNCTION: Mapping[str, Callable[[Sequence[Any], Any], int]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), lambda values, _: _walk(values[0])),
    **dict.fromkeys(
        (
            *("lowerAscii", "upperAscii", "substring", "trim", "quantity", "isQuantity", "semver", "isSemver"),
            *("url", "ip", "isIP", "cidr", "isCIDR"),
        ),
        _text,
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _rewritten),
    "validate": _validated,
    "containsIP": _in_block,
    "containsCIDR": _block_in_block,
    "check": lambda _, __: CHECK,
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selected),
    "join": lambda _, result: math.ceil(_size(result) * 2 * TRAVERSAL),
    **dict.fromkeys(("find", "findAll"), _pattern),
}
_BY_OVERLOAD: Mapping[str, Callable[[Sequence[Any]], int]] = {
    **dict.fromkeys(
        (
            "starts_with_string",
            "ends_with_string",
            "string_to_bytes",
            "bytes_to_string",
            "strings_quote",
            "string_format",
        ),
        _text,
    ),
    "in_list": lambda values: _size(values[1]),
    **dict.fromkeys(
        [f"{o}_{t}" for o in ("less", "greater", "less_equals", "greater_equals") for t in ("string", "bytes")], _least
    ),
    "equals": _least,
    "not_equals": _least,
    **dict.fromkeys(
        ("add_string", "add_bytes"), lambda values: math.ceil((_size(values[0]) + _size(values[1])) * TRAVERSAL)
    ),
    "matches_string": _pattern,
    "contains_string": lambda values: math.ceil(_size(values[0]) * TRAVERSAL) * math.ceil(_size(values[1]) * TRAVERSAL),
}
