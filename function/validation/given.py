"""The objects that are validated together, by kind and name: what a reference can find among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest, NamespacedName, dig, identity
from function.vocabulary import namespaces, versions

SECRET, CONFIG_MAP = "Secret", "ConfigMap"
BY_NAMESPACE = (SECRET, CONFIG_MAP)
"""Kinds that are often given for some namespaces only."""
_PLAIN = {(versions.CORE, SECRET), (versions.CORE, CONFIG_MAP), (versions.STORAGE, "StorageClass")}
"""Objects of Kubernetes that ours refer to, by version and kind."""
_MAKERS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("bitnami.com", "SealedSecret"): ("spec", "template", "metadata", "name"),
    ("external-secrets.io", "ExternalSecret"): ("spec", "target", "name"),
    ("cert-manager.io", "Certificate"): ("spec", "secretName"),
}
"""Objects from which a controller makes a Secret of the same namespace: group, kind, and the path of its name. By
default, the Secret has the name of the object."""
_CONTENT = ("data", "stringData", "binaryData")

Keys = frozenset[str] | None
"""The keys of a Secret or ConfigMap; None if they are not known."""


@dataclass(frozen=True, slots=True)
class Given:
    """Names of objects, by kind. Objects of cluster-scoped kinds have no namespace."""

    _by_kind: dict[str, dict[NamespacedName, Keys]] = field(default_factory=dict)
    _namespaces: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Namespaces of the objects with a kind and a name."""
    _names: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Names of the objects of a kind in a namespace."""

    def has(self, kind: str, who: NamespacedName) -> bool:
        """Whether an object is given. A Secret or ConfigMap without a namespace can be applied to any."""
        found = self._by_kind.get(kind, {})
        return who in found or (kind in BY_NAMESPACE and NamespacedName(namespaces.UNSTATED, who.name) in found)

    def has_any(self, kind: str, namespace: str | None = None) -> bool:
        """Whether an object of a kind is given, in any namespace or in one."""
        return kind in self._by_kind if namespace is None else bool(self.names(kind, namespace))

    def keys(self, kind: str, who: NamespacedName) -> Keys:
        return self._by_kind.get(kind, {}).get(who)

    def names(self, kind: str, namespace: str) -> set[str]:
        return self._names.get((kind, namespace), set())

    def elsewhere(self, kind: str, name: str) -> list[str]:
        """Return the namespaces of the objects with a name."""
        return sorted(self._namespaces.get((kind, name), ()))

    def add(self, kind: str, who: NamespacedName, keys: Keys) -> None:
        self._by_kind.setdefault(kind, {})[who] = keys
        self._namespaces.setdefault((kind, who.name), set()).add(who.namespace)
        self._names.setdefault((kind, who.namespace), set()).add(who.name)


def of(ours: Iterable[Manifest], others: Iterable[Manifest]) -> Given:
    """Return the index of some objects, which need not be valid.

    Args:
        ours: Objects of our kinds, each with its namespace.
        others: Objects of other kinds.
    """
    given = Given()
    for manifest in ours:
        given.add(manifest["kind"], identity(manifest), None)
    for manifest in others:
        for kind, who, keys in _others(manifest):
            given.add(kind, who, keys)
    return given


def _others(manifest: Manifest) -> Iterator[tuple[str, NamespacedName, Keys]]:
    version, kind = str(manifest["apiVersion"]), manifest["kind"]
    if kind == "StorageClass":
        if (version, kind) in _PLAIN:
            yield kind, NamespacedName("", identity(manifest).name), None
    elif (version, kind) in _PLAIN:
        yield kind, _placed(manifest, identity(manifest).name), _held(manifest)
    elif path := _MAKERS.get((version.rpartition("/")[0], kind)):
        name = dig(manifest, *path)
        made = name if isinstance(name, str) else identity(manifest).name
        yield SECRET, _placed(manifest, made), None


def _placed(manifest: Manifest, name: str) -> NamespacedName:
    return NamespacedName(identity(manifest).namespace or namespaces.UNSTATED, name)


def _held(manifest: Manifest) -> frozenset[str]:
    content: list[Any] = [dig(manifest, field) for field in _CONTENT]
    return frozenset(str(key) for part in content if isinstance(part, Mapping) for key in part)
