"""Conversions between types, type() and dyn().

Source: github.com/google/cel-go v0.26, common/types; strconv and time of Go.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Any

from function.cel.language.declarations.cost import UNIT, Cost, of_text
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import Implementation, Overload, function
from function.cel.language.declarations.ranges import Range
from function.cel.language.errors import Failure
from function.cel.language.limits import CONVERTED_DIGITS
from function.cel.language.values import arithmetic
from function.cel.language.values.kinds import INT_MAX, INT_MIN, UINT_MAX, Duration, Timestamp, TypeValue, Uint, Zone
from function.cel.language.values.spelling import (
    bool_to_string,
    bytes_to_string,
    double_to_string,
    duration_to_string,
    timestamp_to_string,
)
from function.cel.language.values.type_names import type_name

_SECOND = 10**9
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_DIGITS, _HEXADECIMALS = "[0-9](?:_?[0-9])*", "[0-9a-f](?:_?[0-9a-f])*"
_FLOAT = re.compile(
    rf"nan|[+-]?(?:inf(?:inity)?|(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:e[+-]?{_DIGITS})?"
    rf"|0x(?:_?{_HEXADECIMALS}\.?(?:{_HEXADECIMALS})?|\.{_HEXADECIMALS})p[+-]?{_DIGITS})",
    re.IGNORECASE,
)
_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_TRUE, _FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


def _failed(value: Any, to: str) -> Failure:
    return Failure(f"{value!r} is no {to}" if isinstance(value, str) else f"type conversion error to {to}")


def _string_to_bool(text: str) -> bool:
    if text not in (*_TRUE, *_FALSE):
        raise _failed(text, "bool")
    return text in _TRUE


def _string_to_int(text: str) -> int:
    if not re.fullmatch(rf"[+-]?[0-9]{{1,{CONVERTED_DIGITS}}}", text) or not INT_MIN <= int(text) <= INT_MAX:
        raise _failed(text, "int")
    return int(text)


def _string_to_uint(text: str) -> Uint:
    if not re.fullmatch(rf"[0-9]{{1,{CONVERTED_DIGITS}}}", text) or int(text) > UINT_MAX:
        raise _failed(text, "uint")
    return Uint(text)


def _string_to_double(text: str) -> float:
    if not _FLOAT.fullmatch(text):
        raise _failed(text, "double")
    try:
        number = float.fromhex(text.replace("_", "")) if "0x" in text.lower() else float(text)
    except OverflowError:
        raise _failed(text, "double") from None
    if math.isinf(number) and "inf" not in text.lower():
        raise _failed(text, "double")
    return number


def _double_to_int(number: float) -> int:
    if not -(2.0**63) < number < 2.0**63:
        raise Failure("integer overflow")
    return int(number)


def _double_to_uint(number: float) -> Uint:
    if not 0 <= number < 2.0**64:
        raise Failure("unsigned integer overflow")
    return Uint(int(number))


def _string_to_duration(text: str) -> Duration:
    found = re.fullmatch(
        r"([+-]?)(?:0|((?:[0-9]+\.?[0-9]*(?:ns|us|µs|μs|ms|s|m|h)|\.[0-9]+(?:ns|us|µs|μs|ms|s|m|h))+))", text
    )
    if found is None:
        raise _failed(text, "duration")
    total = 0
    for whole, fraction, unit in re.findall(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)", found[2] or ""):
        total += int(whole[:40] or 0) * _UNITS[unit] + _fraction(fraction[:30], _UNITS[unit])
    total = -total if found[1] == "-" else total
    if not INT_MIN <= total <= INT_MAX:
        raise _failed(text, "duration")
    return Duration(total)


def _fraction(digits: str, unit: int) -> int:
    return int(digits) * unit // 10 ** len(digits) if digits else 0


def _int_to_duration(number: int) -> Duration:
    """Declared by Kubernetes, but not implemented."""
    raise _failed(number, "duration")


def _string_to_timestamp(text: str) -> Timestamp:
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise _failed(text, "timestamp")
    try:
        year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
        moment = datetime(max(year, 1), month, day, hour, minute, second, tzinfo=UTC)
        offset = _offset(found[8])
    except ValueError:
        raise _failed(text, "timestamp") from None
    days = moment.toordinal() - datetime(1970, 1, 1, tzinfo=UTC).toordinal() - (366 if year == 0 else 0)
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
    return arithmetic.timestamp(seconds * _SECOND + int((found[7] or "0")[:9].ljust(9, "0")), offset)


_LOCAL = Zone(0)
"""The local zone: the images of Kubernetes are in UTC, and yet Go takes it for another zone than that of Z."""


def _offset(zone: str) -> int:
    if zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 24 or minutes > 60:  # noqa: PLR2004  (as Go reads them)
        raise ValueError(zone)
    seconds = hours * 3600 + minutes * 60
    return Zone(-seconds if zone[0] == "-" else seconds) if seconds else _LOCAL


def _int_to_uint(number: int) -> Uint:
    return arithmetic.unsigned(number)


def _itself(value: Any) -> Any:
    return value


def _conversion(declaration: str, run: Implementation, cost: Cost = UNIT) -> Overload:
    return function(declaration, run, cost, is_conversion=True)


LIBRARY = Library(
    name="conversions",
    overloads=(
        _conversion("type: type(A) -> type(A)", lambda value: TypeValue(type_name(value))),
        _conversion("to_dyn: dyn(A) -> dyn", _itself),
        _conversion("bool_to_bool: bool(bool) -> bool", _itself),
        _conversion("string_to_bool: bool(string) -> bool", _string_to_bool),
        _conversion("bytes_to_bytes: bytes(bytes) -> bytes", _itself),
        _conversion(
            "string_to_bytes: bytes(string) -> bytes",
            str.encode,
            of_text(lambda size: Range(size.least, size.most * 4 % 2**64)),
        ),
        _conversion("double_to_double: double(double) -> double", _itself),
        _conversion("int64_to_double: double(int) -> double", float),
        _conversion("string_to_double: double(string) -> double", _string_to_double),
        _conversion("uint64_to_double: double(uint) -> double", float),
        _conversion("duration_to_duration: duration(duration) -> duration", _itself),
        _conversion("int64_to_duration: duration(int) -> duration", _int_to_duration),
        _conversion("string_to_duration: duration(string) -> duration", _string_to_duration),
        _conversion("int64_to_int64: int(int) -> int", _itself),
        _conversion("double_to_int64: int(double) -> int", _double_to_int),
        _conversion("duration_to_int64: int(duration) -> int", lambda d: d.nanoseconds),
        _conversion("string_to_int64: int(string) -> int", _string_to_int),
        _conversion("timestamp_to_int64: int(timestamp) -> int", lambda t: t.nanoseconds // _SECOND),
        _conversion("uint64_to_int64: int(uint) -> int", lambda u: arithmetic.integer(int(u))),
        _conversion("string_to_string: string(string) -> string", _itself),
        _conversion("bool_to_string: string(bool) -> string", bool_to_string),
        _conversion(
            "bytes_to_string: string(bytes) -> string",
            bytes_to_string,
            of_text(lambda size: Range(size.least // 4, size.most)),
        ),
        _conversion("double_to_string: string(double) -> string", double_to_string),
        _conversion("duration_to_string: string(duration) -> string", duration_to_string),
        _conversion("int64_to_string: string(int) -> string", str),
        _conversion("timestamp_to_string: string(timestamp) -> string", timestamp_to_string),
        _conversion("uint64_to_string: string(uint) -> string", str),
        _conversion("timestamp_to_timestamp: timestamp(timestamp) -> timestamp", _itself),
        _conversion(
            "int64_to_timestamp: timestamp(int) -> timestamp", lambda seconds: arithmetic.timestamp(seconds * _SECOND)
        ),
        _conversion("string_to_timestamp: timestamp(string) -> timestamp", _string_to_timestamp),
        _conversion("uint64_to_uint64: uint(uint) -> uint", _itself),
        _conversion("double_to_uint64: uint(double) -> uint", _double_to_uint),
        _conversion("int64_to_uint64: uint(int) -> uint", _int_to_uint),
        _conversion("string_to_uint64: uint(string) -> uint", _string_to_uint),
    ),
)
