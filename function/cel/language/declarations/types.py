"""The types of expressions, and how signatures write them.

Source: github.com/google/cel-go v0.26, checker/types.go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

SCALARS = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_CONTAINERS = frozenset({"list", "map", "type"})


@dataclass(frozen=True, slots=True)
class Type:
    """A type. `kind` is a scalar's name or one of: dyn, any, error, null, type, list, map, opaque, struct, param."""

    kind: str
    name: str = ""
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        inside = ", ".join(map(str, self.params))
        match self.kind:
            case "opaque" | "struct":
                return f"{self.name}({inside})" if inside else self.name
            case "param":
                return "any type"
            case "null":
                return "null"
            case "any":
                return "attribute value"
        return f"{self.kind}({inside})" if inside else self.kind


BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION = map(Type, SCALARS)
DYN, ANY, NULL = Type("dyn"), Type("any"), Type("null")
_PLAIN = {t.kind: t for t in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION, DYN)}
"""Types without parameters, each as one object: identity is compared first."""
KEYS = frozenset({"bool", "int", "uint", "double", "string", "duration", "null", "type"})
"""Kinds of type whose equal values are one key of a map."""


def list_of(item: Type) -> Type:
    return Type("list", "", (item,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", "", (key, value))


def optional_of(content: Type) -> Type:
    return Type("opaque", "optional", (content,))


def type_of(type_: Type) -> Type:
    return Type("type", "", (type_,))


TYPE_NAMES = {
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "google.protobuf.Duration": DURATION,
    "int": INT,
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
    "null_type": NULL,
    "string": STRING,
    "google.protobuf.Timestamp": TIMESTAMP,
    "type": Type("type"),
    "uint": UINT,
    "optional_type": optional_of(DYN),
}
"""Types of the language that an expression can name."""


def is_dyn(type_: Type) -> bool:
    return type_.kind in ("dyn", "any")


def has_dyn(type_: Type) -> bool:
    """Whether a type, or a part of it, is dyn."""
    return is_dyn(type_) or any(map(has_dyn, type_.params))


def is_dyn_or_error(type_: Type) -> bool:
    return type_.kind in ("dyn", "any", "error")


def is_open(type_: Type) -> bool:
    """Whether a type, or a part of it, is a type variable."""
    return type_.kind == "param" or (bool(type_.params) and any(map(is_open, type_.params)))


def content_of(type_: Type) -> tuple[Type, bool]:
    """The type of an optional's content, and whether the type is an optional."""
    if type_.kind == "opaque" and type_.name == "optional":
        return type_.params[0], True
    return type_, False


@cache
def parse(text: str) -> Type:
    """A type as a signature writes it: `list(A)`, `map(K, V)`, `optional(V)`; capitals are parameters.

    A name that the language does not have is that of a library's opaque type.
    """
    found = re.fullmatch(r"([A-Za-z_]+)(?:\((.*)\))?", text.strip())
    assert found is not None, text
    name, params = found[1], tuple(map(parse, split(found[2] or "")))
    if name in _PLAIN:
        return _PLAIN[name]
    if name.isupper():
        return Type("param", name)
    if name in _CONTAINERS:
        return Type(name, "", params)
    return Type("opaque", name, params)


def split(text: str) -> list[str]:
    """The parts of a text between the commas that are not in parentheses."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
    return [p for p in (*parts, text[start:]) if p.strip()]
