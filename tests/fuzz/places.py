"""Every place of an object at which a value can stand: those that its definition names, and those that it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from function.publish import xrd
from function.publish.catalog import BY_KIND
from tests.fuzz import hostile

Path = tuple[str | int, ...]
_IDENTITY = ("apiVersion", "kind", "metadata")
"""Written by API servers; what is wrong with it, the door finds (tests/unit/wire/test_malformed.py)."""
_TEXTS = ("labels", "annotations")
_TEXT: Mapping[str, Any] = {"enum": hostile.TEXTS}
_METADATA = {
    "properties": {
        name: {"properties": dict.fromkeys(hostile.KEYS, _TEXT), "additionalProperties": _TEXT} for name in _TEXTS
    }
}
"""Labels and annotations are texts to every API server."""


class _Null:
    """Stands for a null in a Change, whose None removes."""

    def __repr__(self) -> str:
        return "null"


NULL = _Null()


class Place(NamedTuple):
    path: Path
    schema: Mapping[str, Any]


def places(manifest: Mapping[str, Any]) -> list[Place]:
    """The places of an object, but for those of its identity."""
    schema = _schema(manifest.get("apiVersion"), manifest.get("kind"))
    schema = {**schema, "properties": {**schema.get("properties", {}), "metadata": _METADATA}}
    found = dict(_below(manifest, schema, ()))
    return [Place(path, found[path]) for path in sorted(found, key=str) if path and _is_free(path)]


def _is_free(path: Path) -> bool:
    """Of the metadata, single labels and annotations are free."""
    return path[0] not in _IDENTITY or any(path[:-1] == ("metadata", field) for field in _TEXTS)


def replaced(value: Any, path: Path, new: Any) -> Any:
    """A copy of a value with another one at a path. What is missing on the way is made, None removes, NULL is null."""
    if not path:
        return None if new is NULL else new
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(value) if isinstance(value, list) else []
        there = items[step] if step < len(items) else {}
        return [*items[:step], replaced(there, rest, new), *items[step + 1 :]]
    fields = dict(value) if isinstance(value, Mapping) else {}
    child = replaced(fields.get(step), rest, new)
    is_kept = child is not None or new is NULL
    return {**fields, step: child} if is_kept else {k: v for k, v in fields.items() if k != step}


@cache
def _schema(api_version: str, kind: str) -> Mapping[str, Any]:
    """The schema of a kind of ours as its definition publishes it. Of other kinds nothing is known."""
    if (api_version, kind) not in BY_KIND:
        return {}
    return xrd.schema(BY_KIND[api_version, kind])


def _below(value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    yield path, schema
    known = schema.get("properties", {})
    others = schema.get("additionalProperties")
    for name in {*known, *(value if isinstance(value, Mapping) else ())}:
        child = value.get(name) if isinstance(value, Mapping) else None
        below = known.get(name) or (others if isinstance(others, Mapping) else {})
        yield from _below(child, below, (*path, name))
    items = value if isinstance(value, list) else ([{}] if "items" in schema else [])
    for index, item in enumerate(items):
        yield from _below(item, schema.get("items", {}), (*path, index))
