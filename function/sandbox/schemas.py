"""The kinds that the API server serves: scope, schema, and how lists merge.

`load` reads XRDs. Any other kind is served as well, with a schema that knows only metadata and conditions: maps merge
by field, and lists are replaced as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest, dig_fields, dig_text

Schema = Mapping[str, Any]
"""An OpenAPI v3 schema, as in a CRD. Empty if unknown: maps merge by field, and lists are replaced as a whole."""

_CONDITIONS: Schema = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
}
_REFS: Schema = {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"type": "object"}}
_METADATA: Schema = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
    "properties": {
        "ownerReferences": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
            "items": {"type": "object"},
        },
        "finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    },
}
_UNKNOWN: Schema = {
    "type": "object",
    "properties": {
        "metadata": _METADATA,
        "status": {"type": "object", "properties": {"conditions": _CONDITIONS}},
    },
}
_PORTS: Schema = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["port", "protocol"],
    "items": {"type": "object", "properties": {"protocol": {"type": "string", "default": "TCP"}}},
}
_BUILT_IN: Mapping[tuple[str, str], Schema] = {
    ("v1", "Service"): {"type": "object", "properties": {"spec": {"type": "object", "properties": {"ports": _PORTS}}}},
}
"""Lists of other kinds that merge by key (kubernetes v1.36, api/openapi-spec)."""
_PROVIDER_CONFIG = "ClusterProviderConfig"
"""A cluster-scoped kind of every provider."""
_CLUSTER_SCOPED = frozenset(
    {
        ("protection.crossplane.io", "ClusterUsage"),
        ("gateway.networking.k8s.io", "GatewayClass"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("storage.k8s.io", "StorageClass"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("", "Namespace"),
        ("", "Node"),
    }
)


@dataclass(frozen=True, slots=True)
class ServedKind:
    """A kind that the API server serves."""

    api_version: str
    kind: str
    namespaced: bool
    schema: Schema
    composition: str = ""
    """The Composition of a composite kind; empty for any other kind."""

    @property
    def is_composite(self) -> bool:
        """Whether an XRD defines it."""
        return bool(self.composition)


@dataclass(slots=True)
class ServedKinds:
    """All kinds: those that XRDs define, and any other with a generic schema."""

    _known: dict[tuple[str, str], ServedKind] = field(default_factory=dict)

    def of(self, api_version: str, kind: str) -> ServedKind:
        """A kind. One that no XRD defines gets a generic schema."""
        known = self._known.get((api_version, kind))
        if known is None:
            known = self._known[api_version, kind] = _foreign(api_version, kind)
        return known

    def composites(self) -> list[ServedKind]:
        """The kinds that XRDs define, by apiVersion and kind."""
        return sorted((k for k in self._known.values() if k.is_composite), key=lambda k: (k.api_version, k.kind))


def load(definitions: Iterable[Manifest]) -> ServedKinds:
    """Read kinds from CompositeResourceDefinitions."""
    found = [kind for definition in definitions for kind in _defined(definition)]
    return ServedKinds({(kind.api_version, kind.kind): kind for kind in found})


def group_of(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def _foreign(api_version: str, kind: str) -> ServedKind:
    namespaced = kind != _PROVIDER_CONFIG and (group_of(api_version), kind) not in _CLUSTER_SCOPED
    properties = {**_UNKNOWN["properties"], **_BUILT_IN.get((api_version, kind), {}).get("properties", {})}
    return ServedKind(api_version, kind, namespaced, {**_UNKNOWN, "properties": properties})


def _defined(definition: Manifest) -> list[ServedKind]:
    spec = definition["spec"]
    return [
        ServedKind(
            api_version=f"{spec['group']}/{version['name']}",
            kind=spec["names"]["kind"],
            namespaced=spec.get("scope", "Namespaced") == "Namespaced",
            schema=_with_machinery(dig_fields(version, "schema", "openAPIV3Schema")),
            composition=dig_text(spec, "defaultCompositionRef", "name") or definition["metadata"]["name"],
        )
        for version in spec["versions"]
    ]


def _with_machinery(schema: Schema) -> Schema:
    """A kind's schema with the fields that Crossplane adds (crossplane-runtime v2.4, pkg/xcrd/schemas.go)."""
    properties = schema.get("properties") or {}
    spec, status = properties.get("spec") or {}, properties.get("status") or {}
    machinery = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"resourceRefs": _REFS}}
    return {
        **schema,
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": _METADATA,
            "spec": {
                **spec,
                "type": "object",
                "properties": {**(spec.get("properties") or {}), "crossplane": machinery},
            },
            "status": {
                **status,
                "type": "object",
                "properties": {**(status.get("properties") or {}), "conditions": _CONDITIONS},
            },
        },
    }
