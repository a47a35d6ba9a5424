"""What Crossplane told us, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from function.core.manifest import Manifest, NamespacedName, identity, is_ready


@dataclass(frozen=True, slots=True)
class Requirement:
    """Resources that a composer must read: all of a kind, unless a name or labels narrow it.

    A namespace of None means all namespaces, or none for a cluster-scoped kind.
    """

    name: str
    api_version: str
    kind: str
    match_name: str | None = None
    match_labels: Mapping[str, str] = field(default_factory=dict)
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the function. Never changed while it is being answered."""

    xr: Manifest
    observed: Mapping[str, Manifest] = field(default_factory=dict)
    """The composed resources that exist, by key."""
    required: Mapping[str, tuple[Manifest, ...]] = field(default_factory=dict)
    """What requirements resolved to, by name. Missing: not answered yet. Empty: there is none."""

    @property
    def identity(self) -> NamespacedName:
        return identity(self.xr)

    def resolved(self, requirement: Requirement) -> tuple[Manifest, ...] | None:
        """What a requirement resolved to; None while Crossplane has yet to look."""
        return self.required.get(requirement.name)

    def is_ready(self, key: str) -> bool:
        return key in self.observed and is_ready(self.observed[key])
