"""Foreign kinds as their own API servers check them: schemas, unknown fields, CEL rules.

Built-in kinds by kubernetes-validate (strict), the others by the schemas in tests/data/crds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate

from function import cel

CRDS = Path(__file__).parents[1] / "data" / "crds"
KUBERNETES = "1.34"
"""The oldest that serves DRA: what it takes, newer ones do."""


def problems(manifest: dict[str, Any]) -> list[str]:
    """What its API server would say against an object."""
    if _file(manifest["apiVersion"], manifest["kind"]).exists():
        return list(_custom(manifest))
    try:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{'.'.join(map(str, error.path))}: {error.message}"]
    return []


def _file(api_version: str, kind: str) -> Path:
    return CRDS / f"{api_version.replace('/', '_')}_{kind}.json"


def _custom(manifest: dict[str, Any]) -> Iterator[str]:
    schema = _schema(manifest["apiVersion"], manifest["kind"])
    body = _defaulted({k: v for k, v in manifest.items() if k not in ("apiVersion", "kind", "metadata")}, schema)
    for error in jsonschema.Draft202012Validator(schema["strict"]).iter_errors(body):
        yield f"{'.'.join(map(str, error.absolute_path))}: {error.message}"
    yield from _broken_rules(body, schema["as-is"], "")


@cache
def _schema(api_version: str, kind: str) -> dict[str, Any]:
    """As it is, and closed: a field that it does not name is an error."""
    as_is = json.loads(_file(api_version, kind).read_text())["schema"]
    body = {k: v for k, v in as_is["properties"].items() if k not in ("apiVersion", "kind", "metadata")}
    as_is = {**as_is, "properties": body, "required": [r for r in as_is.get("required", ()) if r in body]}
    return {"as-is": as_is, "strict": _closed(as_is)}


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    closed = {k: v for k, v in schema.items() if k != "format"}
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    if "items" in schema:
        closed["items"] = _closed(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        closed["additionalProperties"] = _closed(schema["additionalProperties"])
    if "properties" in schema:
        closed["properties"] = {k: _closed(v) for k, v in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            closed.setdefault("additionalProperties", False)
    return closed


def _defaulted(value: Any, schema: dict[str, Any]) -> Any:
    """With the defaults that the API server fills in before it checks rules."""
    schema = schema.get("as-is", schema)
    if isinstance(value, list):
        return [_defaulted(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    known = schema.get("properties", {})
    filled = {k: v["default"] for k, v in known.items() if "default" in v and k not in value} | value
    others = schema.get("additionalProperties", {})
    others = others if isinstance(others, dict) else {}
    return {k: _defaulted(v, known.get(k, others)) for k, v in filled.items()}


def _broken_rules(value: Any, schema: dict[str, Any], path: str) -> Iterator[str]:
    for rule in schema.get("x-kubernetes-validations", ()):
        if "oldSelf" not in rule["rule"] and not _holds(rule["rule"], value):
            yield f"{path}: {rule.get('message') or rule['rule']}"
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _broken_rules(item, schema.get("items", {}), f"{path}[{i}]")
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _broken_rules(child, schema.get("properties", {}).get(key, {}), f"{path}.{key}")


def _holds(rule: str, value: Any) -> bool:
    """Of a word of CEL that is a field's name the rule speaks with underscores around it."""
    return cel.rule(re.sub("__([a-z]+)__", r"\1", rule)).evaluate(self=value)
