"""Warnings about ModelCallers: keys that two of them name, and keys that a Secret among the files lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.api.modelcaller import DEFAULT_KEY, KIND
from function.core import Manifest, NamespacedName, closest, dig, enumerate_names, identity
from function.validation.finding import Finding
from function.vocabulary import namespaces, versions

Indexed = tuple[int, Manifest]

_Key = tuple[str, str, str]
"""Namespace and name of a Secret, and a key of it."""


def findings(objects: Sequence[Indexed], others: Sequence[Manifest]) -> Iterator[Finding]:
    """Return the warnings about valid callers, among each other and the objects of other kinds."""
    ours = [(index, manifest) for index, manifest in objects if manifest["kind"] == KIND]
    yield from _shared(ours)
    secrets = {_placed(manifest): manifest for manifest in others if _is_secret(manifest)}
    for index, manifest in ours:
        yield from _missing(index, manifest, secrets)


def _shared(callers: Sequence[Indexed]) -> Iterator[Finding]:
    first: dict[_Key, Indexed] = {}
    for index, manifest in callers:
        for position, (namespace, secret, key) in enumerate(_keys(manifest)):
            other, owner = first.setdefault((namespace, secret, key), (index, manifest))
            if identity(owner) != identity(manifest):
                problem = (
                    f"names key {key} of Secret {secret}, as ModelCaller {identity(owner).name} does; only one of them"
                    " is accepted"
                )
                yield Finding(index, _path(position), problem, "shared-key", other=other)


def _missing(index: int, manifest: Manifest, secrets: Mapping[NamespacedName, Manifest]) -> Iterator[Finding]:
    for position, (namespace, name, key) in enumerate(_keys(manifest)):
        secret = secrets.get(NamespacedName(namespace, name))
        if secret is not None and key not in _held(secret):
            problem = f"names key {key}, which Secret {name} lacks; {_there(secret, key)}"
            yield Finding(index, _path(position), problem, "missing-key")


def _keys(manifest: Manifest) -> list[_Key]:
    namespace = identity(manifest).namespace
    refs = [item["secretRef"] for item in manifest["spec"]["keys"]]
    return [(namespace, ref["name"], ref.get("key", DEFAULT_KEY)) for ref in refs]


def _path(position: int) -> tuple[str | int, ...]:
    return "spec", "keys", position, "secretRef"


def _there(secret: Manifest, key: str) -> str:
    names = sorted(_held(secret))
    meant = closest(key, names)
    return f"did you mean {meant}?" if meant else f"it has {enumerate_names(names) or 'no key'}"


def _held(secret: Manifest) -> set[str]:
    """Return the keys of a Secret, never the values."""
    fields: list[Any] = [dig(secret, field) for field in ("data", "stringData")]
    return {str(key) for field in fields if isinstance(field, Mapping) for key in field}


def _is_secret(manifest: Manifest) -> bool:
    return (manifest["apiVersion"], manifest["kind"]) == (versions.CORE, "Secret")


def _placed(manifest: Manifest) -> NamespacedName:
    """Return a name with the namespace that all objects without one share."""
    found = identity(manifest)
    return NamespacedName(found.namespace or namespaces.UNSTATED, found.name)
