"""The Secrets, ConfigMaps and PersistentVolumeClaims that a pod template names.

The walk follows Kubernetes' schema: a reference is a value whose definition is in `_KINDS`. So it finds references
wherever Kubernetes allows them: in variables, envFrom, volumes, projected volumes, pull secrets, and in the credentials
of CSI and of older volumes. A test fails when the schema has a definition for such references that `_KINDS` lacks.

Templates need not be valid: what cannot be read names nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from function.core.manifest import is_list
from function.podspec import definitions
from function.podspec.definitions import Type
from function.podspec.fault import Path

SECRET, CONFIG_MAP = "Secret", "ConfigMap"


@dataclass(frozen=True, slots=True)
class Reference:
    """One place of a template that names a Secret or ConfigMap."""

    path: Path
    """Path of the field that holds the name."""
    kind: str
    name: str
    keys: frozenset[str] | None
    """The keys that are used. None for all of them."""
    optional: bool
    """Whether the pod starts if the object or a key does not exist."""


class _Kind(NamedTuple):
    """How a definition refers to an object."""

    kind: str
    field: str = "name"
    keys: str = ""
    """The field that names the keys: `key` for one, `items` for a list. Empty if the object is used as a whole."""


_KINDS: Mapping[str, _Kind] = {
    "AzureFileVolumeSource": _Kind(SECRET, "secretName"),
    "ConfigMapEnvSource": _Kind(CONFIG_MAP),
    "ConfigMapKeySelector": _Kind(CONFIG_MAP, keys="key"),
    "ConfigMapProjection": _Kind(CONFIG_MAP, keys="items"),
    "ConfigMapVolumeSource": _Kind(CONFIG_MAP, keys="items"),
    "LocalObjectReference": _Kind(SECRET),
    "SecretEnvSource": _Kind(SECRET),
    "SecretKeySelector": _Kind(SECRET, keys="key"),
    "SecretProjection": _Kind(SECRET, keys="items"),
    "SecretVolumeSource": _Kind(SECRET, "secretName", keys="items"),
}
"""Definitions that refer to a Secret or a ConfigMap. A LocalObjectReference of a pod always means a Secret."""
_CLAIM = "PersistentVolumeClaimVolumeSource"


def references(template: Any) -> Iterator[Reference]:
    """Yield every reference of a template to a Secret or a ConfigMap."""
    for path, definition, value in _objects(definitions.TEMPLATE, template, ()):
        kind = _KINDS.get(definition)
        name = value.get(kind.field) if kind else None
        if kind and isinstance(name, str) and name:
            keys = _keys(kind, value)
            yield Reference((*path, kind.field), kind.kind, name, keys, optional=value.get("optional") is True)


def claims(template: Any) -> Iterator[tuple[Path, str]]:
    """Yield the names of the PersistentVolumeClaims that a template mounts, with the path of the name."""
    for path, definition, value in _objects(definitions.TEMPLATE, template, ()):
        if definition == _CLAIM and isinstance(value.get("claimName"), str):
            yield (*path, "claimName"), value["claimName"]


def having(template: Any, fields: Container[str]) -> Iterator[tuple[Path, str]]:
    """Yield every field of a template's spec that has one of the names, wherever Kubernetes' schema has it.

    Returns the path of the field and the name of the definition that has it.
    """
    spec = template.get("spec") if isinstance(template, Mapping) else None
    for path, definition, value in _objects(definitions.TEMPLATE.fields["spec"], spec, ("spec",)):
        yield from ((((*path, field), definition)) for field in value if field in fields)


def by_definition(template: Any, name: str) -> Iterator[Any]:
    """Yield every object of a template that has a definition of the schema."""
    return (value for _, definition, value in _objects(definitions.TEMPLATE, template, ()) if definition == name)


def renamed(template: Mapping[str, Any], called: Callable[[str, str], str]) -> dict[str, Any]:
    """Return a deep copy of a template in which every reference has the name `called(kind, name)`."""
    copy: dict[str, Any] = _copied(template)
    for reference in references(template):
        holder: Any = copy
        for step in reference.path[:-1]:
            holder = holder[step]
        holder[reference.path[-1]] = called(reference.kind, reference.name)
    return copy


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(child) for key, child in value.items()}
    return [_copied(child) for child in value] if is_list(value) else value


def _keys(kind: _Kind, value: Mapping[str, Any]) -> frozenset[str] | None:
    if kind.keys == "key":
        key = value.get("key")
        return frozenset({key} if isinstance(key, str) else ())
    items = value.get(kind.keys) if kind.keys else None
    if not is_list(items) or not items:
        return None
    named = (item.get("key") for item in items if isinstance(item, Mapping))
    return frozenset(key for key in named if isinstance(key, str))


def _objects(type_: Type, value: Any, path: Path) -> Iterator[tuple[Path, str, Mapping[str, Any]]]:
    """Yield every object below a value that has a definition, with its path and the definition's name."""
    if type_.kind == "object" and isinstance(value, Mapping):
        yield path, type_.definition, value
        for name, child in value.items():
            if known := type_.fields.get(name):
                yield from _objects(known, child, (*path, name))
    elif type_.kind == "list" and is_list(value) and type_.items is not None:
        for index, child in enumerate(value):
            yield from _objects(type_.items, child, (*path, index))
