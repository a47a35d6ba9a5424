"""Values that may not be there."""

from __future__ import annotations

from collections.abc import Mapping

_D = 'device.attributes["gpu.nvidia.com"]'

LEAVES: Mapping[str, tuple[str, ...]] = {
    "opt": ("optional.none()", f"{_D}.?n", f"{_D}.?nope", "device.attributes.?none.?x", '{"a": 1}.?a'),
    "optint": ("optional.of(1)", "[1][?0]", "[1][?3]", '{"a": 1}[?"a"]', '{"a": 1}.?b', "optional.ofNonZeroValue(0)"),
}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "bool": (
        "has({opt}.{name})",
        "has({map}.?a.b)",
        "{opt}.hasValue()",
        "{optint}.hasValue()",
        "{opt}.orValue({bool})",
        "{opt} == {opt}",
        "{optint} == {optint}",
        "{opt} == optional.of({any})",
        "{opt}.or({opt}).hasValue()",
        "{opt}.optMap(o, {bool@o}).orValue({bool})",
        "{opt}.optFlatMap(o, optional.of({bool@o})).orValue({bool})",
        "optional.ofNonZeroValue({any}).hasValue()",
        "optional.of({any}).?{name}.hasValue()",
        "{opt}.?{name}.?{name} == {opt}",
        "{strings}.first() == {strings}.last()",
    ),
    "int": (
        "{optint}.value()",
        "{optint}.orValue({int})",
        "{optint}.optMap(o, {int@o}).orValue({int})",
        "{ints}.first().value()",
        "{ints}.last().orValue({int})",
    ),
    "ints": ("[{int}, ?{optint}]", "[?{opt}, ?{optint}]", "optional.unwrap([{optint}, {optint}])"),
    "mixed": ("[?{opt}, {attribute}]", "[{opt}, {opt}].unwrapOpt()"),
    "map": ('{"a": {int}, ?"b": {optint}}', '{?"a": {optint}, "a": {int}}', '{"a": {int}, ?"a": {optint}}'),
    "opt": (
        "optional.of({attribute})",
        "optional.of({any})",
        "optional.of({opt})",
        "{anymap}[?{string}]",
        "{anymap}.?{name}",
        "{mixed}[?{int}]",
        "{numbered}[?{int}]",
        "{opt}.or({opt})",
        "{opt}[{int}]",
        "{opt}[?{string}]",
        "{opt}.{name}",
        "{opt}.optMap(o, {any@o})",
        "{opt}.optFlatMap(o, {opt@o})",
        "optional.ofNonZeroValue({any})",
        "{opt}.?{name}",
        "{attribute}.?{name}",
        "{mixed}.first()",
        "({bool} ? {opt} : {opt})",
    ),
    "optint": (
        "optional.of({int})",
        "{ints}[?{int}]",
        "{ints}.first()",
        "{map}[?{string}]",
        "{optint}.or({optint})",
        "{optint}.optMap(o, {int@o})",
        "{optint}.optFlatMap(o, {optint@o})",
        "optional.ofNonZeroValue({int})",
    ),
}
