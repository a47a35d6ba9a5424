"""Objects of our kinds as an API server admits them, by the definitions that we publish."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema

from function import cel
from function.publish import xrd
from function.publish.catalog import BY_KIND, Kind
from function.schema import format_path

Object = dict[str, Any]
Broken = tuple[str, str]
"""The field and the message."""


def without_nulls(value: Any) -> Any:
    """A value without what the API server drops of it."""
    if isinstance(value, dict):
        return {name: without_nulls(child) for name, child in value.items() if child is not None}
    return value if not isinstance(value, list) else [without_nulls(item) for item in value]


def rules(
    value: Any, schema: dict[str, Any], path: tuple[str | int, ...] = ()
) -> Iterator[tuple[Any, dict[str, str], tuple[str | int, ...]]]:
    """Every rule that applies to a value or to what is in it."""
    for rule in schema.get("x-kubernetes-validations", ()):
        yield value, rule, path
    if isinstance(value, dict):
        for name, child in value.items():
            below = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
            if isinstance(below, dict):
                yield from rules(child, below, (*path, name))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from rules(item, schema.get("items", {}), (*path, index))


def defaulted(value: Any, schema: dict[str, Any]) -> Any:
    """A value with what the API server fills in before it looks at rules."""
    if isinstance(value, list):
        return [defaulted(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties", {})
    filled = {
        name: json.loads(json.dumps(child["default"])) for name, child in properties.items() if "default" in child
    }
    return {
        name: defaulted(child, properties.get(name) or schema.get("additionalProperties") or {})
        for name, child in (filled | value).items()
    }


def broken(xr: Object, old: Object | None = None) -> set[Broken]:
    """Rules that an object breaks, or a change of it."""
    schema = xrd.schema(BY_KIND[xr["apiVersion"], xr["kind"]])
    before = {format_path(path): value for value, _, path in rules(defaulted(old, schema), schema)} if old else {}
    found = set()
    for value, rule, path in rules(defaulted(xr, schema), schema):
        changes = "oldSelf" in rule["rule"]
        if changes and format_path(path) not in before:
            continue
        more = {"oldSelf": before[format_path(path)]} if changes else {}
        if not cel.rule(rule["rule"]).evaluate(self=value, **more):
            found.add((format_path((*path, *rule.get("fieldPath", "").split(".")[1:])), rule["message"]))
    return found


def is_admitted(xr: Object) -> bool:
    """Whether the API server would take an object, as far as its definition tells."""
    kind = BY_KIND[xr["apiVersion"], xr["kind"]]
    schema = xrd.schema(kind)
    xr = defaulted(without_nulls(xr), schema)
    return _validator(kind).is_valid(xr) and not any(doubles(xr, schema)) and not broken(xr)


@cache
def _validator(kind: Kind) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(xrd.schema(kind))


def doubles(value: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """Items of lists with keys that are there twice."""
    if isinstance(value, dict):
        for name, child in value.items():
            yield from doubles(
                child, schema.get("properties", {}).get(name) or schema.get("additionalProperties") or {}
            )
    if isinstance(value, list):
        [key] = schema.get("x-kubernetes-list-map-keys", [None])
        names = [item[key] for item in value] if key else []
        yield from (name for name in names if names.count(name) > 1)
        for item in value:
            yield from doubles(item, schema.get("items", {}))
