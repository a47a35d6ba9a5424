"""What Crossplane reads and writes on the control cluster for us: its RBAC, and the managed kinds that it activates.

Crossplane may by itself do anything with its own kinds and, while its RBAC manager runs, with those of definitions and
providers (crossplane v2.3, cluster/charts/crossplane/templates/clusterrole.yaml). All that we touch is listed here all
the same: who runs Crossplane without the RBAC manager needs the rest as well. What goes to inference clusters is not
Crossplane's to write: it is inside of Objects and Releases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from function import clouds
from function.publish.catalog import KINDS
from function.vocabulary import versions

WRITE = ("create", "delete", "get", "list", "patch", "update", "watch")
READ = ("get", "list", "watch")
OWN = ("get", "patch", "update")
"""On the status of what Crossplane reconciles, and on the finalizers of what owns another object."""
_ROLE = "modelplane"


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as RBAC knows it: by its group and plural."""

    api_version: str
    kind: str
    plural: str

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]


MANAGED = (
    Resource(versions.PROVIDER_KUBERNETES, "Object", "objects"),
    Resource(versions.PROVIDER_HELM, "Release", "releases"),
    *(Resource(kind.api_version, kind.kind, kind.plural) for kind in clouds.managed_kinds()),
)
"""Managed resources of the providers that we depend on."""

OURS = tuple(Resource(kind.api_version, kind.kind, kind.plural) for kind in KINDS)
"""Our own kinds: some are composed of others, all are what the composed things belong to."""

COMPOSED = (
    *MANAGED,
    *OURS,
    Resource(versions.APPS, "Deployment", "deployments"),
    Resource(versions.CORE, "ConfigMap", "configmaps"),
    Resource(versions.CORE, "Service", "services"),
    Resource(versions.DISCOVERY, "EndpointSlice", "endpointslices"),
    Resource(versions.GATEWAY, "Gateway", "gateways"),
    Resource(versions.GATEWAY, "GatewayClass", "gatewayclasses"),
    Resource(versions.GATEWAY, "HTTPRoute", "httproutes"),
    Resource("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    Resource(versions.PROTECTION, "ClusterUsage", "clusterusages"),
    Resource(versions.PROTECTION, "Usage", "usages"),
    Resource(versions.PROVIDER_HELM, "ClusterProviderConfig", "clusterproviderconfigs"),
    Resource(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", "clusterproviderconfigs"),
)
"""What is composed on the control cluster."""

REQUIRED = (
    Resource(versions.CORE, "Secret", "secrets"),
    Resource(versions.CRD, "CustomResourceDefinition", "customresourcedefinitions"),
)
"""What is read besides."""


def cluster_role() -> dict[str, Any]:
    """What Crossplane must be allowed. Packages cannot carry it (crossplane v2.3: their linter refuses the kind)."""
    return {
        "apiVersion": versions.RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": _ROLE, "labels": {"rbac.crossplane.io/aggregate-to-crossplane": "true"}},
        "rules": [*_rules(COMPOSED, WRITE), *_rules(OURS, OWN, "/status", "/finalizers"), *_rules(REQUIRED, READ)],
    }


def activation() -> dict[str, Any]:
    """The managed kinds whose CRDs are wanted, where not all are made anyway (crossplane v2.3, safe start)."""
    return {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": "ManagedResourceActivationPolicy",
        "metadata": {"name": "modelplane"},
        "spec": {"activate": sorted(f"{managed.plural}.{managed.group}" for managed in MANAGED)},
    }


def _rules(resources: Iterable[Resource], verbs: tuple[str, ...], *parts: str) -> list[dict[str, Any]]:
    plurals: dict[str, set[str]] = defaultdict(set)
    for resource in resources:
        plurals[resource.group].update(f"{resource.plural}{part}" for part in parts or ("",))
    return [
        {"apiGroups": [group], "resources": sorted(plurals[group]), "verbs": list(verbs)} for group in sorted(plurals)
    ]
