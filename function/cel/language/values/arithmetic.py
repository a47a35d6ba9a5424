"""Arithmetic. An overflow is a Failure.

Source: github.com/google/cel-go v0.26, common/types/overflow.go.
"""

from __future__ import annotations

import math
from typing import Any

from function.cel.language.errors import Failure
from function.cel.language.values.kinds import INT_MAX, INT_MIN, UINT_MAX, ConcatList, Duration, Timestamp, Uint
from function.cel.language.values.type_names import no_overload

_NUMBERS = (int, Uint, float)
_SECOND = 10**9
_EARLIEST, _LATEST = -62135596800 * _SECOND, 253402300800 * _SECOND


def integer(number: int) -> int:
    if INT_MIN <= number <= INT_MAX:
        return number
    raise Failure("integer overflow")


def unsigned(number: int) -> Uint:
    if 0 <= number <= UINT_MAX:
        return Uint(number)
    raise Failure("unsigned integer overflow")


def duration(nanoseconds: int) -> Duration:
    if INT_MIN <= nanoseconds <= INT_MAX:
        return Duration(nanoseconds)
    raise Failure("duration overflow")


def timestamp(nanoseconds: int, offset: int = 0) -> Timestamp:
    if _EARLIEST <= nanoseconds < _LATEST:
        return Timestamp(nanoseconds, offset)
    raise Failure("timestamp overflow")


def add(a: Any, b: Any) -> Any:
    kind, other = type(a), type(b)
    if kind is other:
        if kind is int:
            return integer(a + b)
        if kind in (str, bytes, float):
            return a + b
        if kind is Uint:
            return unsigned(int(a) + int(b))
        if kind is Duration:
            return duration(a.nanoseconds + b.nanoseconds)
    if isinstance(a, list) and isinstance(b, list):
        return ConcatList(a, b) if a and b else a or b
    if {kind, other} == {Timestamp, Duration}:
        return timestamp(a.nanoseconds + b.nanoseconds, (a if kind is Timestamp else b).offset)
    raise no_overload("+", a, b)


def subtract(a: Any, b: Any) -> Any:
    kind, other = type(a), type(b)
    if kind is other:
        if kind is int:
            return integer(a - b)
        if kind is float:
            return a - b
        if kind is Uint:
            return unsigned(int(a) - int(b))
        if kind in (Duration, Timestamp):
            return duration(a.nanoseconds - b.nanoseconds)
    if kind is Timestamp and other is Duration:
        return timestamp(a.nanoseconds + duration(-b.nanoseconds).nanoseconds, a.offset)
    raise no_overload("-", a, b)


def multiply(a: Any, b: Any) -> Any:
    if type(a) is type(b):
        if type(a) is int:
            return integer(a * b)
        if type(a) is float:
            return a * b
        if type(a) is Uint:
            return unsigned(int(a) * int(b))
    raise no_overload("*", a, b)


def divide(a: Any, b: Any) -> Any:
    kind = type(a)
    if kind is not type(b) or kind not in _NUMBERS:
        raise no_overload("/", a, b)
    if kind is float:
        return _divided(a, b)
    if b == 0:
        raise Failure("division by zero")
    if kind is Uint:
        return Uint(int(a) // int(b))
    quotient = abs(a) // abs(b)
    return integer(quotient if (a < 0) == (b < 0) else -quotient)


def _divided(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or a != a:  # noqa: PLR0124  (not a number)
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def modulo(a: Any, b: Any) -> Any:
    kind = type(a)
    if kind is not type(b) or kind not in (int, Uint):
        raise no_overload("%", a, b)
    if b == 0:
        raise Failure("modulus by zero")
    if kind is Uint:
        return Uint(int(a) % int(b))
    if a == INT_MIN and b == -1:
        raise Failure("integer overflow")
    return int(math.fmod(a, b)) if abs(a) < 2**53 and abs(b) < 2**53 else (abs(a) % abs(b)) * (-1 if a < 0 else 1)


def negate(a: Any) -> Any:
    if type(a) is int:
        return integer(-a)
    if type(a) is float:
        return -a
    if type(a) is Duration:  # not declared, but one whose type is not known is negated
        return duration(-a.nanoseconds)
    raise no_overload("-", a)


def invert(a: Any) -> bool:
    if a is True or a is False:
        return a is False
    raise no_overload("!", a)
