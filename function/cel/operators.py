"""What the operators do with values, whatever their types turn out to be.

Source: github.com/google/cel-go v0.26, common/types.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from function.cel.problem import Failure
from function.cel.quantity import Quantity
from function.cel.semver import Semver
from function.cel.values import UNREADABLE, Duration, Optional, Timestamp, TypeValue, Uint, keys_of, read, stored

INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1
_NUMBERS = (int, Uint, float)
_OPAQUE = (Quantity, Semver)
_SECOND = 10**9
_EARLIEST, _LATEST = -62135596800 * _SECOND, 253402300800 * _SECOND
_MISSING: Any = object()


def type_name(value: Any) -> str:
    """As an expression names the type of a value."""
    return _NAMES.get(type(value), "map" if isinstance(value, dict) else type(value).__name__)


_NAMES: Mapping[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    Optional: "optional_type",
    Quantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    TypeValue: "type",
}


def no_overload(function: str, *values: Any) -> Failure:
    said = " and ".join(_word(v) for v in values)
    return Failure(f"{function} does not take {said}")


def _word(value: Any) -> str:
    name = type_name(value).rpartition(".")[2].lower().removesuffix("_type")
    return "null" if name == "null" else f"{'an' if name[0] in 'aeio' else 'a'} {name}"


# Equality


def equal(a: Any, b: Any) -> bool:
    """Failure where Kubernetes fails: a quantity or version on the left, and something else on the right."""
    kind, other = type(a), type(b)
    if kind is other and kind in (str, bool, int, Uint, bytes):
        return bool(a == b)
    if a is None or b is None:
        return a is b
    if kind in _NUMBERS:
        return other in _NUMBERS and _same_number(a, b)
    if kind in _OPAQUE:
        if kind is not other or getattr(b, "computed", False):
            raise no_overload("==", a, b)
        return bool(a == b)
    return _same_whole(a, b)


def _same_whole(a: Any, b: Any) -> bool:
    """Of lists, maps, optionals, and what is equal as Python has it."""
    if type(a) is list:
        return type(b) is list and len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and len(a) == len(b) and all(_has_alike(b, k, v) for k, v in a.items())
    if type(a) is Optional:
        return _same_optional(a, b)
    return type(a) is type(b) and bool(a == b)


def same(a: Any, b: Any) -> bool:
    """Equal, where what cannot be compared is not."""
    try:
        return equal(a, b)
    except Failure:
        return False


def _alike(a: Any, b: Any) -> bool:
    """Of elements: what cannot be compared does not tell two lists apart."""
    try:
        return equal(a, b)
    except Failure:
        return True


def _has_alike(other: dict[Any, Any], key: Any, value: Any) -> bool:
    found = find(other, read(key), _MISSING)
    return found is not _MISSING and _alike(value, found)


def _same_optional(a: Optional, b: Any) -> bool:
    if type(b) is not Optional or a.is_there != b.is_there:
        return False
    if not a.is_there:
        return True
    if a.content[0] is UNREADABLE:
        raise no_overload("==", a, b)
    return equal(a.content[0], b.content[0])


def _same_number(a: Any, b: Any) -> bool:
    if a != a or b != b:  # noqa: PLR0124  (not a number)
        return False
    return _compared(a, b) == 0


# Order


def _compared(a: Any, b: Any) -> int:
    """Of two numbers. An integer beside a double is compared as one, as far as it is in range."""
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
    kind, other = type(a), type(b)
    if kind in _NUMBERS and other in _NUMBERS:
        if a != a or b != b:  # noqa: PLR0124  (not a number)
            raise Failure("NaN values cannot be ordered")
        return _compared(a, b)
    if kind is not other or kind not in (str, bool, bytes, Timestamp, Duration):
        raise no_overload(word, a, b)
    return int(a > b) - int(a < b)


# Arithmetic


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
        if kind in (str, bytes, float, list):
            return a + b
        if kind is Uint:
            return unsigned(int(a) + int(b))
        if kind is Duration:
            return duration(a.nanoseconds + b.nanoseconds)
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
        return timestamp(a.nanoseconds - b.nanoseconds, a.offset)
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
    raise no_overload("-", a)


def invert(a: Any) -> bool:
    if a is True or a is False:
        return a is False
    raise no_overload("!", a)


# Members


def find(map_: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """The value of a key. A number finds an equal number."""
    kind = type(key)
    if kind not in (str, int, Uint, float, bool):
        return default
    try:
        return map_[stored(key)]
    except KeyError:
        return default


def get(target: Any, key: Any) -> Any:
    found = lookup(target, key)
    if found is _MISSING:
        if isinstance(target, dict):
            raise Failure(f"no such key: {_shown(key)}")
        if type(target) is list:
            raise Failure(f"index {key} is out of range")
        raise Failure(f"{_word(target)} has no field or index {_shown(key)}")
    return found


def _shown(key: Any) -> str:
    return key if isinstance(key, str) else str(key)


def lookup(target: Any, key: Any) -> Any:
    """The field or element, or `MISSING`."""
    if isinstance(target, dict):
        return find(target, key, _MISSING)
    if type(target) is list:
        index = position(key)
        return target[index] if 0 <= index < len(target) else _MISSING
    return _MISSING


MISSING = _MISSING


def position(key: Any) -> int:
    """An index of a list."""
    if type(key) in (int, Uint):
        return int(key)
    if type(key) is float and key.is_integer() and INT_MIN <= key < INT_MAX:
        return int(key)
    raise Failure(f"a list is read by an int, not by {_word(key)}")


def contains(item: Any, container: Any) -> bool:
    if isinstance(container, dict):
        return type(item) in (str, int, Uint, float, bool) and stored(item) in container
    if type(container) is list:
        return any(same(item, element) for element in container)
    raise no_overload("in", item, container)


def size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise no_overload("size", value)


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


def iterated(value: Any) -> Any:
    """What a loop over a value goes through."""
    if type(value) is list:
        return value
    if isinstance(value, dict):
        return list(keys_of(value))
    raise Failure(f"{_word(value)} cannot be looped over")
