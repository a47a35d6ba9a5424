"""The parts of timestamps and durations.

Source: github.com/google/cel-go v0.26, common/stdlib/standard.go and common/types/duration.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from function.cel.problem import Failure
from function.cel.values import Duration, Timestamp

_SECOND = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _local(moment: Timestamp, zone: str) -> datetime:
    try:
        return _EPOCH.replace(tzinfo=None) + timedelta(seconds=moment.nanoseconds // _SECOND + _offset(moment, zone))
    except OverflowError:
        raise Failure("timestamp overflow") from None


def _offset(moment: Timestamp, zone: str) -> int:
    """Seconds east of UTC."""
    if ":" in zone:
        return _written(zone)
    if zone in ("", "UTC"):
        return 0
    try:
        found = (_EPOCH + timedelta(seconds=moment.nanoseconds // _SECOND)).astimezone(ZoneInfo(zone)).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError):
        raise Failure(f"unknown time zone {zone}") from None
    return int(found.total_seconds()) if found else 0


def _written(zone: str) -> int:
    hours, _, minutes = zone.partition(":")
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", hours) or not re.fullmatch(r"[+-]?[0-9]{1,9}", minutes):
        raise Failure(f"unknown time zone {zone}")
    sign = -1 if zone[0] == "-" else 1
    return (int(hours) * 60 + sign * int(minutes)) * 60


_PARTS: Mapping[str, Callable[[datetime], int]] = {
    "year": lambda t: t.year,
    "month": lambda t: t.month - 1,
    "day_of_year": lambda t: t.timetuple().tm_yday - 1,
    "day_of_month": lambda t: t.day - 1,
    "day_of_month_1_based": lambda t: t.day,
    "day_of_week": lambda t: t.isoweekday() % 7,
    "hours": lambda t: t.hour,
    "minutes": lambda t: t.minute,
    "seconds": lambda t: t.second,
}
_LENGTHS = {"hours": 3600 * _SECOND, "minutes": 60 * _SECOND, "seconds": _SECOND, "milliseconds": 10**6}


def _reader(part: Callable[[datetime], int]) -> Callable[..., int]:
    def read(moment: Timestamp, zone: str = "UTC") -> int:
        return part(_local(moment, zone))

    return read


def _milliseconds(moment: Timestamp, zone: str = "UTC") -> int:
    _offset(moment, zone)
    return moment.nanoseconds % _SECOND // 10**6


def _lengths(unit: int) -> Callable[[Duration], int]:
    """Whole units, rounded to zero."""

    def measured(duration: Duration) -> int:
        count = abs(duration.nanoseconds) // unit
        return -count if duration.nanoseconds < 0 else count

    return measured


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{f"timestamp_to_{name}": _reader(part) for name, part in _PARTS.items()},
    **{
        f"timestamp_to_{name}_{'tz' if name == 'seconds' else 'with_tz'}": _reader(part)
        for name, part in _PARTS.items()
    },
    "timestamp_to_milliseconds": _milliseconds,
    "timestamp_to_milliseconds_with_tz": _milliseconds,
    **{f"duration_to_{name}": _lengths(unit) for name, unit in _LENGTHS.items()},
}
"""By overload."""
