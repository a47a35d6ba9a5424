"""A call of the function, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from function.core.manifest import Manifest, NamespacedName, identity, is_ready

_NAME = re.compile(r"(?!\.{1,2}$)[!-$&-.0-~]{1,253}")
"""What may be the last part of a path (Kubernetes v1.34, apimachinery, api/validation/path), in ASCII."""
_LABEL = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_KEY = re.compile(rf"([-a-z0-9.]{{1,253}}/)?{_LABEL}")
_VALUE = re.compile(rf"({_LABEL})?")


@dataclass(frozen=True, slots=True)
class Requirement:
    """Resources that a composer must read: all of a kind, or those with a name, or those with labels.

    A namespace of None means every namespace; for a cluster-scoped kind it is always None.
    """

    name: str
    api_version: str
    kind: str
    match_name: str | None = None
    match_labels: Mapping[str, str] = field(default_factory=dict)
    namespace: str | None = None

    def __post_init__(self) -> None:
        if self.match_name is not None and self.match_labels:
            raise ValueError(f"requirement {self.name}: Crossplane selects by a name or by labels, not by both")

    @property
    def is_possible(self) -> bool:
        """Whether an API server looks for this. It refuses names and labels that no object can have, and Crossplane
        then gives up the reconcile."""
        names = (name for name in (self.match_name, self.namespace) if name is not None)
        return all(map(_NAME.fullmatch, names)) and all(
            isinstance(value, str) and _KEY.fullmatch(key) and _VALUE.fullmatch(value)
            for key, value in self.match_labels.items()
        )

    def __str__(self) -> str:
        """What is looked up, for a message: `InferenceCluster c1`, or `ModelReplicas with modelplane.ai/cluster=c1`."""
        if self.match_name is not None:
            return f"{self.kind} {self.match_name}"
        objects = f"{self.kind}es" if self.kind.endswith("s") else f"{self.kind}s"
        labels = ",".join(f"{key}={value}" for key, value in sorted(self.match_labels.items()))
        return f"{objects} with {labels}" if labels else f"all {objects}"


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the function. It does not change while it is being answered."""

    xr: Manifest
    observed: Mapping[str, Manifest] = field(default_factory=dict)
    """The composed resources that exist, by key."""
    required: Mapping[str, tuple[Manifest, ...]] = field(default_factory=dict)
    """What the requirements resolved to, by requirement name. A missing key: not resolved yet. An empty tuple: none
    exist."""
    at: float = 0.0
    """When the call arrived, in seconds since the epoch. 0 offline, where no time passes. Only what waits for a foreign
    program that confirms nothing may depend on it."""

    @property
    def identity(self) -> NamespacedName:
        return identity(self.xr)

    def resolved(self, requirement: Requirement) -> tuple[Manifest, ...] | None:
        """Return the resources that a requirement resolved to, or None if Crossplane has not resolved it yet."""
        return self.required.get(requirement.name)

    def is_ready(self, key: str) -> bool:
        return key in self.observed and is_ready(self.observed[key])
