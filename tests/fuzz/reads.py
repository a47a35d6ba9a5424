"""Every field that composers read of what is observed and looked up, with every hostile value.

The fields are those that a composer asks an object of a golden case for, whether the object has them or not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from function import registry
from function.core import Manifest, plain
from function.sandbox.settle import settle
from tests.fuzz import places
from tests.fuzz.attempts import Attempt, Change, applied, there
from tests.support.cases import CASES

_IDENTITY = {"apiVersion", "kind", "name", "namespace", "uid", "ownerReferences", "labels"}
"""Of the metadata: written by API servers, or what a look-up goes by."""
_ANNOTATIONS = ("metadata", "annotations")
_VALUES: tuple[Any, ...] = (
    *(places.NULL, None, True, -7, 1e308, "", "x", [], [{"a": 1}], {"": ""}, {"a": {"b": [1]}}),
)
"""Of every type. The texts are names of everything: programs that write a status know the forms of their fields."""
_TEXTS: tuple[Any, ...] = (
    *(None, "", "x", "9" * 5000, "[" * 100_000, "[7]", '{"": ""}', '{"a": {"b": [1]}}'),
    *('{"spec": {"engines": NaN}}', '{"spec": {"a": 1e999}}', '{"spec": {"engines": [7]}, "between": [7]}'),
)
"""Of an annotation, which is a text to every API server. Composers read numbers and JSON in some."""
_FREE_KEY = re.compile(r".*[./].*")
"""A key that a user or a program made up, of a map."""
_BROKEN = (Change("xr", 0, ("spec",), 7),)
"""A spec that does not parse. What is held then is read from other places."""
_Field = tuple[str, str, str, str]
"""The kind of the XR, where the object is, its kind, and the path of a field, `[]` for items."""


class _Place(NamedTuple):
    """A field of an object of a golden case, whose spec may be broken."""

    case: Path
    where: str
    index: int
    path: places.Path
    spec: tuple[Change, ...]


class _Recorder(Mapping[str, Any]):
    """An object that notes which of its fields are read, those too that it does not have. A copy reads nothing."""

    def __init__(self, value: Mapping[str, Any], path: places.Path, read: set[places.Path]) -> None:
        self._value, self._path, self._read = value, path, read

    def __getitem__(self, key: str) -> Any:
        self._read.add((*self._path, key))
        return _recorded(self._value[key], (*self._path, key), self._read)

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __contains__(self, key: object) -> bool:
        return key in self._value

    def items(self) -> Any:
        is_copied = sys._getframe(1).f_code is plain.__code__
        return self._value.items() if is_copied else [(key, self[key]) for key in self._value]


def _recorded(value: Any, path: places.Path, read: set[places.Path]) -> Any:
    if isinstance(value, Mapping):
        return _Recorder(value, path, read)
    if isinstance(value, list):
        read.update((*path, index) for index in range(len(value[:1])))
        return [_recorded(item, (*path, index), read) for index, item in enumerate(value)]
    return value


def attempts(seed: int = 1) -> list[Attempt]:
    """Return attempts at every field that is read, the same in the same order for the same seed.

    The seed chooses the place of each field: what else is there decides what becomes of the value.
    """
    return [
        Attempt(place.case, (Change(place.where, place.index, place.path, value), *place.spec))
        for field, found in fields().items()
        for place in [Random(f"{seed}/{field}").choice(found)]
        for value in (_TEXTS if place.path[:2] == _ANNOTATIONS else _VALUES)
    ]


@cache
def fields() -> dict[_Field, list[_Place]]:
    """Return every field that is read, with every place that has it."""
    found: dict[_Field, list[_Place]] = {}
    for case in CASES:
        for spec in ((), _BROKEN):
            for kind, place in _read(case, spec):
                found.setdefault((case.parent.name, place.where, kind, _pattern(place.path)), []).append(place)
    return found


def _pattern(path: places.Path) -> str:
    return ".".join("[]" if isinstance(s, int) else "*" if _FREE_KEY.fullmatch(s) else s for s in path)


def _read(case: Path, spec: tuple[Change, ...]) -> Iterator[tuple[str, _Place]]:
    """Yield the places that a composer reads of a case, each with the kind of its object."""
    request, objects = applied(Attempt(case, spec))
    read: dict[tuple[str, int], set[places.Path]] = {}

    def recorded(where: str, manifests: Iterable[Manifest]) -> list[Manifest]:
        return [_Recorder(m, (), read.setdefault((where, i), set())) for i, m in enumerate(manifests)]

    observed = dict(zip(request.observed, recorded("observed", request.observed.values()), strict=True))
    [xr] = recorded("xr", [request.xr])
    settle(registry.compose, replace(request, xr=xr, observed=observed), recorded("required", objects))
    for (where, index), paths in read.items():
        kind = _kind(there(request, objects)[where][index])
        for path in sorted(paths, key=str):
            if _is_free(where, path):
                yield kind, _Place(case, where, index, path, spec)


def _is_free(where: str, path: places.Path) -> bool:
    """Whether somebody may have written anything there. Labels are what a look-up goes by.

    `sweep` has the spec of the XR.
    """
    if path[0] in ("apiVersion", "kind") or (where, path[0]) == ("xr", "spec"):
        return False
    if path[:2] == _ANNOTATIONS:
        return len(path) == 3
    return path[0] != "metadata" or (len(path) == 2 and path[1] not in _IDENTITY)


def _kind(manifest: Manifest) -> str:
    inner = manifest.get("spec")
    carried = inner.get("forProvider") if isinstance(inner, Mapping) else None
    carried = carried.get("manifest") if isinstance(carried, Mapping) else None
    of = f" of {carried.get('kind')}" if isinstance(carried, Mapping) else ""
    return f"{manifest.get('apiVersion')} {manifest.get('kind')}{of}"
