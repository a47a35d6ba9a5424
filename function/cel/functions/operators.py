"""The operators, each with the function that it is."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from function.cel.functions.arithmetic import add, divide, invert, modulo, multiply, negate, subtract
from function.cel.values.comparison import compare, contains, equal, same

ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}


def _ordering(function: str, holds: Callable[[int, int], bool]) -> Callable[[Any, Any], bool]:
    word = function.strip("_")
    return lambda a, b: holds(compare(a, b, word), 0)


PLAIN_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = dict(ORDERS)
"""Of two values that are of one type for sure: integers, strings."""
PLAIN_EQUALS: Mapping[str, Callable[[Any, Any], bool]] = {"_==_": operator.eq, "_!=_": operator.ne}


BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
    "_==_": equal,
    "_!=_": lambda a, b: not same(a, b),
    "@in": contains,
    **{function: _ordering(function, holds) for function, holds in ORDERS.items()},
}
UNARY: Mapping[str, Callable[[Any], Any]] = {"!_": invert, "-_": negate}
