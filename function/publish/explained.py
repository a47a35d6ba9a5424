"""Descriptions as `kubectl explain` shows them.

It prints a field's name, type, enumeration and description, and none of its bounds, its default or the rules about a
change of it (kubectl v1.36, pkg/explain/v2/templates). So a published description says those, too. The reference has a
column for them, and editors read them from the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]


def explained(schema: Schema) -> dict[str, Any]:
    """Return a schema in which every description says what the field accepts and what follows from a change."""
    return _explained(schema, "")


def _explained(schema: Schema, refusal: str) -> dict[str, Any]:
    texts = [schema.get("description", ""), *_sentences(schema), *([refusal] if refusal else [])]
    found = dict(schema)
    if text := " ".join(filter(None, texts)):
        found["description"] = text
    refusals = dict(_refusals(schema))
    if "properties" in schema:
        fields = schema["properties"].items()
        found["properties"] = {name: _explained(field, refusals.get(name, "")) for name, field in fields}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            found[key] = _explained(schema[key], "") if schema[key].get("description") else _inside(schema[key])
    return found


def _inside(schema: Schema) -> dict[str, Any]:
    """Explain the fields of a list's items, which have no description of their own."""
    found = _explained(schema, "")
    found.pop("description", None)
    return found


def _sentences(schema: Schema) -> Iterator[str]:
    described = schema.get("description", "").lower()
    if bounds := _bounds(schema):
        yield bounds
    default = schema.get("default")
    if default is not None and not isinstance(default, Mapping | list) and "default" not in described:
        yield f"Defaults to {_plainly(default)}."


def _bounds(schema: Schema) -> str:
    for least, most, noun in (
        ("minimum", "maximum", ""),
        ("minItems", "maxItems", "item"),
        ("minProperties", "maxProperties", "entry"),
        ("minLength", "maxLength", "character"),
    ):
        if most in schema:
            is_told = re.search(rf"\b{schema[most]}\b", schema.get("description", ""))
            return "" if is_told else _range(schema.get(least, 0), schema[most], noun)
    return f"At least {schema['minimum']}." if "minimum" in schema else ""


def _range(least: int, most: int, noun: str) -> str:
    nouns = {"": "", "entry": " entries"}.get(noun, f" {noun}s")
    if noun and least == most:
        return f"Exactly {least}{nouns if least != 1 else f' {noun}'}."
    if noun and least <= 1:
        return f"At most {most}{nouns if most != 1 else f' {noun}'}."
    return f"From {least} to {most}{nouns}."


def _refusals(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield the fields whose change a rule refuses, each with a sentence that says so."""
    for rule in schema.get("x-kubernetes-validations", ()):
        name = rule.get("fieldPath", "").lstrip(".")
        field = schema.get("properties", {}).get(name)
        is_told = "cannot be changed" in (field or {}).get("description", "").lower()
        if "oldSelf" in rule["rule"] and field is not None and not is_told:
            yield name, f"A change is refused: {rule['message']}."


def _plainly(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
