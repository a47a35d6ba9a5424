"""JSON Schemas of our kinds, from their definitions, for editors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from function.publish import xrd
from function.publish.catalog import Kind

ALL = "modelplane.json"
"""The file of the schema for files that hold objects of any kind."""
_DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest draft that yaml-language-server supports in full."""
_KUBERNETES = "x-kubernetes-"
_OPEN = "x-kubernetes-preserve-unknown-fields"
_METADATA = {
    "description": "Name, namespace, labels and annotations.",
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 253},
        "namespace": {"type": "string", "maxLength": 63},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


def of(kind: Kind) -> dict[str, Any]:
    """The schema of the objects of a kind. Unknown fields are errors, as they are for `modelplane validate`."""
    whole = xrd.schema(kind)
    head = {
        "apiVersion": {"const": kind.api_version},
        "kind": {"const": kind.kind, "description": kind.description},
        "metadata": _METADATA,
    }
    return {
        "$schema": _DRAFT,
        "title": kind.kind,
        "description": kind.description,
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", *whole.get("required", ())],
        "properties": {**head, **_fields(whole["properties"])},
        "additionalProperties": False,
    }


def _fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """spec and status. Crossplane adds fields of its own to both."""
    found = {name: _converted(field) for name, field in fields.items()}
    found["spec"]["properties"]["crossplane"] = {"description": "Written by Crossplane.", "type": "object"}
    found.get("status", {}).pop("additionalProperties", None)
    return found


def file_name(kind: Kind) -> str:
    return f"{kind.kind.lower()}.json"


def of_all(kinds: Iterable[Kind]) -> dict[str, Any]:
    """The schema of the objects of all kinds, which refers to the files of the others. Other objects pass."""
    return {
        "$schema": _DRAFT,
        "title": "Modelplane",
        "type": "object",
        "allOf": [{"if": _is_of(kind), "then": {"$ref": file_name(kind)}} for kind in kinds],
    }


def _is_of(kind: Kind) -> dict[str, Any]:
    head = {"apiVersion": {"const": kind.api_version}, "kind": {"const": kind.kind}}
    return {"required": list(head), "properties": head}


def _converted(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A structural schema of Kubernetes as JSON Schema: rules in CEL are left out, since no editor knows them."""
    converted = {key: value for key, value in schema.items() if not key.startswith(_KUBERNETES)}
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            converted[name] = _converted(schema[name])
    if "properties" in schema:
        converted["properties"] = {name: _converted(field) for name, field in schema["properties"].items()}
        if not schema.get(_OPEN):
            converted["additionalProperties"] = False
    return converted
