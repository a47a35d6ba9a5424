"""Admission of the API server: defaults, pruning, structural schema, CEL rules. The default `Admit` extension.

Phases for an object whose spec is new or changed: drop nulls, fill in defaults, prune unknown fields, check the
structural schema, and, if that holds, evaluate the CEL rules. If only the status changed, only its schema is checked.

Kinds without an XRD are admitted as they are, except for Secrets: their `stringData` becomes `data`.

Deliberately coarse: a rule's cost is not limited here, and formats are not checked.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from function import cel
from function.core import Manifest
from function.sandbox.errors import Refused
from function.sandbox.schemas import Schema, ServedKind

FieldPath = tuple[str | int, ...]
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_SECRET = ("v1", "Secret")
_OLD = re.compile(r"\boldSelf\b")
_PRESERVE = "x-kubernetes-preserve-unknown-fields"


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of the schema: a path and what is wrong there."""

    path: FieldPath
    message: str

    def __str__(self) -> str:
        return f"{spelled(self.path)}: {self.message}"


@dataclass(frozen=True, slots=True)
class Admission:
    """Admits objects by the schemas of their kinds."""

    def __call__(self, kind: ServedKind, manifest: dict[str, Any], old: Manifest | None) -> None:
        if not kind.is_composite:
            if (kind.api_version, kind.kind) == _SECRET:
                _encode(manifest)
            return
        if old is not None and _same_spec(manifest, old):
            faults = [*violations_of(manifest.get("status") or {}, _status(kind.schema), ("status",))]
        else:
            drop_nulls(manifest)
            fill(manifest, kind.schema)
            prune(manifest, kind.schema)
            faults = [*violations_of(manifest, kind.schema)] or [*broken_rules(manifest, old, kind.schema)]
        if faults:
            name = (manifest.get("metadata") or {}).get("name")
            raise Refused(f"{kind.kind} {name}: {'; '.join(map(str, faults))}")


def _encode(secret: dict[str, Any]) -> None:
    """Move the plain values of a Secret to `data`, where they win. Raises Refused, without a value."""
    plain = secret.pop("stringData", None)
    if plain is None:
        return
    if not isinstance(plain, Mapping) or not all(isinstance(value, str) for value in plain.values()):
        raise Refused(f"Secret {(secret.get('metadata') or {}).get('name')}: stringData: must be a map of strings")
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in plain.items()}
    secret["data"] = {**(secret.get("data") or {}), **encoded}


def _same_spec(new: Manifest, old: Manifest) -> bool:
    """Whether two objects have the same spec, except for Crossplane's part. An admitted spec is not checked again."""
    specs = [{k: v for k, v in (m.get("spec") or {}).items() if k != "crossplane"} for m in (new, old)]
    return specs[0] == specs[1]


def _status(schema: Schema) -> Schema:
    return (schema.get("properties") or {}).get("status") or {}


def broken_rules(manifest: Manifest, old: Manifest | None, schema: Schema) -> Iterator[Violation]:
    """The CEL rules that an object violates. A rule that uses oldSelf is skipped if there is no old value."""
    for path, value, before, rule in _rules(manifest, old, schema, ()):
        if before is None and _OLD.search(rule["rule"]):
            continue
        problem = _broken(rule, value, before)
        if problem:
            yield Violation((*path, *filter(None, (rule.get("fieldPath") or "").split("."))), problem)


def _broken(rule: Schema, value: Any, old: Any) -> str:
    """Why a rule does not hold for a value; empty if it holds."""
    try:
        holds = cel.rule(rule["rule"]).evaluate(self=value, oldSelf=old)
    except cel.EvaluationFailed as error:
        return f"rule {rule['rule']} cannot be evaluated: {error}"
    return "" if holds else rule.get("message") or f"failed rule: {rule['rule']}"


def drop_nulls(value: Any) -> None:
    """Drop fields that are null, as the API server does with fields that are not nullable. List items stay."""
    if isinstance(value, dict):
        for name in [name for name, child in value.items() if child is None]:
            del value[name]
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        drop_nulls(child)


def fill(value: Any, schema: Schema) -> None:
    """Fill in defaults. A missing object is not created for the defaults of its fields."""
    if isinstance(value, dict):
        for name, child in (schema.get("properties") or {}).items():
            if name not in value and "default" in child:
                value[name] = child["default"]
            if name in value:
                fill(value[name], child)
        for child in value.values() if _more(schema) else ():
            fill(child, _more(schema))
    elif isinstance(value, list):
        for item in value:
            fill(item, schema.get("items") or {})


def prune(value: Any, schema: Schema) -> None:
    """Drop fields that the schema does not know."""
    if isinstance(value, list):
        for item in value:
            prune(item, schema.get("items") or {})
    if not isinstance(value, dict) or schema.get(_PRESERVE):
        return
    properties = schema.get("properties") or {}
    if properties and not schema.get("additionalProperties"):
        for name in [name for name in value if name not in properties and not _is_open(name)]:
            del value[name]
    for name, child in value.items():
        prune(child, properties.get(name) or _more(schema))


def violations_of(value: Any, schema: Schema, path: FieldPath = ()) -> Iterator[Violation]:
    """The violations of a structural schema by a value."""
    wanted = schema.get("type")
    if value is None:
        if not schema.get("nullable"):
            yield Violation(path, f"must be {_a(wanted or 'value')}, not null")
        return
    if wanted and not _is_a(wanted, value):
        yield Violation(path, f"must be {_a(wanted)}, not {_shown(value)}")
        return
    yield from (Violation(path, message) for message in _limits(value, schema))
    yield from _below(value, schema, path)


def spelled(path: FieldPath) -> str:
    """A path as `spec.items[0].name`; `object` if it is empty."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".") or "object"


def _below(value: Any, schema: Schema, path: FieldPath) -> Iterator[Violation]:
    if isinstance(value, Mapping):
        for name in schema.get("required") or ():
            if name not in value:
                yield Violation((*path, name), "is required")
        properties = schema.get("properties") or {}
        for name, child in value.items():
            if name in properties or _more(schema):
                yield from violations_of(child, properties.get(name) or _more(schema), (*path, name))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from violations_of(item, schema.get("items") or {}, (*path, index))
        yield from _doubles(value, schema, path)


def _doubles(value: list[Any], schema: Schema, path: FieldPath) -> Iterator[Violation]:
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    seen = set()
    for index, item in enumerate(value if keys else ()):
        key = tuple(item.get(k) for k in keys) if isinstance(item, Mapping) else ()
        if key in seen:
            yield Violation((*path, index), f"there is another item with the same {' and '.join(keys)}")
        seen.add(key)


def _limits(value: Any, schema: Schema) -> Iterator[str]:
    if "enum" in schema and value not in schema["enum"]:
        yield f"must be one of {', '.join(map(_shown, schema['enum']))}, not {_shown(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _bounds(value, schema, ("minimum", "maximum"), "", value)
    if isinstance(value, str):
        yield from _bounds(len(value), schema, ("minLength", "maxLength"), " characters long", value)
        if "pattern" in schema and not _pattern(schema["pattern"]).search(value):
            yield f"must match {schema['pattern']}, which {_shown(value)} does not"
    if isinstance(value, list):
        yield from _bounds(len(value), schema, ("minItems", "maxItems"), " items long", f"{len(value)} items")
    if isinstance(value, Mapping):
        yield from _bounds(len(value), schema, ("minProperties", "maxProperties"), " fields", f"{len(value)} fields")


def _bounds(size: float, schema: Schema, bounds: tuple[str, str], unit: str, value: Any) -> Iterator[str]:
    least, most = bounds
    if least in schema and size < schema[least]:
        yield f"must be at least {schema[least]}{unit}, not {_shown(value)}"
    if most in schema and size > schema[most]:
        yield f"must be at most {schema[most]}{unit}, not {_shown(value)}"


def _rules(value: Any, old: Any, schema: Schema, path: FieldPath) -> Iterator[tuple[FieldPath, Any, Any, Schema]]:
    """Every rule that applies to a value or below it, with its path, the value there, and the old one."""
    if value is None:
        return
    for rule in schema.get("x-kubernetes-validations") or ():
        yield path, value, old, rule
    if isinstance(value, Mapping):
        properties = schema.get("properties") or {}
        for name, child in value.items():
            before = old.get(name) if isinstance(old, Mapping) else None
            yield from _rules(child, before, properties.get(name) or _more(schema), (*path, name))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _rules(item, _same_item(item, old, schema), schema.get("items") or {}, (*path, index))


def _same_item(item: Any, old: Any, schema: Schema) -> Any:
    """The old item with the same keys; None for a list without keys."""
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    if not keys or not isinstance(old, list) or not isinstance(item, Mapping):
        return None
    return next((o for o in old if isinstance(o, Mapping) and all(o.get(k) == item.get(k) for k in keys)), None)


def _more(schema: Schema) -> Schema:
    more = schema.get("additionalProperties")
    return more if isinstance(more, Mapping) else {}


def _is_open(name: str) -> bool:
    """Whether a field exists in every object and is checked elsewhere."""
    return name in ("apiVersion", "kind", "metadata")


def _is_a(wanted: str, value: Any) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[wanted])


def _a(wanted: str) -> str:
    return f"an {wanted}" if wanted[0] in "aeio" else f"a {wanted}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004  (a line of a terminal)


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)
