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
from function.cel.values.kinds import Duration, Timestamp

_SECOND = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_CYCLE = 146_097 * 86_400
"""Seconds in which the calendar repeats itself, weekdays and all: 400 years."""
_FIRST, _LAST = -62_135_596_800 + 40 * 86_400, 253_402_300_799 - 40 * 86_400
"""Seconds between which a time in any zone is a datetime."""


def _local(moment: Timestamp, zone: str) -> tuple[datetime, int]:
    """A time whose parts are those of the moment, but for the years to be added to its year."""
    seconds, cycles = _inner(moment.nanoseconds // _SECOND)
    try:
        return _EPOCH.replace(tzinfo=None) + timedelta(seconds=seconds + _offset(moment, zone)), -400 * cycles
    except OverflowError:
        raise Failure(f"unknown time zone {zone}") from None


def _inner(seconds: int) -> tuple[int, int]:
    """The seconds moved by whole cycles of the calendar to where a datetime can hold them, and the cycles."""
    cycles = (seconds < _FIRST) - (seconds > _LAST)
    return seconds + cycles * _CYCLE, cycles


def _offset(moment: Timestamp, zone: str) -> int:
    """Seconds east of UTC."""
    if ":" in zone:
        return _written(zone)
    if zone in ("", "UTC", "Local"):  # the images of Kubernetes are in UTC
        return 0
    try:
        moved, _ = _inner(moment.nanoseconds // _SECOND)
        found = (_EPOCH + timedelta(seconds=moved)).astimezone(ZoneInfo(_file(zone))).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError):
        raise Failure(f"unknown time zone {zone}") from None
    return int(found.total_seconds()) if found else 0


def _file(zone: str) -> str:
    """Go opens a file by the name of the zone, and so takes more than one name for it."""
    *folders, last = zone.split("/")
    if zone.startswith("/") or last in ("", "."):
        return zone
    return "/".join([*(folder for folder in folders if folder not in ("", ".")), last])


def _written(zone: str) -> int:
    hours, _, minutes = zone.partition(":")
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", hours) or not re.fullmatch(r"[+-]?[0-9]{1,9}", minutes):
        raise Failure(f"unknown time zone {zone}")
    sign = -1 if zone[0] == "-" else 1
    return (int(hours) * 60 + sign * int(minutes)) * 60


_PARTS: Mapping[str, Callable[[datetime], int]] = {
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


def _year(moment: Timestamp, zone: str = "UTC") -> int:
    local, years = _local(moment, zone)
    return local.year + years


def _reader(part: Callable[[datetime], int]) -> Callable[..., int]:
    def read(moment: Timestamp, zone: str = "UTC") -> int:
        return part(_local(moment, zone)[0])

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
    "timestamp_to_year": _year,
    "timestamp_to_year_with_tz": _year,
    "timestamp_to_milliseconds": _milliseconds,
    "timestamp_to_milliseconds_with_tz": _milliseconds,
    **{f"duration_to_{name}": _lengths(unit) for name, unit in _LENGTHS.items()},
}
"""By overload."""
