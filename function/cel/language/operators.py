"""The operators, and the functions that macros become: the part of the function table that is the language's own.

Source: github.com/google/cel-go v0.26, common/stdlib/standard.go, cel/library.go (optional syntax) and
ext/comprehensions.go; checker/cost.go and interpreter/runtimecost.go (the prices).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from function.cel.language.declarations.cost import (
    TRAVERSAL,
    UNIT,
    Argument,
    Cost,
    Estimate,
    by_overload,
    size_of,
    unit,
)
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import Implementation, Overload, function, special_form
from function.cel.language.declarations.ranges import Range
from function.cel.language.values.arithmetic import add, divide, invert, modulo, multiply, negate, subtract
from function.cel.language.values.comparison import compare, contains, equal, same
from function.cel.language.values.containers import inserted
from function.cel.language.values.opaque import OPAQUE

ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}
EQUALS: Mapping[str, Callable[[Any, Any], bool]] = {"_==_": operator.eq, "_!=_": operator.ne}

_COMPARED = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_ACROSS = {"int": ("double", "uint"), "uint": ("double", "int"), "double": ("int", "uint")}
"""Numbers that a number is compared with, as they are declared: the first that fits an unknown type binds it."""
_IDS = {"int": "int64", "uint": "uint64"}
_WORDS = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}


# Prices


def _compared(_: Argument | None, args: Sequence[Argument]) -> Estimate:
    most = min(args[0].known_size.most, args[1].known_size.most)
    return Estimate(Range(1 if most else 0, most).scaled(TRAVERSAL))


def _smaller(values: Sequence[Any], _: Any) -> int:
    return math.ceil(min(size_of(values[0]), size_of(values[1])) * TRAVERSAL)


def _equality(values: Sequence[Any], result: Any) -> int:
    return 1 if type(values[0]) in OPAQUE else _smaller(values, result)


def _joined(values: Sequence[Any], _: Any) -> int:
    return math.ceil((size_of(values[0]) + size_of(values[1])) * TRAVERSAL)


_OF_BOTH = by_overload(_compared, _smaller)
_OF_CONTAINER = by_overload(
    lambda _, args: Estimate(args[1].known_size.scaled(1)), lambda values, _: size_of(values[1])
)
_BY_ESTIMATE = by_overload(lambda _, __: None, unit)
"""The estimate prices these itself: it knows what sizes they give their results."""
_CONCATENATION = by_overload(_BY_ESTIMATE.estimate, _joined)


# Declarations


def _operator(declaration: str, run: Implementation, cost: Cost = UNIT, *, is_growing: bool = False) -> Overload:
    """Operators judge their operands themselves, whichever overloads fit."""
    return function(declaration, run, cost, is_guarded=False, is_universal=True, is_growing=is_growing)


def _same_run(run: Implementation, declarations: str, cost: Cost = UNIT, *, is_growing: bool = False) -> list[Overload]:
    return [_operator(line, run, cost, is_growing=is_growing) for line in declarations.strip().splitlines()]


def _special(declarations: str, cost: Cost = UNIT) -> list[Overload]:
    return _same_run(special_form, declarations, cost)


def _orders() -> Iterator[Overload]:
    """Comparisons: of like with like, and of numbers with numbers."""
    for name, holds in ORDERS.items():
        for t in _COMPARED:
            for u in (t, *_ACROSS.get(t, ())):
                id_ = _IDS.get(t, t) if t == u else f"{_IDS.get(t, t)}_{_IDS.get(u, u)}"
                cost = _OF_BOTH if t == u and t in ("string", "bytes") else UNIT
                yield _operator(f"{_WORDS[name]}_{id_}: {name}({t}, {u}) -> bool", _ordering(name, holds), cost)


def _ordering(name: str, holds: Callable[[int, int], bool]) -> Implementation:
    word = name.strip("_")
    return lambda a, b: holds(compare(a, b, word), 0)


_LOGIC = """
logical_and: _&&_(bool, bool) -> bool
logical_or: _||_(bool, bool) -> bool
not_strictly_false: @not_strictly_false(bool) -> bool
"""
_ADD = """
add_double: _+_(double, double) -> double
add_duration_duration: _+_(duration, duration) -> duration
add_duration_timestamp: _+_(duration, timestamp) -> timestamp
add_timestamp_duration: _+_(timestamp, duration) -> timestamp
add_int64: _+_(int, int) -> int
"""
_SUBTRACT = """
subtract_double: _-_(double, double) -> double
subtract_duration_duration: _-_(duration, duration) -> duration
subtract_int64: _-_(int, int) -> int
subtract_timestamp_duration: _-_(timestamp, duration) -> timestamp
subtract_timestamp_timestamp: _-_(timestamp, timestamp) -> duration
subtract_uint64: _-_(uint, uint) -> uint
"""
_MULTIPLY = """
multiply_double: _*_(double, double) -> double
multiply_int64: _*_(int, int) -> int
multiply_uint64: _*_(uint, uint) -> uint
"""
_DIVIDE = """
divide_double: _/_(double, double) -> double
divide_int64: _/_(int, int) -> int
divide_uint64: _/_(uint, uint) -> uint
"""
_MODULO = """
modulo_int64: _%_(int, int) -> int
modulo_uint64: _%_(uint, uint) -> uint
"""
_NEGATE = """
negate_double: -_(double) -> double
negate_int64: -_(int) -> int
"""
_MEMBERS = """
index_list: _[_](list(A), int) -> A
index_map: _[_](map(A, B), A) -> B
optional_list_index_int: _[_](optional(list(V)), int) -> optional(V)
optional_map_index_value: _[_](optional(map(K, V)), K) -> optional(V)
list_optindex_optional_int: _[?_](list(V), int) -> optional(V)
optional_list_optindex_optional_int: _[?_](optional(list(V)), int) -> optional(V)
map_optindex_optional_value: _[?_](map(K, V), K) -> optional(V)
optional_map_optindex_optional_value: _[?_](optional(map(K, V)), K) -> optional(V)
select_optional_field: _?._(dyn, string) -> optional(V)
"""
_INSERT = """
@mapInsert_map_key_value: cel.@mapInsert(map(K, V), K, V) -> map(K, V)
@mapInsert_map_map: cel.@mapInsert(map(K, V), map(K, V)) -> map(K, V)
"""

LIBRARY = Library(
    name="operators",
    overloads=(
        *_special("conditional: _?_:_(bool, A, A) -> A", _BY_ESTIMATE),
        *_special(_LOGIC),
        _operator("logical_not: !_(bool) -> bool", invert),
        _operator("equals: _==_(A, A) -> bool", equal, by_overload(_compared, _equality)),
        _operator("not_equals: _!=_(A, A) -> bool", lambda a, b: not same(a, b), _OF_BOTH),
        _operator("add_bytes: _+_(bytes, bytes) -> bytes", add, _CONCATENATION, is_growing=True),
        *_same_run(add, _ADD, is_growing=True),
        _operator("add_list: _+_(list(A), list(A)) -> list(A)", add, _BY_ESTIMATE, is_growing=True),
        _operator("add_string: _+_(string, string) -> string", add, _CONCATENATION, is_growing=True),
        _operator("add_uint64: _+_(uint, uint) -> uint", add, is_growing=True),
        *_same_run(subtract, _SUBTRACT),
        *_same_run(multiply, _MULTIPLY),
        *_same_run(divide, _DIVIDE),
        *_same_run(modulo, _MODULO),
        *_same_run(negate, _NEGATE),
        *_special(_MEMBERS),
        _operator("in_list: @in(A, list(A)) -> bool", contains, _OF_CONTAINER),
        _operator("in_map: @in(A, map(A, B)) -> bool", contains),
        *_orders(),
        *(function(line, inserted, UNIT) for line in _INSERT.strip().splitlines()),
    ),
)
