"""Names that hide others: variables called like types, functions, libraries, the device, and one another."""

from __future__ import annotations

from collections.abc import Mapping

_NAMES = (
    *(
        "device",
        "int",
        "type",
        "list",
        "optional",
        "cel",
        "sets",
        "quantity",
        "x",
        "has",
        "google",
        "ip",
        "format",
        "k",
    ),
    *("dyn", "size", "null_type", "optional_type", "lists", "strings", "timestamp", "__result__", "_", "duration"),
)
_LOOPS = ("all", "filter", "map", "sortBy")
_BOUND = ("int", "string", "any", "ints", "map", "opt", "type", "attribute", "quantity", "anymap")

LEAVES: Mapping[str, tuple[str, ...]] = {
    "absolute": (
        *(".int", ".device", ".device.driver", ".google.protobuf.Duration", "google.protobuf", "google.protobuf.Any"),
        *("optional", "cel", "sets", "device.int", "int.device", ".optional.none()", ".size([1])", ".x", "type.int"),
        *(".optional.of(1).value()", ".quantity('1')", "cel.of(1)", "optional.none", "kubernetes.Quantity", ".type(1)"),
    ),
}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "bool": (
        *(f"cel.bind({name}, {{any}}, {{bool@{name}}})" for name in _NAMES),
        *(f"cel.bind({name}, {{int}}, {{any@{name}}} == {{any@{name}}})" for name in _NAMES[:6]),
        *(f"{{ints}}.{loop}({name}, {{bool@{name}}}) == {{any}}" for name in _NAMES[:6] for loop in _LOOPS),
        *(
            f"{{map}}.exists({one}, {two}, {{bool@{one},{two}}})"
            for one in ("k", "int")
            for two in ("k", "x", "device")
        ),
        *(f"{{opt}}.optMap({name}, {{any@{name}}}) == {{opt}}" for name in _NAMES[:4]),
        *(f"cel.bind(x, {{{one}}}, {{ints}}.exists(x, {{bool@x}}) || {{bool@x}})" for one in _BOUND),
        *(f"cel.bind(device, {{{one}}}, {{any@device}} == {{attribute}})" for one in _BOUND),
        "cel.bind(x, {any}, cel.bind(x, {any@x}, {bool@x}) && {bool@x})",
        "{absolute} == {any}",
        "dyn({absolute}) == {type}",
        "cel.bind(type, {type}, type == {type@type})",
        "{ints}.map(x, {ints@x}.map(x, {ints@x})) == {mixed}",
        "{ints}.all(x, {strings}.all(y, {bool@x,y}))",
        "{map}.transformMap(k, k, {int@k}) == {map}",
        "{ints}.transformList(x, x, {int@x}) == {ints}",
        "has({map}.{name})",
        "{ints}.{name}(x, {bool@x})",
        "cel.bind({int}, {int}, {bool})",
        "cel.bind(a.b, {int}, {bool})",
        "{ints}.all({string}, {bool})",
        "{ints}.all(x, {bool@x}, {bool@x}, {bool@x})",
        "cel.bind(x, {int})",
        "has({int})",
        "has(device)",
        "has({map}[{string}])",
    ),
}
