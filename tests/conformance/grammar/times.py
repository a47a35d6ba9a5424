"""Durations, and points in time with their parts in a zone."""

from __future__ import annotations

from collections.abc import Mapping

_PARTS = (
    *("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getHours", "getMinutes"),
    *("getSeconds", "getMilliseconds"),
)

LEAVES: Mapping[str, tuple[str, ...]] = {
    "duration": (
        *('duration("1h")', 'duration("1h30m")', 'duration("-1.5s")', 'duration("0")', 'duration("1us1ns")'),
        *('duration("2562047h")', 'duration("100ms")', 'duration("-1h1m1.5s")', 'duration("-1ns")'),
    ),
    "period": (
        *('""', '"1"', '"s"', '"1d"', '"0"', '"+0"', '"-"', '".5s"', '"1.s"', '"1.5.5s"', '"+1s"', '"- 1s"', '"1 s"'),
        *('"1µs"', '"1μs"', '"1H"', '"9223372036s"', '"9223372036.854775807s"', '"9223372037s"', '"2562048h"'),
        *('"1h1h"', '"1s1h"', '"0.0000000001s"', '"1e3s"', '"-9223372036.854775808s"', '"315576000001s"'),
    ),
    "timestamp": (
        *('timestamp("2024-02-29T12:34:56.789Z")', 'timestamp("2024-01-01T00:00:00+05:30")', "timestamp(0)"),
        *('timestamp("9999-12-31T23:59:59Z")', 'timestamp("0001-01-01T00:00:00Z")', "timestamp(1709210096)"),
        *('timestamp("2024-07-01T23:30:00-11:00")', 'timestamp("1969-12-31T23:59:59.999999999Z")'),
    ),
    "moment": (
        *('"2024-02-30T00:00:00Z"', '"2023-02-29T00:00:00Z"', '"2024-02-29t12:00:00z"', '"2024-02-29T12:00:00"'),
        *('"2024-02-29T12:00:60Z"', '"2024-02-29T24:00:00Z"', '"2024-02-29T12:00:00,5Z"', '"2024-02-29 12:00:00Z"'),
        *('"2024-02-29T12:00:00.1234567891Z"', '"2024-02-29T12:00:00.Z"', '"2024-02-29T12:00:00+24:00"', '"2024"'),
        *('"2024-02-29T12:00:00+05:60"', '"2024-2-29T12:00:00Z"', '"10000-01-01T00:00:00Z"', '"x"', '""', '"1"'),
        *('"0000-01-01T00:00:00Z"', '"0001-01-01T00:00:00+00:01"', '"9999-12-31T23:59:59-00:01"'),
        *('"2024-02-29T12:00:00+0530"', '"2024-02-29T5:00:00Z"', '"+2024-02-29T12:00:00Z"', '"2024-02-29T12:00Z"'),
    ),
    "second": (
        *("0", "-1", "253402300799", "253402300800", "-62135596800", "-62135596801", "9223372036854775807", "1e9"),
    ),
    "zone": (
        *('"UTC"', '"America/New_York"', '"+05:30"', '"-02:30"', '"Mars"', '"05:00"', '""', '"Local"', '"utc"'),
        *('"Etc/GMT+5"', '"+5:30"', '"-00:30"', '"24:00"', '"+14:00"', '"Europe/Berlin"', '"+0530"', '"-0:0"'),
        *('"America/New_York "', '"europe/berlin"', '"../UTC"', '"05:60"', '"+99:00"', '"1:2:3"', '"a:b"'),
    ),
}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "bool": (
        "duration({period}) == {duration}",
        "duration({period}) > {duration}",
        "timestamp({moment}) < {timestamp}",
        "timestamp({second}) > {timestamp}",
        "string({timestamp}) == {moment}",
        "string(duration({period})) == {string}",
    ),
    "int": (
        *(f"{{timestamp}}.{part}()" for part in _PARTS),
        *(f"{{timestamp}}.{part}({{zone}})" for part in _PARTS),
        *(f"{{duration}}.{part}()" for part in ("getHours", "getMinutes", "getSeconds", "getMilliseconds")),
    ),
    "duration": (
        "{duration} + {duration}",
        "{duration} - {duration}",
        "{timestamp} - {timestamp}",
        "duration({string})",
        "duration({period})",
        "duration({int})",
        "duration({duration})",
    ),
    "timestamp": (
        "{timestamp} + {duration}",
        "{timestamp} - {duration}",
        "{duration} + {timestamp}",
        "timestamp({int})",
        "timestamp({second})",
        "timestamp({moment})",
        "timestamp({string})",
        "timestamp({timestamp})",
    ),
}
