"""The accessors of timestamps and durations.

Source: github.com/google/cel-go v0.26, common/stdlib/standard.go and common/types/duration.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from function.cel.language.declarations.cost import UNIT
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import Overload, method
from function.cel.language.errors import Failure
from function.cel.language.values.kinds import Duration, Timestamp

_SECOND = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE = 146_097 * 86_400
"""Seconds in which the calendar repeats itself, weekdays and all: 400 years."""
_FIRST, _LAST = -62_135_596_800 + 40 * 86_400, 253_402_300_799 - 40 * 86_400
"""Seconds between which a time in any zone is a datetime."""


def _local(moment: Timestamp, zone: str) -> tuple[datetime, int]:
    """The local time, and the years to add to its year."""
    seconds, cycles = _inner(moment.nanoseconds // _SECOND)
    try:
        return _EPOCH.replace(tzinfo=None) + timedelta(seconds=seconds + _offset(moment, zone)), -400 * cycles
    except OverflowError:
        raise Failure(f"unknown time zone {zone}") from None


def _inner(seconds: int) -> tuple[int, int]:
    """The seconds, moved by whole cycles of the calendar into the range of datetime, and the number of cycles."""
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
    """The zone's file. Go opens it by the name of the zone, so some names that are written differently are one."""
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


def _whole_units(unit: int) -> Callable[[Duration], int]:
    """The length of a duration in whole units, rounded towards zero."""

    def measured(duration: Duration) -> int:
        count = abs(duration.nanoseconds) // unit
        return -count if duration.nanoseconds < 0 else count

    return measured


_ACCESSORS: Mapping[str, tuple[str, Callable[..., int]]] = {
    "getFullYear": ("year", _year),
    "getMonth": ("month", _reader(lambda t: t.month - 1)),
    "getDayOfYear": ("day_of_year", _reader(lambda t: t.timetuple().tm_yday - 1)),
    "getDayOfMonth": ("day_of_month", _reader(lambda t: t.day - 1)),
    "getDate": ("day_of_month_1_based", _reader(lambda t: t.day)),
    "getDayOfWeek": ("day_of_week", _reader(lambda t: t.isoweekday() % 7)),
    "getHours": ("hours", _reader(lambda t: t.hour)),
    "getMinutes": ("minutes", _reader(lambda t: t.minute)),
    "getSeconds": ("seconds", _reader(lambda t: t.second)),
    "getMilliseconds": ("milliseconds", _milliseconds),
}
"""By method: the part that it reads, as overloads name it."""


def _overloads() -> Iterator[Overload]:
    for name, (part, read) in _ACCESSORS.items():
        yield method(f"timestamp_to_{part}: timestamp.{name}() -> int", read, UNIT)
        zone = "tz" if part == "seconds" else "with_tz"
        yield method(f"timestamp_to_{part}_{zone}: timestamp.{name}(string) -> int", read, UNIT)
        if part in _LENGTHS:
            yield method(f"duration_to_{part}: duration.{name}() -> int", _whole_units(_LENGTHS[part]), UNIT)


LIBRARY = Library(name="times", overloads=tuple(_overloads()))
