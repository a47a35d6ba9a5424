"""Equality and order of values of any types.

Source: github.com/google/cel-go v0.26, common/types.
"""

from __future__ import annotations

from operator import eq
from typing import Any

from function.cel.language.errors import Failure
from function.cel.language.limits.step_budget import spend
from function.cel.language.values.containers import MISSING, entry
from function.cel.language.values.kinds import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    UNREADABLE,
    ConcatList,
    Duration,
    Optional,
    Timestamp,
    Uint,
    from_key,
)
from function.cel.language.values.opaque import OPAQUE
from function.cel.language.values.type_names import no_overload

_NUMBERS = (int, Uint, float)
_PLAIN = {str, bool, int, Uint, bytes}
_AT_ONCE = 4
"""Plain values that are compared in one step."""


def equal(a: Any, b: Any) -> bool:
    """Whether two values are equal. Failure where Kubernetes fails: an opaque value beside one of another type."""
    kind, other = type(a), type(b)
    if kind is other and kind in (str, bool, int, Uint, bytes):
        return bool(a == b)
    if a is None or b is None:
        return a is b
    if kind in _NUMBERS:
        return other in _NUMBERS and _same_number(a, b)
    if kind in OPAQUE:
        unequal = OPAQUE[kind].unequal
        if kind is not other or (unequal is not None and unequal(b)):
            raise no_overload("==", a, b)
        return bool(a == b)
    return _same_whole(a, b)


def _same_whole(a: Any, b: Any) -> bool:
    """Equality of lists, maps, optionals, and values that Python compares."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and _same_lists(a, b)
    if isinstance(a, dict):
        spend(len(a))
        return isinstance(b, dict) and len(a) == len(b) and all(_has_alike(b, k, v) for k, v in a.items())
    if type(a) is Optional:
        return _same_optional(a, b)
    return type(a) is type(b) and bool(a == b)


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal. Values that cannot be compared are not."""
    try:
        return equal(a, b)
    except Failure:
        return False


def _same_lists(a: list[Any], b: list[Any]) -> bool:
    """Equality of lists of one length. Elements that cannot be compared count as equal, but fail in a concatenation."""
    spend(len(a) // _AT_ONCE)
    kinds = {*map(type, a), *map(type, b)}
    if len(kinds) == 1 and kinds <= _PLAIN:
        return all(map(eq, a, b))
    spend(len(a))
    failure: Failure | None = None
    for one, other in zip(a, b, strict=True):
        try:
            if not equal(one, other):
                return False
        except Failure as failed:
            failure = failure or failed
    if failure is not None and type(a) is ConcatList:
        raise failure
    return True


def _alike(a: Any, b: Any) -> bool:
    """Equality of values in maps: those that cannot be compared count as equal."""
    try:
        return equal(a, b)
    except Failure:
        return True


def _has_alike(other: dict[Any, Any], key: Any, value: Any) -> bool:
    found = entry(other, from_key(key))
    return found is not MISSING and _alike(value, found)


def _same_optional(a: Optional, b: Any) -> bool:
    if type(b) is not Optional or a.has_value != b.has_value:
        return False
    if not a.has_value:
        return True
    one, other = a.content[0], b.content[0]
    if one is UNREADABLE or (other is None and type(one) in OPAQUE):
        raise no_overload("==", a, b)
    return equal(one, other)


def _same_number(a: Any, b: Any) -> bool:
    if a != a or b != b:  # noqa: PLR0124  (not a number)
        return False
    return _compared(a, b) == 0


# Order


def _compared(a: Any, b: Any) -> int:
    """The order of two numbers. An integer is compared with a double as a double, where it is in range."""
    if type(a) is float and type(b) is not float:
        return _double_to_integer(a, b)
    if type(b) is float and type(a) is not float:
        return -_double_to_integer(b, a)
    return int(a > b) - int(a < b)


def _double_to_integer(a: float, b: int) -> int:
    low, high = (0, UINT_MAX) if type(b) is Uint else (INT_MIN, INT_MAX)
    if a < low:
        return -1
    if a > float(high):
        return 1
    other = float(b)
    return (a > other) - (a < other)


def compare(a: Any, b: Any, word: str = "comparison") -> int:
    """-1, 0 or 1. Failure where values have no order; it names the operator by `word`."""
    kind, other = type(a), type(b)
    if kind in _NUMBERS and other in _NUMBERS:
        if a != a or b != b:  # noqa: PLR0124  (not a number)
            raise Failure("NaN values cannot be ordered")
        return _compared(a, b)
    if kind is not other or kind not in (str, bool, bytes, Timestamp, Duration):
        raise no_overload(word, a, b)
    return int(a > b) - int(a < b)


def contains(item: Any, container: Any) -> bool:
    """Whether a list has an element, or a map a key. Failure for anything else."""
    if isinstance(container, dict):
        return entry(container, item) is not MISSING
    if isinstance(container, list):
        return any(same(item, element) for element in container)
    raise no_overload("in", item, container)
