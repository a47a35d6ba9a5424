"""Values in values: optionals of lists and maps, maps of optionals, keys of every sort, null in the place of each."""

from __future__ import annotations

from collections.abc import Mapping

_NULLABLE = ("quantity", "semver", "duration", "timestamp", "opt")
_CONTENTS = (
    "map",
    "ints",
    "lists",
    "anymap",
    "numbered",
    "null",
    "type",
    "opt",
    "bytes",
    "quantity",
    "semver",
    "mixed",
)

LEAVES: Mapping[str, tuple[str, ...]] = {
    "inner": ("optional.of([1])", 'optional.of({"a": 1})', "optional.of(optional.none())", "optional.of(null)"),
}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "inner": (
        *(f"optional.of({{{one}}})" for one in _CONTENTS),
        *(f"optional.of(dyn({{{one}}}))" for one in _CONTENTS),
        "{inner}.?a",
        "{inner}.a",
        "{inner}[0]",
        "{inner}[?0]",
        "{inner}[?{any}]",
        "[{inner}][0]",
        "[{inner}].first()",
        '{"a": {inner}}.a',
        '{"a": {inner}}.?a',
        '{"a": {inner}}[?{string}]',
        "{inner}.or({inner})",
        "{inner}.orValue({inner})",
        "dyn({inner})",
        "({bool} ? {inner} : {inner})",
        "cel.bind(b, {inner}, {inner@b})",
        "{inner}.optMap(o, {inner@o})",
        "{inner}.optFlatMap(o, {inner@o})",
        "{anymap}.?{name}.?{name}",
        "{anymap}.?{name}.{name}",
        "optional.ofNonZeroValue({inner})",
    ),
    "bool": (
        "{inner} == {inner}",
        "{inner} != {inner}",
        "{inner} == optional.of({any})",
        "has({inner}.a)",
        "has({inner}.a.b)",
        "has({inner}.?a.b)",
        "({bool} ? has({inner}.a) : {bool})",
        "{inner}.hasValue()",
        "{inner}.value() == {any}",
        "{inner}.orValue({any}) == {any}",
        "[{inner}] == [{inner}]",
        '{"a": {inner}} == {"a": {inner}}',
        "{inner} in [{inner}, {inner}]",
        "{inner} in {{inner}: {any}}",
        "type({inner}) == type({any})",
        "cel.bind(b, {inner}, b == {inner@b})",
        "cel.bind(b, {inner}, has(b.a))",
        "[{inner}].all(o, {bool@o})",
        '{"a": {inner}}.exists(k, v, {bool@k,v})',
        "cel.bind(b, {numbered}, dyn(b) == {numbered@b})",
        "cel.bind(b, {any}, {b: 1} == {b: 1})",
        "cel.bind(b, {any}, dyn(b) in {b: {any@b}})",
        "{{any}: {any}} == {{any}: {any}}",
        "{{any}: {any}}.all(k, v, {bool@k,v})",
        "{{any}: {any}}.exists(k, {bool@k})",
        "{lists} == {lists}",
        "{lists}.exists(x, {x: x} == {x: x})",
        "{map}.transformMapEntry(k, v, {{any@k,v}: {any@k,v}}).size() == {int}",
        *(f"optional.of({{{one}}}).orValue(null) == {{{one}}}" for one in _NULLABLE),
        *(f"([{{{one}}}] + [null]) == [{{{one}}}, null]" for one in _NULLABLE),
        "optional.of(optional.of({any})).value() == {inner}",
        "{any} == {inner}",
    ),
    "null": ("optional.of(null).value()", "[null][0]", "({bool} ? null : {any})", "optional.none().orValue(null)"),
    "opt": ("{inner}", "[{opt}][{int}]", '{"a": {opt}}[{string}]'),
    "attribute": ("{inner}.a.orValue({any})", "{inner}.value()", "{inner}.?a.value()"),
    **{
        one: (
            f"{{opt}}.orValue({{{one}}})",
            f"optional.of({{{one}}}).orValue(null)",
            f"optional.ofNonZeroValue({{{one}}}).orValue(null)",
            f"([{{{one}}}] + [null])[{{int}}]",
            f"({{bool}} ? null : {{{one}}})",
            f"({{bool}} ? {{{one}}} : null)",
            f"optional.of({{{one}}}).or(optional.of(null)).value()",
            f'{{"a": {{{one}}}}}.?a.orValue(null)',
            f"cel.bind(b, {{{one}}}, {{{one}@b}})",
        )
        for one in _NULLABLE[:-1]
    },
}
