"""Server-side apply: the fields of a manifest, merging, and removing fields that an owner no longer applies.

An apply has three steps (store.py): `fields` computes the fields of the applied manifest, `without` removes fields that
the same manager applied before and nobody applies now, and `merge` writes the applied fields over the rest. Lists merge
by key, as sets or as a whole, as the schema's `x-kubernetes-list-type` tells.

Values are stored ones: dicts and lists, which are faster to tell apart than mappings and sequences.

Deliberately coarse: every apply is forced, so conflicts do not exist; and ownership of a list item is by its keys only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from function.core import plain
from function.sandbox.schemas import Schema

Tree = Mapping[str, Any]
"""A set of fields, as `managedFields[].fieldsV1` writes it: f: a field, k: an item by its keys, v: a value of a set."""


def merge(live: Any, applied: Any, schema: Schema) -> Any:
    """A value after another was applied over it."""
    if isinstance(live, dict) and isinstance(applied, dict) and not _is_atomic_map(schema):
        merged = {k: merge(live.get(k), v, _property(schema, k)) for k, v in applied.items()}
        return {k: merged.get(k, v) for k, v in live.items()} | merged
    if isinstance(live, list) and isinstance(applied, list) and _keys(schema):
        return _merged_items(live, applied, schema)
    if isinstance(live, list) and isinstance(applied, list) and _is_set(schema):
        return [*live, *(item for item in applied if item not in live)]
    return plain(applied)


def covers(live: Any, applied: Any, schema: Schema) -> bool:
    """Whether applying a value over another changes nothing."""
    if isinstance(live, dict) and isinstance(applied, dict) and not _is_atomic_map(schema):
        return all(k in live and covers(live[k], v, _property(schema, k)) for k, v in applied.items())
    if isinstance(live, list) and isinstance(applied, list) and (_keys(schema) or _is_set(schema)):
        return bool(merge(live, applied, schema) == live)
    return bool(live == applied)


def fields(value: Any, schema: Schema) -> dict[str, Any]:
    """The fields that a value sets."""
    if isinstance(value, dict) and not _is_atomic_map(schema):
        return {f"f:{k}": fields(v, _property(schema, k)) for k, v in value.items()}
    if isinstance(value, list) and _keys(schema):
        return {_key(item, schema): {".": {}, **fields(item, _items(schema))} for item in value}
    if isinstance(value, list) and _is_set(schema):
        return {f"v:{json.dumps(item)}": {} for item in value}
    return {}


def without(value: Any, gone: Tree, kept: Sequence[Tree], schema: Schema) -> Any:
    """A value without the fields that nobody applies any more.

    Args:
        value: The live value.
        gone: The fields that one owner applied before.
        kept: The fields that this owner applies now, and those of each other owner.
        schema: The schema of the value.

    Returns:
        The value; None if nothing is left of it.
    """
    if isinstance(value, dict) and any(step.startswith("f:") for step in gone):
        return _without_fields(value, gone, kept, schema)
    if isinstance(value, list) and any(step[:2] in ("k:", "v:") for step in gone):
        return _without_items(value, gone, kept, schema)
    return value if kept else None


def _without_fields(value: Mapping[str, Any], gone: Tree, kept: Sequence[Tree], schema: Schema) -> Any:
    left: dict[str, Any] = {}
    for name, child in value.items():
        step = f"f:{name}"
        still = [tree[step] for tree in kept if step in tree]
        rest = without(child, gone[step], still, _property(schema, name)) if step in gone else child
        if rest is not None:
            left[name] = rest
    return left or (left if kept else None)


def _without_items(value: list[Any], gone: Tree, kept: Sequence[Tree], schema: Schema) -> Any:
    left = []
    for item in value:
        step = _key(item, schema) if _keys(schema) else f"v:{json.dumps(item)}"
        still = [tree[step] for tree in kept if step in tree]
        rest = without(item, gone[step], still, _items(schema)) if step in gone else item
        if rest is not None:
            left.append(rest)
    return left or (left if kept else None)


def _merged_items(live: list[Any], applied: list[Any], schema: Schema) -> list[Any]:
    by_key = {_key(item, schema): item for item in live}
    for item in applied:
        key = _key(item, schema)
        by_key[key] = merge(by_key.get(key), item, _items(schema))
    return list(by_key.values())


def _key(item: Any, schema: Schema) -> str:
    properties = _items(schema).get("properties") or {}
    values = {name: item.get(name, (properties.get(name) or {}).get("default")) for name in _keys(schema)}
    return "k:" + json.dumps(dict(sorted(values.items())), separators=(",", ":"))


def _keys(schema: Schema) -> Iterable[str]:
    found: Iterable[str] = schema.get("x-kubernetes-list-map-keys") or ()
    return found if schema.get("x-kubernetes-list-type") == "map" else ()


def _is_set(schema: Schema) -> bool:
    return schema.get("x-kubernetes-list-type") == "set"


def _is_atomic_map(schema: Schema) -> bool:
    return schema.get("x-kubernetes-map-type") == "atomic"


def _property(schema: Schema, name: str) -> Schema:
    known = (schema.get("properties") or {}).get(name)
    if known is None:
        known = schema.get("additionalProperties")
    return known if isinstance(known, Mapping) else {}


def _items(schema: Schema) -> Schema:
    return schema.get("items") or {}
