"""What calls cost at most, by what is known of their arguments.

Source: k8s.io/apiserver v0.36, pkg/cel/library/cost.go; github.com/google/cel-go v0.26, checker/cost.go, ext/lists.go
and ext/sets.go; k8s.io/dynamic-resource-allocation v0.36
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from function.cel.costs import network_prices
from function.cel.costs.parts import PATTERN, TRAVERSAL, Part, Price
from function.cel.costs.sizes import MOST, ONE, Range, exactly

_LIST = 10


def price(function: str, overload: str, target: Part | None, args: Sequence[Part]) -> Price | None:
    """Without the cost of the arguments. None: an operator that is known to the estimate itself, or one unit."""
    own = _BY_OVERLOAD.get(overload)
    found = own(target, args) if own else None
    if found is None:
        named = _BY_FUNCTION.get(function)
        found = named(target, args) if named else None
    if found is None:
        general = _GENERAL.get(overload)
        found = general(target, args) if general else None
    return found


def _nominal(_: Part | None, __: Sequence[Part]) -> Price:
    return Price(ONE)


# Functions of Kubernetes


def _elements(target: Part | None, _: Sequence[Part]) -> Price | None:
    if target is None:
        return None
    item = target.item
    if item is None:
        return Price(target.known.scaled(TRAVERSAL))
    each = ONE + item.known.scaled(TRAVERSAL) if item.type.kind in ("string", "bytes") else ONE
    return Price(target.known.times(each))


def _traversed(target: Part | None, _: Sequence[Part]) -> Price | None:
    return Price(target.known.scaled(TRAVERSAL), target.known) if target else None


def _parsed(_: Part | None, args: Sequence[Part]) -> Price | None:
    return Price(args[0].known.scaled(TRAVERSAL)) if args else None


def _replaced(target: Part | None, args: Sequence[Part]) -> Price | None:
    if target is None or len(args) < 2:  # noqa: PLR2004  (old and new)
        return None
    size, old, new = target.known, args[0].known, args[1].known
    most, kept_most = _replacements(size.most, old.least, shrinks=new.most <= old.least)
    least, kept_least = _replacements(size.least, old.most, shrinks=old.most <= new.least)
    result = Range(least, most).times(new) + Range(kept_least, kept_most)
    return Price(size.scaled(2 * TRAVERSAL), result)


def _replacements(size: int, old: int, *, shrinks: bool) -> tuple[int, int]:
    """How many there can be, and how much of the text stays."""
    if old == 0:
        return (size + 1 if size < MOST else size), size
    if shrinks:
        return 0, size
    return min(MOST, math.ceil(float(size) / float(old))), 0


def _split(target: Part | None, args: Sequence[Part]) -> Price | None:
    if target is None:
        return None
    most = target.known.most
    if len(args) > 1 and type(args[1].literal) is int:
        most = args[1].literal % 2**64
    return Price(target.known.scaled(2 * TRAVERSAL), Range(0, most))


def _joined(target: Part | None, args: Sequence[Part]) -> Price | None:
    if target is None:
        return None
    item, count = target.item, target.known
    size = count.times(item.known) if item else Range(0, 0)
    if args:
        size += args[0].known.times(Range(max(0, count.least - 1), max(0, count.most - 1)))
    return Price(size.scaled(TRAVERSAL), size)


def _found(target: Part | None, args: Sequence[Part]) -> Price | None:
    if target is None or not args:
        return None
    cost = (target.known + ONE).scaled(TRAVERSAL).times(args[0].known.scaled(PATTERN))
    return Price(cost, Range(0, target.known.most))


def _equal(_: Part | None, args: Sequence[Part]) -> Price | None:
    if len(args) != 2 or args[0].type != args[1].type:  # noqa: PLR2004  (two operands)
        return None
    if args[0].type.name in ("quantity", "semver"):
        return Price(ONE)
    return network_prices.equal(args[1])


_BY_FUNCTION: Mapping[str, Callable[[Part | None, Sequence[Part]], Price | None]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _elements),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _traversed),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _parsed),
    **dict.fromkeys(
        (
            "sign",
            "asInteger",
            "isInteger",
            "asApproximateFloat",
            "isGreaterThan",
            "isLessThan",
            "compareTo",
            "add",
            "sub",
        ),
        _nominal,
    ),
    **dict.fromkeys(("major", "minor", "patch"), _nominal),
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "find": _found,
    "findAll": _found,
    "_==_": _equal,
    **network_prices.BY_FUNCTION,
}

# Functions over lists and sets


def _list_of(size: Range, factor: float = 1) -> Price:
    return Price(size.scaled(factor) + exactly(1 + _LIST), size)


def _integer(part: Part, otherwise: int) -> int:
    return max(0, part.literal) if type(part.literal) is int else otherwise


def _sliced(target: Part | None, args: Sequence[Part]) -> Price | None:
    assert target is not None
    start, end = _integer(args[0], 0), _integer(args[1], target.known.most)
    return _list_of(exactly((end - start) % 2**64))


def _flattened(target: Part | None, args: Sequence[Part]) -> Price | None:
    assert target is not None
    return _list_of(target.known, float(_integer(args[0], MOST)) if args else 1)


def _squared(size: Range, factor: float) -> Price:
    return _list_of(size.times(size), factor)


def _distinct(target: Part | None, _: Sequence[Part]) -> Price | None:
    assert target is not None
    return _squared(target.known, 2)


def _sorted(factor: float) -> Callable[[Part | None, Sequence[Part]], Price | None]:
    def priced(target: Part | None, args: Sequence[Part]) -> Price | None:
        assert target is not None
        return _squared((args[0] if args else target).known, factor)

    return priced


def _sets(factor: float) -> Callable[[Part | None, Sequence[Part]], Price | None]:
    return lambda _, args: Price(args[0].known.times(args[1].known).scaled(factor) + ONE)


_COMPARED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_BY_OVERLOAD: Mapping[str, Callable[[Part | None, Sequence[Part]], Price | None]] = {
    "list_slice": _sliced,
    "list_flatten": _flattened,
    "list_flatten_int": _flattened,
    "lists_range": lambda _, args: _list_of(exactly(_integer(args[0], MOST))),
    "list_reverse": lambda target, _: _list_of(target.known) if target else None,
    "list_distinct": _distinct,
    **{f"list_{t}_sort": _sorted(2 + TRAVERSAL if t in ("string", "bytes") else 2) for t in _COMPARED},
    **{f"list_{t}_sortByAssociatedKeys": _sorted(2 + TRAVERSAL if t in ("string", "bytes") else 2) for t in _COMPARED},
    "list_sets_contains_list": _sets(1),
    "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    **network_prices.BY_OVERLOAD,
}

# Standard functions


def _of_string(result: Callable[[Range], Range] | None = None) -> Callable[[Part | None, Sequence[Part]], Price | None]:
    def priced(_: Part | None, args: Sequence[Part]) -> Price | None:
        if len(args) != 1:
            return None
        size = args[0].known
        return Price(size.scaled(TRAVERSAL), result(size) if result else None)

    return priced


def _formatted(target: Part | None, _: Sequence[Part]) -> Price | None:
    return Price(target.known.scaled(TRAVERSAL)) if target else None


def _matched(target: Part | None, args: Sequence[Part]) -> Price | None:
    if target is None:
        return None
    return Price((target.known + ONE).scaled(TRAVERSAL).times(args[0].known.scaled(PATTERN)))


def _contained(target: Part | None, args: Sequence[Part]) -> Price | None:
    if target is None:
        return None
    return Price(target.known.scaled(TRAVERSAL).times(args[0].known.scaled(TRAVERSAL)))


def _compared(_: Part | None, args: Sequence[Part]) -> Price:
    most = min(args[0].known.most, args[1].known.most)
    return Price(Range(1 if most else 0, most).scaled(TRAVERSAL))


_GENERAL: Mapping[str, Callable[[Part | None, Sequence[Part]], Price | None]] = {
    "string_format": _formatted,
    "string_to_bytes": _of_string(lambda size: Range(size.least, size.most * 4 % 2**64)),
    "bytes_to_string": _of_string(lambda size: Range(size.least // 4, size.most)),
    "strings_quote": _of_string(lambda size: Range((size.least + 2) % 2**64, (size.most * 2 + 2) % 2**64)),
    "starts_with_string": _of_string(),
    "ends_with_string": _of_string(),
    "in_list": lambda _, args: Price(args[1].known.scaled(1)),
    "matches_string": _matched,
    "contains_string": _contained,
    **{
        f"{order}_{t}": _compared
        for order in ("less", "greater", "less_equals", "greater_equals")
        for t in ("string", "bytes")
    },
    "equals": _compared,
    "not_equals": _compared,
}
