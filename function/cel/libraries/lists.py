"""The functions over lists, and over lists as sets.

Source: github.com/google/cel-go v0.26, ext/lists.go (version 3) and ext/sets.go; k8s.io/apiserver v0.36,
pkg/cel/library/lists.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from function.cel.golang import pdqsort
from function.cel.language.declarations.cost import (
    ELEMENTS,
    LIST,
    TRAVERSAL,
    Argument,
    Cost,
    Estimate,
    by_overload,
    size_of,
)
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import Overload, Required, function, method
from function.cel.language.declarations.ranges import MOST, ONE, Range, exactly
from function.cel.language.errors import Abort, Failure
from function.cel.language.limits import MADE_ELEMENTS
from function.cel.language.limits.step_budget import spend
from function.cel.language.syntax.tree import Literal, Node
from function.cel.language.values import comparison
from function.cel.language.values.arithmetic import add
from function.cel.language.values.comparison import compare, same
from function.cel.language.values.kinds import Duration, Timestamp, Uint
from function.cel.language.values.type_names import no_overload, type_name

_ZEROS: Mapping[str, Any] = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}
_ORDERED = frozenset({bool, int, Uint, float, str, bytes, Timestamp, Duration})


def _index_of(items: list[Any], item: Any) -> int:
    return next((i for i, element in enumerate(items) if same(element, item)), -1)


def _last_index_of(items: list[Any], item: Any) -> int:
    return next((i for i in range(len(items) - 1, -1, -1) if same(items[i], item)), -1)


def _is_sorted(items: list[Any]) -> bool:
    for i, item in enumerate(items):
        if type(item) not in _ORDERED:
            raise no_overload("isSorted", item)
        if i and _order(items[i - 1], item) > 0:
            return False
    return True


def _order(a: Any, b: Any) -> int:
    """The order of two elements; those that have none count as equal."""
    try:
        return compare(a, b)
    except Failure:
        return 0


def _extreme(name: str, sign: int) -> Callable[[list[Any]], Any]:
    def found(items: list[Any]) -> Any:
        if not items:
            raise Failure(f"{name} of an empty list")
        for item in items:
            if type(item) not in _ORDERED:
                raise no_overload(name, item)
        return reduce(lambda best, item: item if sign * _order(best, item) < 0 else best, items)

    return found


_max, _min = _extreme("max", 1), _extreme("min", -1)


def _sum(zero: Any) -> Callable[[list[Any]], Any]:
    return lambda items: reduce(add, items, zero)


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0 or start > end or end > len(items):
        raise Failure(f"cannot slice({start}, {end}) a list of {len(items)}")
    return items[start:end]


def _flatten(items: Any, depth: Any = 1) -> list[Any]:
    """Unguarded: a list that is flat already stays as it is."""
    if not isinstance(items, list) or type(depth) is not int:
        raise no_overload("flatten", items, depth)
    if depth < 0:
        raise Failure("level must be non-negative")
    flat: list[Any] = []
    for item in items:
        if isinstance(item, list) and depth:
            spend(len(item))
            flat.extend(_flatten(item, depth - 1))
        else:
            flat.append(item)
    return flat


def _range(count: int) -> list[int]:
    if count > MADE_ELEMENTS:
        raise Abort("the evaluation costs more than Kubernetes allows")
    return list(range(count))


def _distinct(items: list[Any]) -> list[Any]:
    unique: list[Any] = []
    for item in items:
        if not any(same(item, other) for other in unique):
            unique.append(item)
    return unique


def _sort(items: Any) -> list[Any]:
    return _sort_by(items, items)


def _sort_by(items: Any, keys: Any) -> list[Any]:
    """Unguarded: only the values of the keys count, whatever the types of the lists are."""
    if not isinstance(items, list) or not isinstance(keys, list):
        raise no_overload("sort", items)
    if len(items) != len(keys):
        raise Failure("a list is sorted by as many keys as it has elements")
    if len({type_name(k) for k in keys}) > 1:
        raise Failure("list elements must have the same type")
    if keys and type(keys[0]) not in _ORDERED:
        raise Failure("list elements must be comparable")
    return [items[i] for i in pdqsort.positions(len(keys), lambda i, j: _order(keys[i], keys[j]) < 0)]


def _contains_all(items: list[Any], wanted: list[Any]) -> bool:
    return all(comparison.contains(w, items) for w in wanted)


def _equivalent(items: list[Any], others: list[Any]) -> bool:
    return _contains_all(items, others) and _contains_all(others, items)


def _intersects(items: list[Any], others: list[Any]) -> bool:
    return any(comparison.contains(item, others) for item in items)


# Prices. Source: ext/lists.go (estimators and trackers) and ext/sets.go.


def _made(size: Range, factor: float = 1) -> Estimate:
    """A new list, of that size where the factor is one."""
    return Estimate(size.scaled(factor) + exactly(1 + LIST), size)


def _literal(argument: Argument, otherwise: int) -> int:
    return max(0, argument.literal) if type(argument.literal) is int else otherwise


def _slice_estimate(target: Argument | None, args: Sequence[Argument]) -> Estimate:
    assert target is not None
    start, end = _literal(args[0], 0), _literal(args[1], target.known_size.most)
    return _made(exactly((end - start) % 2**64))


def _flatten_estimate(target: Argument | None, args: Sequence[Argument]) -> Estimate:
    assert target is not None
    return _made(target.known_size, float(_literal(args[0], MOST)) if args else 1)


def _flatten_charge(values: Sequence[Any], _: Any) -> int:
    depth = values[1] if len(values) > 1 else 1
    return _unsigned(size_of(values[0]) * float(depth)) + 1 + LIST


def _unsigned(number: float) -> int:
    """The number as Go converts it to an unsigned integer: 2^63, where it does not fit.

    Source: what Go 1.26 does on amd64.
    """
    return int(number) % 2**64 if -(2.0**63) <= number < 2.0**64 else 2**63


def _is_underestimated(args: Sequence[Node]) -> bool:
    """Whether the depth may be below zero. Kubernetes prices that below zero, which is beyond any limit."""
    return not all(isinstance(a, Literal) and type(a.value) is int and a.value >= 0 for a in args)


def _range_estimate(_: Argument | None, args: Sequence[Argument]) -> Estimate:
    return _made(exactly(_literal(args[0], MOST)))


def _reverse_estimate(target: Argument | None, _: Sequence[Argument]) -> Estimate | None:
    return _made(target.known_size) if target else None


def _result_charge(_: Sequence[Any], result: Any) -> int:
    return size_of(result) + 1 + LIST


def _pairs(factor: float, position: int = 0) -> Cost:
    """Return the cost of comparing each pair of elements in one of the arguments, counted from the target."""

    def estimated(target: Argument | None, args: Sequence[Argument]) -> Estimate:
        compared = args[position - 1] if position else target
        assert compared is not None
        return _made(compared.known_size.times(compared.known_size), factor)

    def charged(values: Sequence[Any], _: Any) -> int:
        items = values[position]
        each = 2 + TRAVERSAL if items and isinstance(items[0], str | bytes) else 2
        return int(len(items) ** 2 * each) + 1 + LIST

    return by_overload(estimated, charged)


def _across(factor: float) -> Cost:
    """Return the cost of comparing each element of one list with each of another."""

    def charged(values: Sequence[Any], _: Any) -> int:
        return 1 + int(size_of(values[0]) * size_of(values[1]) * factor)

    def estimated(_: Argument | None, args: Sequence[Argument]) -> Estimate:
        return Estimate(args[0].known_size.times(args[1].known_size).scaled(factor) + ONE)

    return by_overload(estimated, charged)


_SLICE = Cost(_slice_estimate, _result_charge, needs_result=True)
_FLATTEN = by_overload(_flatten_estimate, _flatten_charge)
_RANGE = Cost(_range_estimate, _result_charge, needs_result=True)
_REVERSE = Cost(_reverse_estimate, _result_charge, needs_result=True)


# Declarations


def _of_ordered() -> Iterator[Overload]:
    """The functions over lists of one ordered type, each declared for each of the types."""
    for t in ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"):
        each = 2 + TRAVERSAL if t in ("string", "bytes") else 2
        yield method(f"list_{t}_is_sorted_bool: list({t}).isSorted() -> bool", _is_sorted, ELEMENTS)
        yield method(f"list_{t}_max_{t}: list({t}).max() -> {t}", _max, ELEMENTS)
        yield method(f"list_{t}_min_{t}: list({t}).min() -> {t}", _min, ELEMENTS)
        yield method(
            f"list_{t}_sort: list({t}).sort() -> list({t})",
            _sort,
            _pairs(each),
            is_guarded=False,
            required=Required(0, list),
        )
        yield method(
            f"list_{t}_sortByAssociatedKeys: list(T).@sortByAssociatedKeys(list({t})) -> list(T)",
            _sort_by,
            _pairs(each, position=1),
            is_guarded=False,
            required=Required(1, list),
        )
    for t, zero in _ZEROS.items():
        yield method(f"list_{t}_sum_{t}: list({t}).sum() -> {t}", _sum(zero), ELEMENTS)


LIBRARY = Library(
    name="lists",
    overloads=(
        method("list_a_index_of_int: list(A).indexOf(A) -> int", _index_of, ELEMENTS),
        method("list_a_last_index_of_int: list(A).lastIndexOf(A) -> int", _last_index_of, ELEMENTS),
        function("list_sets_contains_list: sets.contains(list(T), list(T)) -> bool", _contains_all, _across(1)),
        function("list_sets_equivalent_list: sets.equivalent(list(T), list(T)) -> bool", _equivalent, _across(2)),
        function("list_sets_intersects_list: sets.intersects(list(T), list(T)) -> bool", _intersects, _across(1)),
        method("list_slice: list(T).slice(int, int) -> list(T)", _slice, _SLICE),
        method(
            "list_flatten: list(list(T)).flatten() -> list(T)",
            _flatten,
            _FLATTEN,
            is_guarded=False,
            is_underestimated=_is_underestimated,
        ),
        method(
            "list_flatten_int: list(dyn).flatten(int) -> list(dyn)",
            _flatten,
            _FLATTEN,
            is_guarded=False,
            required=Required(1, int),
            is_underestimated=_is_underestimated,
        ),
        function("lists_range: lists.range(int) -> list(int)", _range, _RANGE, is_growing=True),
        method("list_reverse: list(T).reverse() -> list(T)", lambda items: items[::-1], _REVERSE),
        method(
            "list_distinct: list(T).distinct() -> list(T)",
            _distinct,
            _pairs(2),
            required=Required(0, list),
        ),
        *_of_ordered(),
    ),
)
