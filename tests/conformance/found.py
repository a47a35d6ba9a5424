"""Selectors that were answered differently once, by what the difference was, with the library's answers."""

from __future__ import annotations

from collections.abc import Mapping

_ENTRY = '{"a": 1, "b": 2}.transformMapEntry(k, v, {%s: 3}).size() == 2'

FOUND: Mapping[str, Mapping[str, str]] = {
    "a key that is no plain value is found by itself": {
        "cel.bind(b, {[1]: 1}, dyn(b) == b)": "match",
        "cel.bind(b, [1], {b: 1} == {b: 1})": "match",
        "cel.bind(b, [1], dyn(b) in {b: 1})": "match",
        "cel.bind(b, {[1]: 1}, b.exists(k, dyn(k) in b))": "match",
        "{[1]: 1} == {[1]: 1}": "nomatch",
        "{[]: 1} == {[]: 1}": "nomatch",
        "{optional.none(): 1} == {optional.none(): 1}": "match",
        "{optional.of(1): 1} == {optional.of(1): 1}": "nomatch",
        "[1, 2].all(x, {[1]: 1} == {[1]: 1})": "nomatch",
        _ENTRY % "[1]": "runtime_error",
        _ENTRY % "[]": "runtime_error",
        _ENTRY % "{}": "runtime_error",
        _ENTRY % '{"a": [1]}': "runtime_error",
        _ENTRY % "optional.none()": "runtime_error",
        _ENTRY % "[v]": "match",
        _ENTRY % '[size("a")]': "match",
        _ENTRY % 'quantity("1")': "match",
        _ENTRY % '[quantity("1")]': "match",
        _ENTRY % "optional.of(1)": "match",
        _ENTRY % '"a,b".split(",")': "match",
    },
    "what a device publishes is a key of its own, but for its maps, which are read anew": {
        "{device.capacity[device.driver].memory: 1} == {device.capacity[device.driver].memory: 1}": "match",
        _ENTRY % "device.capacity[device.driver].memory": "runtime_error",
        "{device.attributes: 1} == {device.attributes: 1}": "match",
        '{device.attributes["a"]: 1} == {device.attributes["a"]: 1}': "match",
        '{device.attributes["a"]: 1} == {device.attributes["b"]: 1}': "match",
        "{device.attributes[device.driver]: 1} == {device.attributes[device.driver]: 1}": "nomatch",
        "cel.bind(m, device.attributes[device.driver], {m: 1} == {m: 1})": "match",
        "cel.bind(l, [device.attributes[device.driver]], {l[0]: 1} == {l[0]: 1})": "match",
        "{device: 1} == {device: 1}": "nomatch",
        "cel.bind(d, device, {d: 1} == {d: 1})": "match",
    },
    "a time as a key has its zone": {
        '{timestamp("2024-01-01T00:00:00Z"): 1} == {timestamp("2024-01-01T00:00:00Z"): 1}': "match",
        '{timestamp("2024-01-01T00:00:00Z"): 1} == {timestamp("2024-01-01T00:00:00+00:00"): 1}': "nomatch",
        '{timestamp("2024-01-01T00:00:00+00:00"): 1} == {timestamp("2024-01-01T00:00:00-00:00"): 1}': "match",
        '{timestamp("2024-01-01T05:30:00+05:30"): 1} == {timestamp("2024-01-01T05:30:00+05:30"): 1}': "nomatch",
        '{timestamp("2024-01-01T05:30:00+05:30"): 1, timestamp("2024-01-01T00:00:00Z"): 2}.size() == 2': "match",
        '{timestamp(0): 1} == {timestamp("1970-01-01T00:00:00Z"): 1}': "match",
        'cel.bind(t, timestamp("2024-01-01T05:30:00+05:30"), {t: 1} == {t: 1})': "match",
        'cel.bind(t, timestamp("2024-01-01T05:30:00+05:30"), {t: 1} == {t + duration("0s"): 1})': "match",
        _ENTRY % 'timestamp("2024-01-01T05:30:00+05:30")': "runtime_error",
    },
    "a sort looks at the elements of its list, not at the type of it": {
        '((dyn(["a"]).flatten()).sort()) == ([dyn(1), dyn(2.0), dyn(3u)])': "nomatch",
        'dyn(["b", "a"]).flatten().sort() == dyn(["a", "b"])': "match",
        'dyn(["b", "a"]).flatten().sortBy(x, x) == dyn(["a", "b"])': "match",
        "dyn([null]).flatten().sort() == dyn([null])": "runtime_error",
        "dyn([[1]]).flatten().sort() == dyn([1])": "match",
        "dyn([null]).sort() == dyn([null])": "runtime_error",
        "[dyn(1), dyn(2.0)].sort() == []": "runtime_error",
        "[dyn(2.0), dyn(1)].sort() == []": "runtime_error",
        "[dyn([1])].sort() == []": "runtime_error",
        "[dyn(type(1))].sort() == []": "runtime_error",
        "dyn(1).sort() == []": "runtime_error",
    },
    "an amount in an optional cannot be compared with null": {
        '(optional.ofNonZeroValue(quantity("80Gi"))) == optional.of(null)': "runtime_error",
        'optional.of(quantity("1")) != optional.of(null)': "match",
        'optional.of(null) == optional.of(quantity("1"))': "nomatch",
        'optional.of(optional.of(quantity("1"))) == optional.of(optional.of(null))': "runtime_error",
        '[optional.of(quantity("1"))] == [optional.of(null)]': "match",
        'optional.of(semver("1.0.0")) == optional.of(null)': "runtime_error",
        'quantity("1") == null': "nomatch",
    },
}
