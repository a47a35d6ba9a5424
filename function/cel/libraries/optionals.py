"""Optionals: values that may be absent.

`or` and `orValue` evaluate their argument only where it is needed, so the compiler evaluates them itself.

Source: github.com/google/cel-go v0.26, cel/library.go.
"""

from __future__ import annotations

from typing import Any

from function.cel.language.declarations.cost import UNIT
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import function, method, special_form
from function.cel.language.errors import Failure
from function.cel.language.values.kinds import NONE, Duration, Optional, Timestamp

_ZERO_TIME = -62_135_596_800 * 10**9
"""The first moment of the year 1, which is Go's zero time."""


def _of_non_zero(value: Any) -> Optional:
    return NONE if _is_zero(value) else Optional((value,))


def _is_zero(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, Duration):
        return value.nanoseconds == 0
    if isinstance(value, Timestamp):
        return value.nanoseconds == _ZERO_TIME
    return isinstance(value, bool | int | float | str | bytes | list | dict) and not value


def _value(optional: Optional) -> Any:
    if not optional.has_value:
        raise Failure("optional.none() dereference")
    return optional.value


def _first(items: list[Any]) -> Optional:
    return Optional((items[0],)) if items else NONE


def _last(items: list[Any]) -> Optional:
    return Optional((items[-1],)) if items else NONE


def _unwrapped(items: list[Any]) -> list[Any]:
    if not all(isinstance(i, Optional) for i in items):
        raise Failure("unwrap wants a list of optional values")
    return [i.content[0] for i in items if i.has_value]


LIBRARY = Library(
    name="optionals",
    overloads=(
        function("optional_of: optional.of(V) -> optional(V)", lambda value: Optional((value,)), UNIT),
        function("optional_ofNonZeroValue: optional.ofNonZeroValue(V) -> optional(V)", _of_non_zero, UNIT),
        function("optional_none: optional.none() -> optional(V)", lambda: NONE, UNIT),
        method("optional_value: optional(V).value() -> V", _value, UNIT),
        method("optional_hasValue: optional(V).hasValue() -> bool", lambda optional: optional.has_value, UNIT),
        method("optional_or_optional: optional(V).or(optional(V)) -> optional(V)", special_form, UNIT),
        method("optional_orValue_value: optional(V).orValue(V) -> V", special_form, UNIT),
        method("list_first: list(V).first() -> optional(V)", _first, UNIT),
        method("list_last: list(V).last() -> optional(V)", _last, UNIT),
        function("optional_unwrap: optional.unwrap(list(optional(V))) -> list(V)", _unwrapped, UNIT),
        method("optional_unwrapOpt: list(optional(V)).unwrapOpt() -> list(V)", _unwrapped, UNIT),
    ),
)
