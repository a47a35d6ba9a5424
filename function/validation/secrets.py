"""The Secrets among the files: which keys they hold, and never a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from function.core import Manifest, NamespacedName, closest, dig, enumerate_names, identity
from function.vocabulary import namespaces, versions

Secrets: TypeAlias = Mapping[NamespacedName, Manifest]


def given(others: Iterable[Manifest]) -> Secrets:
    """Return the Secrets among objects of other kinds. All without a namespace are in one."""
    found = [one for one in others if (one["apiVersion"], one["kind"]) == (versions.CORE, "Secret")]
    return {_placed(one): one for one in found}


def lacking(secrets: Secrets, who: NamespacedName, key: str) -> str:
    """Return what is wrong with a reference to a key; empty if the Secret holds it, or is not given."""
    secret = secrets.get(who)
    if secret is None or key in (held := _held(secret)):
        return ""
    meant = closest(key, sorted(held))
    there = f"did you mean {meant}?" if meant else f"it has {enumerate_names(sorted(held)) or 'no key'}"
    return f"names key {key}, which Secret {who.name} lacks; {there}"


def elsewhere(secrets: Secrets, who: NamespacedName) -> str:
    """Return what is wrong with a reference to a Secret that is given in other namespaces only; empty if nothing is."""
    found = sorted(one.namespace for one in secrets if one.name == who.name)
    if not found or who in secrets:
        return ""
    return f"names a Secret of its own namespace, but {who.name} is only in {', '.join(found)}"


def _held(secret: Manifest) -> set[str]:
    fields: list[Any] = [dig(secret, field) for field in ("data", "stringData")]
    return {str(key) for field in fields if isinstance(field, Mapping) for key in field}


def _placed(manifest: Manifest) -> NamespacedName:
    found = identity(manifest)
    return NamespacedName(found.namespace or namespaces.UNSTATED, found.name)
