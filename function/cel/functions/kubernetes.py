"""The functions of Kubernetes over quantities and versions.

Source: k8s.io/apiserver v0.36, pkg/cel/library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from function.cel.effort import spend
from function.cel.problem import Failure
from function.cel.values import quantity, semver
from function.cel.values.quantity import Quantity
from function.cel.values.semver import Semver

_FREE, _STEP = 300, 3
"""Digits that one step computes."""


def _quantity(text: str) -> Quantity:
    try:
        return quantity.parse(text)
    except ValueError as error:
        raise Failure(str(error)) from None


def _is_quantity(text: str) -> bool:
    try:
        quantity.parse(text)
    except ValueError:
        return False
    return True


def _semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002  (as expressions pass it)
    try:
        return semver.parse(text, normalize=normalize)
    except ValueError as error:
        raise Failure(str(error)) from None


def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002  (as expressions pass it)
    try:
        semver.parse(text, normalize=normalize)
    except ValueError:
        return False
    return True


def _as_integer(number: Quantity) -> int:
    found = number.integer
    if found is None:
        raise Failure(f"the quantity {number} is no integer of 64 bits")
    return found


def _compared(a: Quantity, b: Quantity) -> int:
    if a.decimal is None and b.decimal is None and a.scale == b.scale:
        return (a.value > b.value) - (a.value < b.value)
    _compute(a, b)
    return a.compare(b)


def _sum(a: Quantity, b: Quantity | int) -> Quantity:
    return _carried(a, a.plus, b)


def _difference(a: Quantity, b: Quantity | int) -> Quantity:
    return _carried(a, a.minus, b)


def _compute(a: Quantity, b: Quantity) -> None:
    """Amounts that something is measured in are free."""
    spend(max(0, quantity.digits(a, b) - _FREE) // _STEP)


def _carried(a: Quantity, operation: Callable[[Quantity], Quantity], b: Quantity | int) -> Quantity:
    other = b if isinstance(b, Quantity) else Quantity(b)
    _compute(a, other)
    try:
        return operation(other)
    except (ValueError, OverflowError) as error:
        raise Failure(str(error)) from None


def _signed(number: int) -> int:
    """In 64 bits: a very large part of a version is a negative one."""
    return (number + 2**63) % 2**64 - 2**63


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "string_to_quantity": _quantity,
    "is_quantity_string": _is_quantity,
    "quantity_sign": lambda q: q.sign,
    "quantity_is_greater_than": lambda a, b: _compared(a, b) > 0,
    "quantity_is_less_than": lambda a, b: _compared(a, b) < 0,
    "quantity_compare_to": _compared,
    "quantity_get_float": float,
    "quantity_get_int": _as_integer,
    "quantity_is_integer": lambda q: q.integer is not None,
    "quantity_add": _sum,
    "quantity_add_int": _sum,
    "quantity_sub": _difference,
    "quantity_sub_int": _difference,
    "string_to_semver": _semver,
    "string_bool_to_semver": _semver,
    "is_semver_string": _is_semver,
    "is_semver_string_bool": _is_semver,
    "semver_is_greater_than": lambda a, b: semver.compare(a, b) > 0,
    "semver_is_less_than": lambda a, b: semver.compare(a, b) < 0,
    "semver_compare_to": semver.compare,
    "semver_major": lambda v: _signed(v.major),
    "semver_minor": lambda v: _signed(v.minor),
    "semver_patch": lambda v: _signed(v.patch),
}
"""By overload."""
