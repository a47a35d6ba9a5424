"""The cost of a call: its upper bound, for the estimate, and its actual cost, once the arguments are known.

Every overload has a `Cost`. Kubernetes prices the functions of cel-go by overload, and its own by the function's name.
That differs where the checker cannot tell which overload a call is, so a cost says what it is then.

Source: github.com/google/cel-go v0.26, common/cost.go, checker/cost.go and interpreter/runtimecost.go; k8s.io/apiserver
v0.36, pkg/cel/library/cost.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from function.cel.language.declarations.ranges import ONE, UNKNOWN, Range
from function.cel.language.declarations.types import Type
from function.cel.language.values.kinds import Optional, keys_of
from function.cel.language.values.opaque import OPAQUE

TRAVERSAL = 0.1
"""Cost for each character of a string."""
PATTERN = 0.25
"""Cost for each character of a regular expression."""
LIST, MAP = 10, 30
"""Cost of creating a list or a map."""
NO_LITERAL: Any = object()

Sizes: TypeAlias = Mapping[tuple[str, ...], int]
"""Largest sizes of values reachable from the variables, by path. `*` stands for any other name."""


class Argument(NamedTuple):
    """Facts about a target or an argument that the estimate knows."""

    type: Type
    size: Range | None
    literal: Any
    """Its value, or NO_LITERAL."""
    path: tuple[str, ...]
    """Path by which it is reached from a variable. Empty if it is not."""
    sizes: Sizes

    @property
    def known_size(self) -> Range:
        return UNKNOWN if self.size is None else self.size

    @property
    def item(self) -> Argument | None:
        """An element of a list: its size is known only by where the list comes from."""
        if not self.type.params:
            return None
        path = (*self.path, "@items") if self.path else ()
        return Argument(self.type.params[0], declared_size(path, self.sizes), NO_LITERAL, path, self.sizes)


def declared_size(path: tuple[str, ...], sizes: Sizes) -> Range | None:
    """The size of what is reached from a variable, as the environment declares it."""
    for at in (path, (*path[:-1], "*")):
        if at in sizes:
            return Range(0, sizes[at])
    return None


class Estimate(NamedTuple):
    """The cost of a call, without its arguments."""

    cost: Range
    size: Range | None = None
    """Size of the result, if the price determines it."""


Estimating: TypeAlias = Callable[[Argument | None, Sequence[Argument]], Estimate | None]
"""Takes the target of a method, or None, and the other arguments. If omitted, a call costs one unit."""
Charging: TypeAlias = Callable[[Sequence[Any], Any], int]
"""Takes the values of all arguments, the target first, and the result. A failed argument is a Failure."""


def unit(_: Sequence[Any], __: Any) -> int:
    return 1


class Cost(NamedTuple):
    """The price of an overload."""

    estimate: Estimating
    """Called once for each call that the overload fits, when an expression is compiled. It must not raise."""
    actual: Charging
    """Called for each evaluation that is metered, where this is the only overload that fits."""
    unresolved: Charging = unit
    """Called instead where several overloads fit, for the first of them."""
    needs_result: bool = False
    """Whether the charge depends on the result. If not, a call that costs too much is not begun."""


def by_overload(estimate: Estimating, actual: Charging) -> Cost:
    """As cel-go prices its own functions."""
    return Cost(estimate, actual)


def by_function(estimate: Estimating, actual: Charging, *, needs_result: bool = False) -> Cost:
    """As Kubernetes prices its libraries: the same, whichever overload it is."""
    return Cost(estimate, actual, actual, needs_result)


UNIT = by_function(lambda _, __: Estimate(ONE), unit)


# Sizes of values


def size_of(value: Any) -> int:
    """The size that a value is charged by. Source: github.com/google/cel-go v0.26, interpreter (actualSize)."""
    if isinstance(value, Optional) and value.has_value:
        return size_of(value.content[0])
    if type(value) in OPAQUE:
        return OPAQUE[type(value)].size(value)
    return len(value) if isinstance(value, str | bytes | list | dict) else 1


def _traversal(value: Any) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * TRAVERSAL)
    if isinstance(value, bytes):
        return int(len(value) * TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_traversal, value))
    if isinstance(value, dict):
        return sum(map(_traversal, keys_of(value))) + sum(map(_traversal, value.values()))
    return 1


# Prices that several libraries share


def text_charge(values: Sequence[Any], _: Any = None) -> int:
    """For reading the first value once."""
    return math.ceil(size_of(values[0]) * TRAVERSAL)


def double_text_charge(values: Sequence[Any], _: Any = None) -> int:
    """For reading the first value twice, or reading and rewriting it."""
    return math.ceil(size_of(values[0]) * 2 * TRAVERSAL)


def _parsed(_: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    return Estimate(args[0].known_size.scaled(TRAVERSAL)) if args else None


PARSED = by_function(_parsed, text_charge)
"""Return the cost of a function that reads its argument, a text, once."""


def _elements(target: Argument | None, _: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    item = target.item
    if item is None:
        return Estimate(target.known_size.scaled(TRAVERSAL))
    each = ONE + item.known_size.scaled(TRAVERSAL) if item.type.kind in ("string", "bytes") else ONE
    return Estimate(target.known_size.times(each))


ELEMENTS = by_function(_elements, lambda values, _: _traversal(values[0]))
"""Return the cost of a method that reads each element or character of its target."""


def of_text(result: Callable[[Range], Range] | None = None) -> Cost:
    """Return the cost of a function that reads a text once: its only argument, for the estimate.

    Arguments: result: the size of the result from that of the text, where it is known.
    """

    def estimated(_: Argument | None, args: Sequence[Argument]) -> Estimate | None:
        if len(args) != 1:
            return None
        size = args[0].known_size
        return Estimate(size.scaled(TRAVERSAL), result(size) if result else None)

    return by_overload(estimated, text_charge)
