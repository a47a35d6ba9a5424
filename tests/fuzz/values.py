"""Every value that does not belong at a place: of each wrong type, and at and beyond each bound of its schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from function import cel
from tests.fuzz import hostile
from tests.fuzz.places import NULL

Schema = Mapping[str, Any]
_DEEP = 8
"""Levels of a nested value. The objects around it have as many, and the protobuf of Python stops at 100 messages."""
_FEW = 4
"""Values of the right type for a place that gets few."""

_OF_EACH_TYPE: Mapping[str, tuple[Any, ...]] = {
    "null": (NULL, None),
    "boolean": (True,),
    "integer": (1, -7),
    "number": (0.5, 1e308),
    "string": ("x", ""),
    "array": ([], [None], [[]], [{"a": 1}]),
    "object": ({}, {"a": {"b": [1]}}, {"": ""}),
}
_NUMBERS = (0, 1, -1, 2**31 - 1, 2**31, 2**53, 2**53 + 2, -(2**63), 2**64, -0.0, 1e-300)
_TEXTS = (
    *("", " ", "\x00", "\x1b[2J", "a\r\nb", "\u202eabc", "\uffff", "\U0001f600", "e\u0301", "null", "../..", "a/b"),
    *("*", "%s%n", "{0.__class__}", "{field}", "$(PATH)", "`id`", "-a", "a-", "A", "a.b", "a..b", "a_b", "a:b", "a@b"),
    *("9" * 5000, "1Ei", "0x10", "1e9999", "-0", "٣", "NaN", "9999-12-31T23:59:60Z", "::ffff:10.0.0.1", "[::1"),
    *("http://[::1", "https://a:99999/", "https://u:p@a/?q#f", "a" * 64, "a" * 254, "a" * 1025, "(" * 300),
    *("modelplane-system", "kube-system", "true ||" * 50, "device.attributes['" + "a" * 300 + "']"),
)


_FORMS = (
    *("1.2.3", "v1.2.3", "1.36", "10.0.0.0/8", "10.0.0.0/16", "30s", "1", "/a", "/a/", "a.b"),
    *("https://a.example.org", "20%", "v1.36.1+3"),
)
"""Texts of the forms that definitions ask for."""


def systematic(schema: Schema, *, is_brief: bool = False) -> Iterator[Any]:
    """Yield hostile values for a place with a schema, each one once, in the same order each time: all, or a few."""
    known: set[str] = set()
    right = list(_right(schema))
    step = max(1, len(right) // _FEW) if is_brief else 1
    for value in (*_wrong(schema, 1 if is_brief else None), *right[::step]):
        key = repr(value)
        if key not in known:
            known.add(key)
            yield value


def minimal(schema: Schema) -> Any:
    """A value that a schema accepts, as small as it can be."""
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            known = schema.get("properties", {})
            return {name: minimal(known.get(name, {})) for name in schema.get("required", ())}
        case "array":
            return [minimal(schema.get("items", {}))] * schema.get("minItems", 0)
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return True
        case _:
            texts = ("a" * max(1, schema.get("minLength", 1)), *_FORMS)
            return next((text for text in texts if _has_form(text, schema)), texts[0])


def _has_form(text: str, schema: Schema) -> bool:
    rules = (cel.rule(rule["rule"]) for rule in schema.get("x-kubernetes-validations", ()))
    return re.search(schema.get("pattern", ""), text) is not None and all(rule.evaluate(self=text) for rule in rules)


def _wrong(schema: Schema, most: int | None) -> Iterator[Any]:
    """Yield values of the other types, and of no type: all of a type, or at most some."""
    for type_, values in _OF_EACH_TYPE.items():
        if type_ != schema.get("type"):
            yield from values[-most:] if most else values


def _right(schema: Schema) -> Iterator[Any]:
    match schema.get("type"):
        case "string":
            yield from _texts(schema)
        case "integer" | "number":
            yield from _numbers(schema)
        case "boolean":
            yield from (True, False)
        case "array":
            yield from _lists(schema)
        case "object":
            yield from _objects(schema)
        case _:
            yield from (*_TEXTS[:12], *_NUMBERS, {"a": "b"}, _nested())


def _texts(schema: Schema) -> Iterator[str]:
    for known in schema.get("enum", ()):
        yield from (known, known.lower(), f"{known} ", known[:-1])
    for bound in (schema.get("minLength"), schema.get("maxLength")):
        if bound is not None:
            yield from ("a" * length for length in (bound - 1, bound, bound + 1) if length >= 0)
    yield from _TEXTS


def _numbers(schema: Schema) -> Iterator[Any]:
    for bound in (schema.get("minimum"), schema.get("maximum")):
        if bound is not None:
            yield from (bound - 1, bound, bound + 1, bound + 0.5)
    yield from _NUMBERS


def _lists(schema: Schema) -> Iterator[list[Any]]:
    item = minimal(schema.get("items", {}))
    for bound in (schema.get("minItems"), schema.get("maxItems")):
        if bound is not None:
            yield from ([item] * length for length in (bound - 1, bound, bound + 1) if length >= 0)
    yield from ([], [None], [item, item], [item, None], [[item]], [item] * hostile.MANY)


def _objects(schema: Schema) -> Iterator[dict[str, Any]]:
    full = {name: minimal(child) for name, child in schema.get("properties", {}).items()}
    one = minimal(schema["additionalProperties"]) if isinstance(schema.get("additionalProperties"), Mapping) else "a"
    yield from ({}, full, {**full, "unknown": {"a": 1}}, dict.fromkeys(full), _nested())
    yield from ({key: json.loads(json.dumps(one))} for key in hostile.KEYS)
    if most := schema.get("maxProperties"):
        yield {f"k{i}": one for i in range(most + 1)}


def _nested() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(_DEEP):
        value = {"a": value}
    return value
