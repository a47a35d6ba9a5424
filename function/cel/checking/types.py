"""The types of expressions, and when one can stand for another.

Source: github.com/google/cel-go v0.26, checker/types.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

SCALARS = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_OPAQUE = frozenset(
    {
        *("optional", "quantity", "semver", "function", "url", "ip", "cidr", "format"),
        *("authorizer", "pathcheck", "groupcheck", "resourcecheck", "decision"),
    }
)


@dataclass(frozen=True, slots=True)
class Type:
    """`kind` is a scalar's name or one of: dyn, any, error, null, type, list, map, opaque, struct, param."""

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
DYN, ANY, ERROR, NULL = Type("dyn"), Type("any"), Type("error"), Type("null")
_PLAIN = {t.kind: t for t in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION, DYN)}
"""What is one and the same object wherever it is named, which is what is looked at first."""
KEYS = frozenset({"bool", "int", "uint", "double", "string", "duration", "null", "type"})
"""Of a map: kinds of those that equal ones find."""
QUANTITY, SEMVER = Type("opaque", "quantity"), Type("opaque", "semver")
IP, CIDR = Type("opaque", "ip"), Type("opaque", "cidr")


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
    "net.IP": IP,
    "net.CIDR": CIDR,
}
"""Types that an expression can name."""


def is_dyn(type_: Type) -> bool:
    return type_.kind in ("dyn", "any")


def has_dyn(type_: Type) -> bool:
    """Whether it is, or a part of it is, of any type."""
    return is_dyn(type_) or any(map(has_dyn, type_.params))


def is_dyn_or_error(type_: Type) -> bool:
    return type_.kind in ("dyn", "any", "error")


def is_open(type_: Type) -> bool:
    """Whether a part of it is not known yet."""
    return type_.kind == "param" or (bool(type_.params) and any(map(is_open, type_.params)))


def content_of(type_: Type) -> tuple[Type, bool]:
    """Of an optional its content, and whether it is one."""
    if type_.kind == "opaque" and type_.name == "optional":
        return type_.params[0], True
    return type_, False


@cache
def read(text: str) -> Type:
    """A type as a signature writes it: `list(A)`, `map(K, V)`, `optional(V)`; capitals are parameters."""
    found = re.fullmatch(r"([A-Za-z_]+)(?:\((.*)\))?", text.strip())
    assert found is not None, text
    name, params = found[1], tuple(map(read, split(found[2] or "")))
    if name in _PLAIN:
        return _PLAIN[name]
    if name.isupper():
        return Type("param", name)
    if name in _OPAQUE:
        return Type("opaque", name, params)
    return Type(name, "", params)


def split(text: str) -> list[str]:
    """At the commas that stand in no parentheses."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
    return [p for p in (*parts, text[start:]) if p.strip()]


class Unifier:
    """What the parameters of types turned out to be. A trial that fails leaves nothing behind."""

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._variables = 0

    def variable(self) -> Type:
        self._variables += 1
        return Type("param", f"_{self._variables}")

    def instance(self, types: Iterable[Type]) -> tuple[Type, ...]:
        """Of a signature: its parameters become new variables."""
        fresh: dict[str, Type] = {}
        return tuple(self._instance(t, fresh) for t in types)

    def _instance(self, type_: Type, fresh: dict[str, Type]) -> Type:
        if type_.kind == "param":
            if type_.name not in fresh:
                fresh[type_.name] = self.variable()
            return fresh[type_.name]
        if not type_.params:
            return type_
        return Type(type_.kind, type_.name, tuple(self._instance(p, fresh) for p in type_.params))

    def assignable(self, sources: Iterable[Type], targets: Iterable[Type]) -> bool:
        mark = len(self._trail)
        sources, targets = tuple(sources), tuple(targets)
        if self._all_assignable(sources, targets):
            return True
        while len(self._trail) > mark:
            name, before = self._trail.pop()
            if before is None:
                del self._bound[name]
            else:
                self._bound[name] = before
        return False

    def resolved(self, type_: Type, *, final: bool = False) -> Type:
        """With its parameters replaced; at the end an unknown one is dyn."""
        while type_.kind == "param":
            bound = self._bound.get(type_.name)
            if bound is None:
                return DYN if final else type_
            type_ = bound
        params = type_.params
        if not params:
            return type_
        found = tuple([self.resolved(p, final=final) for p in params])
        return type_ if found == params else Type(type_.kind, type_.name, found)

    def _bind(self, name: str, type_: Type) -> None:
        self._trail.append((name, self._bound.get(name)))
        self._bound[name] = type_

    def _all_assignable(self, sources: tuple[Type, ...], targets: tuple[Type, ...]) -> bool:
        return len(sources) == len(targets) and all(map(self._assignable, sources, targets))

    def _assignable(self, a: Type, b: Type) -> bool:
        if a is b:
            return True
        if b.kind == "param":
            valid, known = self._substitutes(a, b)
            if valid or known:
                return valid
        if a.kind == "param":
            return self._substitutes(b, a)[0]
        return is_dyn_or_error(a) or is_dyn_or_error(b) or self._fits(a, b)

    def _fits(self, a: Type, b: Type) -> bool:
        """Of two types that are known."""
        if "null" in (a.kind, b.kind):
            return _nullable(b if a.kind == "null" else a)
        if a.kind == "type":
            return b.kind == "type"
        if a.kind in ("opaque", "list", "map"):
            return (a.kind, a.name) == (b.kind, b.name) and self._all_assignable(a.params, b.params)
        return a.kind == b.kind and a == b

    def _substitutes(self, type_: Type, variable: Type) -> tuple[bool, bool]:
        """Whether the variable can be this type, and whether it was bound before."""
        if type_ == variable:
            return True, True
        bound = self._bound.get(variable.name)
        if bound is None:
            if self._occurs(variable, type_):
                return False, False
            self._bind(variable.name, type_)
            return True, False
        if type_ == bound:
            return True, True
        if not self._assignable(type_, bound):
            return False, True
        general = most_general(type_, bound)
        if not self._occurs(variable, general):
            self._bind(variable.name, general)
        return True, True

    def _occurs(self, variable: Type, within: Type) -> bool:
        if variable == within:
            return True
        if within.kind == "param":
            bound = self._bound.get(within.name)
            return bound is not None and self._occurs(variable, bound)
        return any(self._occurs(variable, p) for p in within.params)


def most_general(a: Type, b: Type) -> Type:
    return a if _is_no_more_specific(a, b) else b


def _is_no_more_specific(a: Type, b: Type) -> bool:
    if is_dyn(a) or a.kind == "param":
        return True
    if is_dyn(b) or b.kind == "param" or a.kind != b.kind:
        return False
    if a.kind == "type":
        return True
    if a.kind in ("opaque", "list", "map"):
        same = a.name == b.name and len(a.params) == len(b.params)
        return same and all(map(_is_no_more_specific, a.params, b.params))
    return a == b


def _nullable(type_: Type) -> bool:
    return type_.kind in ("null", "opaque", "struct", "timestamp", "duration")
