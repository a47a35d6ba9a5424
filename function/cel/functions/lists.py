"""The functions over lists, sets of lists, and optionals.

Source: github.com/google/cel-go v0.26, ext/lists.go (version 3), ext/sets.go and cel/library.go;
k8s.io/apiserver v0.36, pkg/cel/library/lists.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from function.cel.effort import spend
from function.cel.functions.arithmetic import add
from function.cel.problem import Abort, Failure
from function.cel.values import comparison, containers, order
from function.cel.values.comparison import compare, same
from function.cel.values.kinds import NONE, Duration, Keyed, Optional, Timestamp, Uint, read, stored
from function.cel.values.naming import no_overload, type_name
from function.cel.values.quantity import Quantity
from function.cel.values.semver import Semver

_ZEROS: Mapping[str, Any] = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}
_ORDERED = frozenset({bool, int, Uint, float, str, bytes, Timestamp, Duration})
_LONGEST = 1_000_000
"""Of a list that a function makes from nothing: each element costs one unit of the limit."""


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
    """Of two elements; what cannot be ordered is left as it is."""
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


def _sum(zero: Any) -> Callable[[list[Any]], Any]:
    return lambda items: reduce(add, items, zero)


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0 or start > end or end > len(items):
        raise Failure(f"cannot slice({start}, {end}) a list of {len(items)}")
    return items[start:end]


def _flatten(items: Any, depth: Any = 1) -> list[Any]:
    """It looks at its arguments itself: a list that is flat already stays so."""
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
    if count > _LONGEST:
        raise Abort("the evaluation costs more than Kubernetes allows")
    return list(range(count))


def _distinct(items: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for item in items:
        if not any(same(item, other) for other in kept):
            kept.append(item)
    return kept


def _sort(items: Any) -> list[Any]:
    return _sort_by(items, items)


def _sort_by(items: Any, keys: Any) -> list[Any]:
    """Whatever the type of the lists is: what counts is what the keys are."""
    if not isinstance(items, list) or not isinstance(keys, list):
        raise no_overload("sort", items)
    if len(items) != len(keys):
        raise Failure("a list is sorted by as many keys as it has elements")
    if len({type_name(k) for k in keys}) > 1:
        raise Failure("list elements must have the same type")
    if keys and type(keys[0]) not in _ORDERED:
        raise Failure("list elements must be comparable")
    return [items[i] for i in order.positions(len(keys), lambda i, j: _order(keys[i], keys[j]) < 0)]


def _contains_all(items: list[Any], wanted: list[Any]) -> bool:
    return all(comparison.contains(w, items) for w in wanted)


def _of_non_zero(value: Any) -> Optional:
    return NONE if _is_zero(value) else Optional((value,))


_ZERO_TIME = -62_135_596_800 * 10**9
"""The first moment of the year 1, which Go takes for no time at all."""


def _is_zero(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, Optional | Quantity | Semver):
        return False
    if isinstance(value, Duration):
        return value.nanoseconds == 0
    if isinstance(value, Timestamp):
        return value.nanoseconds == _ZERO_TIME
    return isinstance(value, bool | int | float | str | bytes | list | dict) and not value


def _value(optional: Optional) -> Any:
    if not optional.is_there:
        raise Failure("optional.none() dereference")
    return optional.value


def _unwrapped(items: list[Any]) -> list[Any]:
    if not all(isinstance(i, Optional) for i in items):
        raise Failure("unwrap wants a list of optional values")
    return [i.content[0] for i in items if i.is_there]


def inserted(map_: dict[Any, Any], *entry: Any) -> Keyed:
    """A map with one entry more, or with all those of another."""
    grown = Keyed(map_)
    insert(grown, *entry)
    return grown


def insert(grown: Keyed, *entry: Any) -> None:
    more = [(read(k), v) for k, v in entry[0].items()] if len(entry) == 1 else [entry]
    for key, value in more:
        if containers.entry(grown, key) is not containers.MISSING:
            raise Failure(f"insert failed: key {key} already exists")
        grown[stored(key)] = value


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "list_a_index_of_int": _index_of,
    "list_a_last_index_of_int": _last_index_of,
    "list_sets_contains_list": _contains_all,
    "list_sets_equivalent_list": lambda a, b: _contains_all(a, b) and _contains_all(b, a),
    "list_sets_intersects_list": lambda a, b: any(comparison.contains(item, b) for item in a),
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _range,
    "list_reverse": lambda items: items[::-1],
    "list_distinct": _distinct,
    "optional_of": lambda value: Optional((value,)),
    "optional_ofNonZeroValue": _of_non_zero,
    "optional_none": lambda: NONE,
    "optional_value": _value,
    "optional_hasValue": lambda optional: optional.is_there,
    "list_first": lambda items: Optional((items[0],)) if items else NONE,
    "list_last": lambda items: Optional((items[-1],)) if items else NONE,
    "optional_unwrap": _unwrapped,
    "optional_unwrapOpt": _unwrapped,
    "@mapInsert_map_key_value": inserted,
    "@mapInsert_map_map": inserted,
    **{
        f"list_{t}_is_sorted_bool": _is_sorted
        for t in ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
    },
    **{
        f"list_{t}_max_{t}": _extreme("max", 1)
        for t in ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
    },
    **{
        f"list_{t}_min_{t}": _extreme("min", -1)
        for t in ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
    },
    **{f"list_{t}_sort": _sort for t in ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")},
    **{
        f"list_{t}_sortByAssociatedKeys": _sort_by
        for t in ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
    },
    **{f"list_{t}_sum_{t}": _sum(zero) for t, zero in _ZEROS.items()},
}
"""By overload."""
