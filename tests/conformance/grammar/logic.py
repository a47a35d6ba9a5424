"""True and false, conditions, equality and order, types as values."""

from __future__ import annotations

from collections.abc import Mapping

_COMPARED = ("int", "uint", "double", "string", "bytes", "bool", "duration", "timestamp", "attribute")
_MEMBERS = (
    *("int", "string", "double", "attribute", "null", "quantity", "semver", "bytes", "ints", "map", "opt", "type"),
    "duration",
)

LEAVES: Mapping[str, tuple[str, ...]] = {
    "bool": ("true", "false"),
    "null": ("null",),
    "type": (
        *("int", "string", "bool", "list", "map", "type", "double", "null_type", "bytes", "uint"),
        *("google.protobuf.Duration", "google.protobuf.Timestamp", "optional_type"),
    ),
}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "bool": (
        *(f"{{{one}}} {operator} {{{one}}}" for one in _COMPARED for operator in ("<", "<=", ">", ">=", "==", "!=")),
        *(f"{{attribute}} {operator} {{{one}}}" for one in (*_MEMBERS, "bool") for operator in ("==", "!=", "<")),
        *(f"{{{one}}} {operator} {{attribute}}" for one in (*_MEMBERS, "bool") for operator in ("==", "!=")),
        *(
            f"dyn({{{one}}}) == {{{two}}}"
            for one in ("int", "double", "uint", "ints", "map", "semver")
            for two in ("int", "double", "uint", "ints")
        ),
        *(f"dyn({{any}}) {operator} dyn({{any}})" for operator in ("==", "!=", "<", "<=", ">", ">=", "in")),
        "{any} == {any}",
        "[{any}, {any}] == [{any}, {any}]",
        "[dyn({any}), dyn({any})] == [dyn({any}), dyn({any})]",
        "[dyn({any})] + [dyn({any})] == [dyn({any}), dyn({any})]",
        "[dyn({any}), dyn({any})] != [dyn({any})] + [dyn({any})]",
        '{"a": dyn({any})} == {"a": dyn({any})}',
        "{int} < {double}",
        "{uint} >= {int}",
        "{double} > {uint}",
        "{int} == {uint}",
        "{bool} && {bool}",
        "{bool} || {bool}",
        "{bool} && {bool} && {bool}",
        "{bool} || {bool} || {bool} || {bool}",
        "!{bool}",
        "!!{attribute}",
        "({bool} ? {bool} : {bool})",
        "{attribute} && {bool}",
        "{attribute} || {bool}",
        "dyn({any}) && {bool}",
        "{bool} || dyn({any})",
        "!dyn({any})",
        "({attribute} ? {bool} : {attribute})",
        "(dyn({any}) ? {bool} : {bool})",
        *(
            f"cel.bind(b, {{{one}}}, {{bool@b}})"
            for one in ("int", "string", "attribute", "quantity", "anymap", "ints", "opt", "any", "bool")
        ),
        "cel.bind(device, {any}, {bool@device})",
        "cel.bind(b, {any}, cel.bind(b, {any@b}, {bool@b}))",
        "type({any}) == {type}",
        "type({any}) == type({any})",
        "type(type({any})) == {type}",
        "{type} == {type}",
        "bool({string})",
        "bool({attribute})",
        "bool({bool})",
        "{attribute}",
        "dyn({bool})",
        "[{bool}, {bool}].exists(x, {bool@x})",
    ),
    "type": ("type({any})", "type(type({any}))"),
}
