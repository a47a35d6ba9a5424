"""The types of Kubernetes' pod template, read from its own OpenAPI document.

`schema.json` is data of the Kubernetes project: the definition PodTemplateSpec and all that it refers to, of the oldest
Kubernetes that Modelplane supports, without descriptions. tests/unit/podspec/test_definitions.py writes it anew from
the package kubernetes-validate, and compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

QUANTITY, INT_OR_STRING, TIME = "Quantity", "IntOrString", "Time"
"""Definitions that are values, and are spelled out in no schema."""


@dataclass(slots=True)
class Type:
    """The type of a value."""

    kind: str
    """object, map, list, string, int32, int64, boolean, Quantity, IntOrString, Time, or any."""
    definition: str = ""
    """For an object: the name of its definition, such as Container."""
    fields: dict[str, Type] = field(default_factory=dict)
    """For an object: the types of its fields."""
    required: tuple[str, ...] = ()
    """For an object: the fields that it must have."""
    items: Type | None = None
    """For a list or a map: the type of its items."""
    keys: tuple[str, ...] = ()
    """For a list: the fields by which Kubernetes identifies its items, so that they must differ."""


def _load() -> Mapping[str, Any]:
    document: Mapping[str, Any] = json.loads(files("function.podspec").joinpath("schema.json").read_text())
    return document


_DOCUMENT = _load()
VERSION: str = _DOCUMENT["version"]
"""The version of Kubernetes whose schema this is."""
_DEFINITIONS: Mapping[str, Any] = _DOCUMENT["definitions"]
_known: dict[str, Type] = {}


def definition(name: str) -> Type:
    """Return the type of a definition by its short name."""
    if name in (QUANTITY, INT_OR_STRING, TIME):
        return Type(name)
    if name not in _known:
        _known[name] = found = Type("object", name)
        schema = _DEFINITIONS[name]
        found.fields = {key: _type(child) for key, child in schema.get("properties", {}).items()}
        found.required = tuple(schema.get("required", ()))
        if not found.fields:
            found.kind = "any"
    return _known[name]


def _type(schema: Mapping[str, Any]) -> Type:
    if "$ref" in schema:
        return definition(schema["$ref"])
    match schema.get("type"):
        case "array":
            keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
            return Type("list", items=_type(schema["items"]), keys=keys)
        case "object" if "additionalProperties" in schema:
            return Type("map", items=_type(schema["additionalProperties"]))
        case "integer":
            return Type(schema["format"])
        case "string" | "boolean" as kind:
            return Type(kind)
        case _:
            return Type("any")


TEMPLATE = definition("PodTemplateSpec")


def definitions() -> Mapping[str, Type]:
    """Return every definition that a template can contain, by name."""
    return dict(_known)
