"""Values of one type made into another.

Source: github.com/google/cel-go v0.26, common/types; strconv and time of Go.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from function.cel.functions import arithmetic
from function.cel.problem import Failure
from function.cel.values import naming
from function.cel.values.kinds import INT_MAX, INT_MIN, UINT_MAX, Duration, Timestamp, TypeValue, Uint, Zone

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
    if not re.fullmatch(r"[+-]?[0-9]{1,4000}", text) or not INT_MIN <= int(text) <= INT_MAX:
        raise _failed(text, "int")
    return int(text)


def _string_to_uint(text: str) -> Uint:
    if not re.fullmatch(r"[0-9]{1,4000}", text) or int(text) > UINT_MAX:
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


def _double_to_string(number: float) -> str:
    """As %g of Go writes it."""
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    if number != number:  # noqa: PLR0124  (not a number)
        return "NaN"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) + exponent - 1
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    if -4 <= power < 6:  # noqa: PLR2004  (bounds of Go)
        return format(Decimal(repr(number)).normalize(), "f")
    text = "".join(map(str, digits))
    mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
    return f"{'-' if sign else ''}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _bytes_to_string(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Failure("invalid UTF-8 in bytes, cannot convert to string") from None


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
    """Declared, and yet no conversion that Kubernetes has."""
    raise _failed(number, "duration")


def _duration_to_string(duration: Duration) -> str:
    nanoseconds = abs(duration.nanoseconds)
    seconds = nanoseconds // _SECOND + (nanoseconds % _SECOND) / _SECOND
    text = format(Decimal(repr(float(seconds))).normalize(), "f")
    return f"{'-' if duration.nanoseconds < 0 else ''}{text}s"


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
"""Of who evaluates: the images of Kubernetes are in UTC, and yet that is not the zone of what ends in Z."""


def _offset(zone: str) -> int:
    if zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 24 or minutes > 60:  # noqa: PLR2004  (as Go reads them)
        raise ValueError(zone)
    seconds = hours * 3600 + minutes * 60
    return Zone(-seconds if zone[0] == "-" else seconds) if seconds else _LOCAL


def _timestamp_to_string(moment: Timestamp) -> str:
    seconds, fraction = divmod(moment.nanoseconds + moment.offset * _SECOND, _SECOND)
    days, rest = divmod(seconds, 86400)
    try:
        date = datetime.fromordinal(days + datetime(1970, 1, 1, tzinfo=UTC).toordinal())
    except ValueError:
        raise Failure("timestamp overflow") from None
    digits = f".{fraction:09d}".rstrip("0") if fraction else ""
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{date.year:04d}-{date.month:02d}-{date.day:02d}T{clock}{digits}{_zone(moment.offset)}"


def _zone(offset: int) -> str:
    if not offset:
        return "Z"
    return f"{'-' if offset < 0 else '+'}{abs(offset) // 3600:02d}:{abs(offset) // 60 % 60:02d}"


def _int_to_uint(number: int) -> Uint:
    return arithmetic.unsigned(number)


def _itself(value: Any) -> Any:
    return value


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "type": lambda value: TypeValue(naming.type_name(value)),
    "to_dyn": _itself,
    "bool_to_bool": _itself,
    "string_to_bool": _string_to_bool,
    "bytes_to_bytes": _itself,
    "string_to_bytes": str.encode,
    "double_to_double": _itself,
    "int64_to_double": float,
    "string_to_double": _string_to_double,
    "uint64_to_double": float,
    "duration_to_duration": _itself,
    "int64_to_duration": _int_to_duration,
    "string_to_duration": _string_to_duration,
    "int64_to_int64": _itself,
    "double_to_int64": _double_to_int,
    "duration_to_int64": lambda d: d.nanoseconds,
    "string_to_int64": _string_to_int,
    "timestamp_to_int64": lambda t: t.nanoseconds // _SECOND,
    "uint64_to_int64": lambda u: arithmetic.integer(int(u)),
    "string_to_string": _itself,
    "bool_to_string": lambda b: "true" if b else "false",
    "bytes_to_string": _bytes_to_string,
    "double_to_string": _double_to_string,
    "duration_to_string": _duration_to_string,
    "int64_to_string": str,
    "timestamp_to_string": _timestamp_to_string,
    "uint64_to_string": str,
    "timestamp_to_timestamp": _itself,
    "int64_to_timestamp": lambda seconds: arithmetic.timestamp(seconds * _SECOND),
    "string_to_timestamp": _string_to_timestamp,
    "uint64_to_uint64": _itself,
    "double_to_uint64": _double_to_uint,
    "int64_to_uint64": _int_to_uint,
    "string_to_uint64": _string_to_uint,
}
"""By overload."""
