"""Convert a model into a structural schema of Kubernetes: references inlined, no unions, no nulls, no titles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.schema.fields import WORDS
from function.schema.model import Api

_NOT_STRUCTURAL = ("$defs", "title", "propertyNames")
_FIRST = ("description", "type", "format", "enum", "default")
_LAST = ("x-kubernetes-validations", "required", "properties", "items", "additionalProperties")

Defs = Mapping[str, dict[str, Any]]


def structural(model: type[Api]) -> dict[str, Any]:
    """Return the schema of a model, its keys in the order in which a person would write them."""
    schema = model.model_json_schema()
    return _structural(schema, schema.get("$defs", {}))


def _structural(node: dict[str, Any], defs: Defs) -> dict[str, Any]:
    node = _in_words(_without_empty_default(_resolved(node, defs)))
    return {key: _child(key, node[key], defs) for key in sorted(node, key=_place) if key not in _NOT_STRUCTURAL}


def _child(key: str, value: Any, defs: Defs) -> Any:
    match key, value:
        case "properties", dict():
            return {name: _structural(schema, defs) for name, schema in value.items()}
        case (("items" | "additionalProperties"), dict()):
            return _structural(value, defs)
        case _:
            return value


def _resolved(node: dict[str, Any], defs: Defs) -> dict[str, Any]:
    """Inline a node's reference, or simplify its constant or its "X or null"."""
    if "$ref" in node:
        return _resolved(defs[node["$ref"].rpartition("/")[2]] | _without(node, "$ref"), defs)
    if "anyOf" in node and "x-kubernetes-int-or-string" not in node:
        [only] = [option for option in node["anyOf"] if option.get("type") != "null"]  # any other union is an error
        return _resolved(only | _without(node, "anyOf"), defs)
    if "const" in node:
        return _without(node, "const") | {"enum": [node["const"]]}
    return node


def _without_empty_default(node: dict[str, Any]) -> dict[str, Any]:
    """Drop an empty default, which the API server would write into every object, and what is null in another."""
    default = node.get("default")
    if isinstance(default, dict):
        default = {field: value for field, value in default.items() if value is not None}
        node = {**node, "default": default}
    return node if "default" not in node or default not in (None, [], {}) else _without(node, "default")


def _in_words(node: dict[str, Any]) -> dict[str, Any]:
    """Add the meaning of a pattern to the description, because `kubectl explain` shows no patterns."""
    if not node.get(WORDS):
        return _without(node, WORDS)
    description = f"{node.get('description', '')} Must be {node[WORDS]}.".lstrip()
    return _without(node, WORDS) | {"description": description}


def _without(node: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in keys}


def _place(key: str) -> tuple[int, str]:
    if key in _FIRST:
        return _FIRST.index(key) - len(_FIRST), ""
    return (1 + _LAST.index(key), "") if key in _LAST else (0, key)
