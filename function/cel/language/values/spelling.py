"""How values become text: what string() returns, and what string formatting inserts.

Source: github.com/google/cel-go v0.26, common/types; strconv and time of Go.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal

from function.cel.language.errors import Failure
from function.cel.language.values.kinds import Duration, Timestamp

_SECOND = 10**9


def double_to_string(number: float) -> str:
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


def bool_to_string(value: bool) -> str:  # noqa: FBT001  (as an expression passes it)
    return "true" if value else "false"


def bytes_to_string(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Failure("invalid UTF-8 in bytes, cannot convert to string") from None


def duration_to_string(duration: Duration) -> str:
    nanoseconds = abs(duration.nanoseconds)
    seconds = nanoseconds // _SECOND + (nanoseconds % _SECOND) / _SECOND
    text = format(Decimal(repr(float(seconds))).normalize(), "f")
    return f"{'-' if duration.nanoseconds < 0 else ''}{text}s"


def timestamp_to_string(moment: Timestamp) -> str:
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
