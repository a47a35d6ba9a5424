"""Reads a pod template: checks it as Kubernetes does, and brings it into one form.

Phases, in call order:

1. `_Reader` walks the template along Kubernetes' schema. It checks types, required fields and the tables, collects
   unknown fields, and builds a copy in one form. In that form, quantities are strings and whole numbers integers (JSON
   in protobuf has only doubles). Nulls, empty lists, empty maps of strings and most empty texts are left out, as the
   API server leaves them out (`tables.EMPTY_MEANS` has the others). An empty object stays, because `emptyDir: {}`
   means something.
2. Where the walk found nothing, `rules` check what fields mean together. They can rely on the types.
3. `reserved` finds fields that Modelplane sets itself.

Deliberately coarse: settings that few engines use (iSCSI, RBD, Windows, certificates of pods, sums of containers'
resources) are checked by type only. The API server of the cluster checks them when the pods are created, and its
refusal reaches the replica's condition. tests/conformance/template_differences.py lists them, with an example each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from function.core.manifest import is_list
from function.core.wording import closest
from function.podspec import definitions, reserved, rules, tables
from function.podspec.definitions import Type
from function.podspec.fault import Fault, Path, must_be, must_be_a, shown

MOST_BYTES = 320 * 1024
"""Limit for one template, as JSON. A gang has two in one object, and an Object of provider-kubernetes contains that
twice, desired and observed. etcd accepts 1.5 MiB (etcd v3.6, server/embed, DefaultMaxRequestBytes)."""
_QUANTITY = r"([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?"
"""apimachinery's grammar without a sign (k8s.io/apimachinery v0.36, pkg/api/resource, ParseQuantity)."""
_LONGEST_QUANTITY = 64
_AMOUNT = "a Kubernetes quantity such as 500m, 0.5, 8, 40Gi or 1.5e3"
_INT32 = 2**31
_EXACT = 2**53
"""JSON in protobuf has only doubles, which have all whole numbers up to here."""
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a template."""

    template: dict[str, Any]
    """The template in one form. Unknown fields are kept."""
    faults: tuple[Fault, ...]
    """What is not accepted. A template with faults must not be used."""
    unknown: tuple[Fault, ...]
    """Fields that Kubernetes does not know. The API server of a newer Kubernetes may know them."""


def read(template: Any) -> Reading:
    """Check a template, and return it in one form. Raises nothing."""
    reader = _Reader()
    read_ = reader.value(definitions.TEMPLATE, template, ())
    if not isinstance(read_, dict):
        return Reading({}, tuple(reader.faults), ())
    if nested := reserved.nested(read_):
        return Reading(read_, (nested,), ())
    found = reader.faults or [*_size(read_), *rules.faults(read_), *reserved.faults(read_)]
    return Reading(read_, tuple(found), tuple(reader.unknown))


def _size(template: Mapping[str, Any]) -> Iterator[Fault]:
    size = len(json.dumps(template, ensure_ascii=False).encode(errors="surrogatepass"))
    if size > MOST_BYTES:
        problem = f"has {size} bytes as JSON, and may have {MOST_BYTES}; mount what is longer from a file of the image"
        yield Fault((), problem, "rule")


class _Reader:
    """Walks a template along the schema, and collects what is wrong."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.unknown: list[Fault] = []

    def value(self, type_: Type, value: Any, path: Path) -> Any:
        """Return a value in one form. Collect what is wrong with it."""
        match type_.kind:
            case "object":
                return self._object(type_, value, path)
            case "map":
                return self._map(type_, value, path)
            case "list":
                return self._list(type_, value, path)
            case "any":
                return _untyped(value)
            case kind:
                accepted, convert = _SCALARS[kind]
                converted = convert(value)
                if converted is None:
                    self.faults.append(must_be(path, accepted, value))
                return converted

    def _object(self, type_: Type, value: Any, path: Path) -> Any:
        if not _is_map(value):
            self.faults.append(must_be_a(path, "a map of fields", value))
            return None
        self.faults.extend(_missing(type_, value, path))
        written = {}
        for name, child in value.items():
            if child is None or (child == "" and _is_unset_if_empty(type_, name)):
                continue
            converted = self._field(type_, str(name), child, (*path, str(name)))
            if converted or not _is_blank(type_.fields.get(name), converted):
                written[str(name)] = converted
        if type_.definition in tables.EXACTLY_ONE:
            self.faults.extend(_exactly_one(type_, written, path))
        return written

    def _field(self, type_: Type, name: str, value: Any, path: Path) -> Any:
        known = type_.fields.get(name)
        if known is None:
            meant = closest(name, type_.fields)
            hint = f"; did you mean {meant}?" if meant else ""
            problem = f"is not a field of Kubernetes {definitions.VERSION}{hint}"
            self.unknown.append(Fault(path, problem, "unknown-field"))
            return _untyped(value)
        field, refused = (type_.definition, name), len(self.faults)
        converted = self.value(known, value, path)
        if known.kind == "list":
            self.faults.extend(_items(field, known, converted or [], path))
        elif field in tables.TOLD and (converted is None or not _is_listed(field, converted)):
            self.faults[refused:] = [must_be(path, tables.accepted(field), value)]
        return converted

    def _map(self, type_: Type, value: Any, path: Path) -> Any:
        assert type_.items is not None
        if not _is_map(value):
            self.faults.append(must_be_a(path, "a map", value))
            return None
        return {str(key): self.value(type_.items, child, (*path, str(key))) for key, child in value.items()}

    def _list(self, type_: Type, value: Any, path: Path) -> Any:
        assert type_.items is not None
        if not is_list(value):
            self.faults.append(must_be_a(path, "a list", value))
            return None
        return [self.value(type_.items, child, (*path, index)) for index, child in enumerate(value)]


_MATCHES = {field: re.compile(form.pattern).fullmatch for field, form in tables.FORMS.items()}


def _is_map(value: Any) -> bool:
    return type(value) is dict or isinstance(value, Mapping)


@cache
def _required_of(definition: str) -> tuple[str, ...]:
    return (*definitions.definition(definition).required, *tables.REQUIRED.get(definition, ()))


def _missing(type_: Type, value: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Yield faults of required fields that an object does not have, or has without anything in them."""
    for name in _required_of(type_.definition):
        given = value.get(name)
        if given is None:
            yield Fault((*path, name), "is required", "required")
        elif given == "" and _is_unset_if_empty(type_, name):
            yield Fault((*path, name), "cannot be empty")
        elif type_.fields[name].kind == "list" and is_list(given) and not given:
            yield Fault((*path, name), "must have at least 1 item, not 0")


def _exactly_one(type_: Type, value: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Yield the fault of an object that has none, or two, of the fields of which it must have one."""
    besides = tables.EXACTLY_ONE[type_.definition]
    given = [name for name in value if name in type_.fields and name not in besides]
    may_be_later = any(name not in type_.fields for name in value)
    if len(given) > 1 or not (given or may_be_later):
        options = sorted(type_.fields.keys() - set(besides))
        has = " and ".join(given) if given else "none"
        listed = f"{', '.join(tables.USUAL)}, …" if type_.definition == "Volume" else ", ".join(options)
        yield Fault(path, f"must have exactly one of {listed}, and has {has}", "rule")


def _items(field: tables.Field, type_: Type, items: list[Any], path: Path) -> Iterator[Fault]:
    """Yield faults of the items of a list, of which the tables, or their keys, tell more than their types."""
    if field in tables.TOLD:
        for index, item in enumerate(items):
            if item is not None and not _is_listed(field, item):
                yield must_be((*path, index), tables.accepted(field), item)
    if field not in tables.MAY_REPEAT:
        yield from _repeated(type_, items, path)


def _is_listed(field: tables.Field, value: Any) -> bool:
    """Whether the tables accept a value of the right type."""
    if field in tables.ONE_OF:
        return value in tables.ONE_OF[field]
    if field in tables.BETWEEN and isinstance(value, int):
        least, most = tables.BETWEEN[field]
        return least <= value <= most
    if field in tables.FORMS:
        form = tables.FORMS[field]
        return len(value) <= form.longest and _MATCHES[field](value) is not None
    return True


def _repeated(type_: Type, items: list[Any], path: Path) -> Iterator[Fault]:
    """Yield a fault for each item with the keys of an item above it. Items that lack a key are not compared."""
    seen = set()
    for index, item in enumerate(items):
        key = tuple(item.get(name) for name in type_.keys) if isinstance(item, dict) else ()
        if not key or None in key:
            continue
        if key in seen:
            names = " and ".join(type_.keys)
            said = " and ".join(shown(path, part).strip('"') for part in key)
            yield Fault((*path, index), f"has the {names} of an item above it, {said}; each needs its own", "key")
        seen.add(key)


def _is_unset_if_empty(type_: Type, name: str) -> bool:
    """Whether an empty text stands for a field that is not set."""
    known = type_.fields.get(name)
    return known is not None and known.kind == "string" and (type_.definition, name) not in tables.EMPTY_MEANS


def _is_blank(type_: Type | None, value: Any) -> bool:
    """Whether the API server leaves a value out: null, an empty list, or an empty map of strings."""
    is_collection = type_ is not None and type_.kind in ("list", "map")
    return value is None or (is_collection and not value)


def _untyped(value: Any) -> Any:
    """Return a value of unknown type. JSON in protobuf has only doubles, so whole ones become integers."""
    if isinstance(value, Mapping):
        return {key: _untyped(child) for key, child in value.items()}
    if is_list(value):
        return [_untyped(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and abs(value) < _EXACT else None


def _int32(value: Any) -> int | None:
    whole = _whole(value)
    return whole if whole is not None and -_INT32 <= whole < _INT32 else None


def _amount(value: Any) -> str | None:
    whole = _whole(value)
    text = str(whole) if whole is not None else f"{value:.12g}" if isinstance(value, float) else value
    fits = isinstance(text, str) and len(text) <= _LONGEST_QUANTITY and re.fullmatch(_QUANTITY, text)
    return text if fits else None


def _whole_or_text(value: Any) -> int | str | None:
    return value if isinstance(value, str) else _int32(value)


def _time(value: Any) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(_TIME, value) else None


_SCALARS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "string": ("a string; numbers and yes, no, true and false are written in quotes", _text),
    "boolean": ("true or false", _flag),
    "int32": (f"a whole number from {-_INT32} to {_INT32 - 1}", _int32),
    "int64": ("a whole number", _whole),
    definitions.QUANTITY: (_AMOUNT, _amount),
    definitions.INT_OR_STRING: ("a whole number or a name", _whole_or_text),
    definitions.TIME: ("a time such as 2006-01-02T15:04:05Z", _time),
}
"""For each kind of scalar: what is accepted, and a function that returns the value in one form, or None."""
