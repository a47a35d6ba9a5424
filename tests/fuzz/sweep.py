"""Every field of every kind, with every hostile value of `values`: what definitions declare, and nothing by hand.

A field is put to the test in an object that has it: a golden case, with what is observed and required there. A field
that no case has is put into one: with the spec of an example that has it, or made by its schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from function.publish import xrd
from function.publish.catalog import BY_KIND, KINDS, Kind
from tests.fuzz import places, templates, values
from tests.fuzz.attempts import Attempt, Change
from tests.support.admission import is_admitted
from tests.support.cases import CASES, documents
from tests.support.specs import SPECS

Field = tuple[str, ...]
"""A path of a schema, `[]` for the items of a list and `*` for the values of a map."""
_PARTS = ("spec", "status")


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a field is put to the test."""

    attempt: Attempt
    """What makes the object that has the field. No change, if a golden case has it."""
    path: places.Path


def fields(kind: Kind) -> dict[Field, Mapping[str, Any]]:
    """Return the schema of every field of a kind, also of those in pod templates."""
    found = dict(_fields(xrd.schema(kind), ()))
    return {field: schema for field, schema in found.items() if field and field[0] in _PARTS}


def attempts(kinds: tuple[Kind, ...] = KINDS) -> list[Attempt]:
    """Return all attempts of a sweep, the same in the same order each time."""
    return list(_all(kinds))


def _all(kinds: tuple[Kind, ...]) -> Iterator[Attempt]:
    for kind in kinds:
        for field, schema in fields(kind).items():
            at = reached(kind, field)
            for value in _values(field, schema):
                yield Attempt(at.attempt.case, (*at.attempt.changes, Change("xr", 0, at.path, value)))


def counts(kinds: tuple[Kind, ...] = KINDS) -> dict[str, int]:
    """Return how many kinds, fields and values a sweep has, and the fields that no valid sample has."""
    swept = [(kind, field, schema) for kind in kinds for field, schema in fields(kind).items()]
    return {
        "kinds": len(kinds),
        "fields": len(swept),
        "attempts": sum(1 for _, field, schema in swept for _ in _values(field, schema)),
        "in no valid sample": sum(not is_valid(kind, reached(kind, field).attempt) for kind, field, _ in swept),
    }


def _values(field: Field, schema: Mapping[str, Any]) -> Iterator[Any]:
    """A pod template has a thousand fields of Kubernetes' own, which all are checked alike: each gets a few values."""
    return values.systematic(schema, is_brief="template" in field[:-1])


def _fields(schema: Mapping[str, Any], path: Field) -> Iterator[tuple[Field, Mapping[str, Any]]]:
    if path[-1:] == ("template",):
        schema = templates.schema()
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from _fields(child, (*path, name))
    for step, below in (("*", schema.get("additionalProperties")), ("[]", schema.get("items"))):
        if isinstance(below, Mapping):
            yield from _fields(below, (*path, step))


# Objects that have a field


@cache
def reached(kind: Kind, field: Field) -> Reached:
    """Return an object that has a field, with as much observed as there is."""
    for sources in (_in_cases(kind), _in_specs(kind)):
        if field in sources:
            attempt, path = sources[field]
            return Reached(attempt, path)
    return _made(kind, field)


@cache
def _in_cases(kind: Kind) -> dict[Field, tuple[Attempt, places.Path]]:
    found: dict[Field, tuple[Attempt, places.Path]] = {}
    for case in _cases(kind):
        for field, path in _within(documents(case / "xr.yaml")[0], xrd.schema(kind)):
            found.setdefault(field, (Attempt(case, ()), path))
    return found


@cache
def _in_specs(kind: Kind) -> dict[Field, tuple[Attempt, places.Path]]:
    """As in cases, for the specs of examples and samples, each in the case where most is observed."""
    found: dict[Field, tuple[Attempt, places.Path]] = {}
    for spec in SPECS.get((kind.api_version, kind.kind), ()):
        attempt = Attempt(_cases(kind)[0], (Change("xr", 0, ("spec",), spec),))
        for field, path in _within({"spec": spec}, xrd.schema(kind)):
            found.setdefault(field, (attempt, path))
    return found


@cache
def _cases(kind: Kind) -> list[Path]:
    """The golden cases of a kind that its definition takes, those first in which most is observed."""
    mine = [case for case in CASES if case.parent.name == kind.kind.lower()]
    sound = [case for case in mine if is_admitted(documents(case / "xr.yaml")[0])]
    return sorted(sound, key=lambda case: (-len(documents(case / "observed.yaml")), case.name))


def _within(
    value: Any, schema: Mapping[str, Any], field: Field = (), path: places.Path = ()
) -> Iterator[tuple[Field, places.Path]]:
    """Yield the fields of a schema that a value has, and where."""
    yield field, path
    if field[-1:] == ("template",):
        schema = templates.schema()
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, child in value.items() if isinstance(value, Mapping) else ():
        if name in known:
            yield from _within(child, known[name], (*field, name), (*path, name))
        elif isinstance(others, Mapping):
            yield from _within(child, others, (*field, "*"), (*path, name))
    for index, item in enumerate(value if isinstance(value, list) else ()):
        yield from _within(item, schema.get("items", {}), (*field, "[]"), (*path, index))


def _made(kind: Kind, field: Field) -> Reached:
    """Return the object that has most of the way to a field, with the rest of the way made by its schema."""
    parent = reached(kind, field[:-1]) if len(field) > 1 else Reached(Attempt(_cases(kind)[0], ()), ())
    step: str | int = {"[]": 0, "*": "a"}.get(field[-1], field[-1])
    path = (*parent.path, step)
    made = values.minimal(fields(kind)[field])
    changes = (Change("xr", 0, path, made), *_chosen(fields(kind).get(field[:-1], {}), parent.path, field[-1]))
    return Reached(Attempt(parent.attempt.case, (*parent.attempt.changes, *changes)), path)


def _chosen(parent: Mapping[str, Any], path: places.Path, name: str) -> Iterator[Change]:
    """Where one field says which of its siblings is there, as `source` does: say that it is this one, and no other."""
    for chooser, schema in parent.get("properties", {}).items():
        options = {option.lower(): option for option in schema.get("enum", ())}
        if name.lower() in options:
            yield Change("xr", 0, (*path, chooser), options[name.lower()])
            others = (other for other in parent["properties"] if other.lower() in options and other != name)
            yield from (Change("xr", 0, (*path, other), None) for other in others)


def is_valid(kind: Kind, attempt: Attempt) -> bool:
    """Return whether the definition takes the object that an attempt makes. If not, no sample of ours has the field."""
    if not attempt.changes:
        return True
    xr = documents(attempt.case / "xr.yaml")[0]
    for change in attempt.changes:
        xr = places.replaced(xr, change.path, change.value)
    return (kind.api_version, kind.kind) in BY_KIND and is_admitted(xr)
