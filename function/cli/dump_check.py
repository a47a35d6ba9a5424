"""Checks the parts of dumped objects that an API server guarantees: metadata, references, conditions, status.

The control plane relies on them without checking. A dump that was edited by hand can violate them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from function.cli.documents import FieldPath
from function.cli.files import Loaded
from function.cli.values import BrokenFile
from function.core import dig_fields
from function.planning.control_plane import kinds
from function.sandbox.admission import spelled, violations_of
from function.vocabulary import versions

Shape: TypeAlias = str | dict[str, Any] | list[Any]
"""A scalar, a mapping with some fields, or a list. A field with an asterisk is required."""
_TEXT, _NUMBER = "text", "a whole number"
_SCALARS: Mapping[str, type] = {_TEXT: str, _NUMBER: int}

_REFERENCE: Shape = {"*apiVersion": _TEXT, "*kind": _TEXT, "*name": _TEXT, "namespace": _TEXT}
_OWNER: Shape = {"*kind": _TEXT, "*name": _TEXT, "uid": _TEXT}
_ANY: Shape = {
    "metadata": {"uid": _TEXT, "generation": _NUMBER, "ownerReferences": [_OWNER], "finalizers": [_TEXT]},
    "spec": {"crossplane": {"resourceRefs": [_REFERENCE]}},
    "status": {"conditions": [{"*type": _TEXT, "*status": _TEXT}]},
}
"""The shape of every object."""
_MANIFEST: Shape = {"*apiVersion": _TEXT, "*kind": _TEXT, "*metadata": {"*name": _TEXT, "namespace": _TEXT}}
_CARRIED: Shape = {"*spec": {"*forProvider": {"*manifest": _MANIFEST}}}
"""The shape of an Object of provider-kubernetes (v1.2)."""
_SHAPES: Mapping[tuple[str, str], Shape] = {
    (versions.PROVIDER_KUBERNETES, "Object"): _CARRIED,
    (versions.APPS, "Deployment"): {"*spec": {"replicas": _NUMBER}},
}
"""What more an object of a kind has."""


def faults(objects: Sequence[Loaded]) -> Iterator[BrokenFile]:
    """The violations in some objects, with their places in the files."""
    known = kinds()
    for one in objects:
        shapes = [_ANY, *([_SHAPES[one.kind]] if one.kind in _SHAPES else [])]
        found = list(dict.fromkeys(fault for shape in shapes for fault in _faults(one.manifest, shape, ())))
        kind = known.of(*one.kind)
        if kind.is_composite and not found:
            status = dig_fields(kind.schema, "properties", "status")
            found = [(f.path, f.message) for f in violations_of(one.manifest.get("status") or {}, status, ("status",))]
        for path, problem in found:
            yield BrokenFile(one.source.file, f"{spelled(path)} {problem}", one.source.position(path))


def _faults(value: Any, shape: Shape, path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    match shape:
        case dict() if not isinstance(value, Mapping):
            yield path, "must be a mapping"
        case dict():
            yield from _fields(value, shape, path)
        case list() if not isinstance(value, list):
            yield path, "must be a list"
        case list():
            for index, item in enumerate(value):
                yield from _faults(item, shape[0], (*path, index))
        case str() if not isinstance(value, _SCALARS[shape]):
            yield path, f"must be {shape}"


def _fields(value: Mapping[str, Any], shape: dict[str, Any], path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    for name, inner in shape.items():
        found = value.get(name.removeprefix("*"))
        here = (*path, name.removeprefix("*"))
        if found is not None:
            yield from _faults(found, inner, here)
        elif name.startswith("*"):
            yield here, "is missing"
