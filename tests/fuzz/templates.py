"""The schema of pod templates, of which our definitions declare only what composers read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from function.podspec.definitions import Type, definition

_SCALARS: Mapping[str, Mapping[str, Any]] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "int32": {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"type": "integer"},
    "Quantity": {"type": "string"},
    "Time": {"type": "string"},
}


@cache
def schema() -> Mapping[str, Any]:
    return _of(definition("PodTemplateSpec"))


def _of(type_: Type) -> Mapping[str, Any]:
    match type_.kind:
        case "object":
            fields = {name: _of(child) for name, child in type_.fields.items()}
            return {"type": "object", "required": list(type_.required), "properties": fields}
        case "map" if type_.items:
            return {"type": "object", "additionalProperties": _of(type_.items)}
        case "list" if type_.items:
            return {"type": "array", "items": _of(type_.items)}
        case kind:
            return _SCALARS.get(kind, {})
