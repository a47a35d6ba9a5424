"""Quantities: the capacities of devices, and the functions over them.

Amounts themselves are those of Kubernetes' own package (`golang.resource`). Source: k8s.io/apiserver v0.36,
pkg/cel/library/quantity.go.
"""

from __future__ import annotations

from collections.abc import Callable

from function.cel.golang.resource import Quantity, compare, digits, parse
from function.cel.language.declarations.cost import PARSED, UNIT
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import function, method
from function.cel.language.errors import Failure
from function.cel.language.limits.step_budget import spend
from function.cel.language.values.opaque import OpaqueType

__all__ = ["LIBRARY", "Quantity", "compare", "parse"]

_FREE = 300
"""Digits that are computed with for nothing: no amount that anything is measured in has more."""
_STEP = 3
"""Digits that one step computes."""


def _quantity(text: str) -> Quantity:
    try:
        return parse(text)
    except ValueError as error:
        raise Failure(str(error)) from None


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _as_integer(number: Quantity) -> int:
    found = number.integer
    if found is None:
        raise Failure(f"the quantity {number} is no integer of 64 bits")
    return found


def _compared(a: Quantity, b: Quantity) -> int:
    """The order of two amounts. Those of one form and scale are compared at once: this is the hot path."""
    if a.decimal is None and b.decimal is None and a.scale == b.scale:
        return (a.value > b.value) - (a.value < b.value)
    _compute(a, b)
    return a.compare(b)


def _sum(a: Quantity, b: Quantity | int) -> Quantity:
    return _carried(a, a.plus, b)


def _difference(a: Quantity, b: Quantity | int) -> Quantity:
    return _carried(a, a.minus, b)


def _compute(a: Quantity, b: Quantity) -> None:
    spend(max(0, digits(a, b) - _FREE) // _STEP)


def _carried(a: Quantity, operation: Callable[[Quantity], Quantity], b: Quantity | int) -> Quantity:
    other = b if isinstance(b, Quantity) else Quantity(b)
    _compute(a, other)
    try:
        return operation(other)
    except (ValueError, OverflowError) as error:
        raise Failure(str(error)) from None


def _is_greater(a: Quantity, b: Quantity) -> bool:
    return _compared(a, b) > 0


def _is_less(a: Quantity, b: Quantity) -> bool:
    return _compared(a, b) < 0


def _is_integer(number: Quantity) -> bool:
    return number.integer is not None


LIBRARY = Library(
    name="quantity",
    types=(
        OpaqueType(
            name="quantity",
            type_name="kubernetes.Quantity",
            values=Quantity,
            is_written=True,
            is_ordered=True,
            is_readable=False,
            is_mutable=True,
            unequal=lambda number: number.computed,
        ),
    ),
    overloads=(
        function("string_to_quantity: quantity(string) -> quantity", _quantity, PARSED),
        function("is_quantity_string: isQuantity(string) -> bool", _is_quantity, PARSED),
        function("quantity_sign: sign(quantity) -> int", lambda number: number.sign, UNIT),
        method("quantity_is_greater_than: quantity.isGreaterThan(quantity) -> bool", _is_greater, UNIT),
        method("quantity_is_less_than: quantity.isLessThan(quantity) -> bool", _is_less, UNIT),
        method("quantity_compare_to: quantity.compareTo(quantity) -> int", _compared, UNIT),
        method("quantity_get_float: quantity.asApproximateFloat() -> double", float, UNIT, reads_state=True),
        method("quantity_get_int: quantity.asInteger() -> int", _as_integer, UNIT, reads_state=True),
        method("quantity_is_integer: quantity.isInteger() -> bool", _is_integer, UNIT, reads_state=True),
        *(
            method(f"{declaration} -> quantity", run, UNIT, is_growing=True, reads_state=True)
            for declaration, run in (
                ("quantity_add: quantity.add(quantity)", _sum),
                ("quantity_add_int: quantity.add(int)", _sum),
                ("quantity_sub: quantity.sub(quantity)", _difference),
                ("quantity_sub_int: quantity.sub(int)", _difference),
            )
        ),
    ),
)
