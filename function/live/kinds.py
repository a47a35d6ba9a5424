"""Which kinds of the control cluster are read for a fleet.

Our own kinds are those of the catalog: a decision reads them, so each of them is needed. What they composed is named by
their resourceRefs, so only kinds of which objects exist are asked for. Secrets and CRDs are not read: a plan assumes
that the former exist, and it brings the latter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from function import clouds
from function.core import Manifest, dig, dig_fields, dig_list
from function.publish import access
from function.publish.access import Resource
from function.publish.catalog import BY_KIND, KINDS
from function.vocabulary import crossplane, versions

_UNREAD = ((versions.CORE, "Secret"), (versions.CRD, "CustomResourceDefinition"))
_RESOURCES: Mapping[tuple[str, str], Resource] = {
    (one.api_version, one.kind): one
    for one in (*access.COMPOSED, *access.REQUIRED)
    if (one.api_version, one.kind) not in (*_UNREAD, *BY_KIND)
}
"""Foreign kinds that the function composes or looks up on the control cluster."""


@dataclass(frozen=True, slots=True)
class LiveKind(Resource):
    """A kind on the control cluster, and which of its objects are read."""

    namespace: str = ""
    """The only namespace to read; empty for all."""
    selectors: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def resource(self) -> str:
        """As kubectl and RBAC's messages spell it, such as `objects.kubernetes.m.crossplane.io`."""
        return ".".join(part for part in (self.plural, self.group) if part)

    @property
    def path(self) -> str:
        root = "apis" if self.group else "api"
        where = f"/namespaces/{self.namespace}" if self.namespace else ""
        return f"/{root}/{self.api_version}{where}/{self.plural}"

    def __str__(self) -> str:
        return self.resource


def ours(namespace: str = "") -> Iterator[LiveKind]:
    """Our kinds; those with a namespace of one namespace only, if it is given."""
    for kind in KINDS:
        yield LiveKind(kind.api_version, kind.kind, kind.plural, namespace if kind.scope == "Namespaced" else "")


def composed(objects: Iterable[Manifest]) -> list[LiveKind]:
    """The foreign kinds of which our objects composed something, in order of their names."""
    named = {
        (str(dig(ref, "apiVersion")), str(dig(ref, "kind")))
        for one in objects
        for ref in dig_list(one, "spec", "crossplane", "resourceRefs")
    }
    selectors = {"labelSelector": crossplane.COMPOSITE}
    return sorted(
        (LiveKind(*of, _RESOURCES[of].plural, selectors=selectors) for of in named & _RESOURCES.keys()), key=str
    )


def provider_configs(objects: Iterable[Manifest]) -> list[LiveKind]:
    """The kinds of provider configs with which clouds make clusters, of the clouds that are in use."""
    used = {
        block for one in objects if one["kind"] == "InferenceCluster" for block in dig_fields(one, "spec", "cluster")
    }
    providers = {s.provisioner.provider for s in clouds.SOURCES if s.provisioner and s.block in used}
    found = (one for one in _RESOURCES.values() if one.api_version in providers and one in access.REQUIRED)
    return sorted((LiveKind(one.api_version, one.kind, one.plural) for one in found), key=str)
