"""The definition PodTemplateSpec of Kubernetes' OpenAPI document, as `function/podspec/schema.json` holds it.

Source: the package kubernetes-validate, which carries the document of each version. Descriptions are left out, and so
are the values that have no fields: quantities, times, and numbers that may be texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from tests.support.foreign import KUBERNETES

_ROOT = "io.k8s.api.core.v1.PodTemplateSpec"
_VALUES = ("Quantity", "IntOrString", "Time")


def text() -> str:
    """The whole file."""
    document = {
        "source": (
            f"Kubernetes v{KUBERNETES}.0, api/openapi-spec, definition {_ROOT} and what it refers to, as packaged by"
            f" kubernetes-validate {version('kubernetes-validate')}; without descriptions"
        ),
        "license": "Apache-2.0, The Kubernetes Authors",
        "version": KUBERNETES,
        "definitions": _definitions(original()),
    }
    return json.dumps(document, indent=1) + "\n"


def original(kind: str = "local") -> dict[str, Any]:
    """Every definition of the document, by its full name."""
    folder = files("kubernetes_validate").joinpath(f"kubernetes-json-schema/v{KUBERNETES}.0-{kind}")
    found: dict[str, Any] = json.loads(folder.joinpath("_definitions.json").read_text())["$defs"]
    return found


def strict() -> dict[str, Any]:
    """Every definition, each without fields that it does not name."""
    return original("local-strict")


def reached(definitions: dict[str, Any]) -> dict[str, Any]:
    """The definitions that a template can contain, by their full names."""
    found: dict[str, Any] = {}
    ahead = [_ROOT]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found[name] = definitions[name]
            ahead += [] if short(name) in _VALUES else [ref.rpartition("/")[2] for ref in _references(found[name])]
    return found


def short(name: str) -> str:
    return name.rpartition(".")[2]


def _definitions(definitions: dict[str, Any]) -> dict[str, Any]:
    found = {
        short(name): _converted(schema) for name, schema in reached(definitions).items() if short(name) not in _VALUES
    }
    assert len(found) == len(reached(definitions)) - len(_VALUES), "two definitions of one short name"
    return dict(sorted(found.items()))


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from [schema["$ref"]] if "$ref" in schema else []
        for child in schema.values():
            yield from _references(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from _references(child)


def _converted(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without words, and with short names."""
    if "$ref" in schema:
        return {"$ref": short(schema["$ref"].rpartition("/")[2])}
    keys, values = "x-kubernetes-list-map-keys", schema.get("additionalProperties")
    has_format = schema.get("format") and schema.get("type") != "object"
    fields = schema.get("properties", {})
    return {
        **({"type": _plain(schema["type"])} if "type" in schema else {}),
        **({"format": schema["format"]} if has_format else {}),
        **({"properties": {name: _converted(fields[name]) for name in sorted(fields)}} if fields else {}),
        **({"required": sorted(schema["required"])} if "required" in schema else {}),
        **({"items": _converted(schema["items"])} if "items" in schema else {}),
        **({"additionalProperties": _converted(values)} if isinstance(values, dict) else {}),
        **({keys: schema[keys]} if keys in schema else {}),
    }


def _plain(types: str | list[str]) -> str | list[str]:
    """A type without null, which the package adds where a field is optional."""
    if isinstance(types, str):
        return types
    rest = [name for name in types if name != "null"]
    return rest[0] if len(rest) == 1 else rest
