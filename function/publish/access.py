"""What Crossplane needs on the control cluster: its RBAC, and the managed kinds that it activates.

By itself, Crossplane has every right to its own kinds and, while its RBAC manager runs, to those of definitions and
providers (crossplane v2.3, cluster/charts/crossplane/templates/clusterrole.yaml). Everything we touch is listed
nevertheless, for installations without the RBAC manager. Objects on inference clusters are not listed: Crossplane
writes only the Objects and Releases that contain them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from function import clouds
from function.contracts.cloud import credentials
from function.publish.catalog import KINDS
from function.schema import Audience
from function.vocabulary import versions

WRITE = ("create", "delete", "get", "list", "patch", "update", "watch")
READ = ("get", "list", "watch")
RECONCILE = ("delete", "get", "list", "patch", "update", "watch")
"""For objects that people create: Crossplane writes finalizers and references into them, and deletes them if a Usage
has made it refuse that before (replayDeletion)."""
REMOVE_ALL = ("deletecollection",)
"""Crossplane deletes all objects of a definition that is deleted (crossplane v2.4, apiextensions/definition), also if
there are none. Its RBAC manager allows that as well, for as long as it runs."""
STATUS = ("patch", "update")
FINALIZERS = ("update",)
"""For objects that own others, where the admission plugin OwnerReferencesPermissionEnforcement is switched on: an owner
reference that blocks deletion asks for it."""
_ROLE = "modelplane"


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as RBAC names it, by group and plural."""

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
"""Our own kinds. Some are composed by others, and all own what is composed for them."""

AUTHORED = tuple(
    resource
    for resource, kind in zip(OURS, KINDS, strict=True)
    if kind.audience is not Audience.INTERNAL and kind.kind != "ModelEndpoint"
)
"""Our own kinds that nothing composes: people create their objects. Replicas get ModelEndpoints."""

ALLOWED_ALREADY = (Resource(versions.CORE, "Secret", "secrets"),)
"""Kinds composed on the control cluster that Crossplane writes by its own role, for its certificates and connection
details (clusterrole.yaml, as above). Ours adds no right to write any: no Secret that we compose holds a secret."""

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
    Resource(versions.POLICY, "PodDisruptionBudget", "poddisruptionbudgets"),
    Resource(versions.PROTECTION, "ClusterUsage", "clusterusages"),
    Resource(versions.PROTECTION, "Usage", "usages"),
    Resource(versions.PROVIDER_HELM, "ClusterProviderConfig", "clusterproviderconfigs"),
    Resource(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", "clusterproviderconfigs"),
)
"""Kinds composed on the control cluster."""

REQUIRED = (
    Resource(versions.CORE, "Namespace", "namespaces"),
    Resource(versions.CORE, "Secret", "secrets"),
    Resource(versions.CRD, "CustomResourceDefinition", "customresourcedefinitions"),
    *(
        Resource(provider, kind, f"{kind.lower()}s")
        for provider in dict.fromkeys(provisioner.provider for provisioner in clouds.PROVISIONERS)
        for kind in credentials.KINDS
    ),
)
"""Kinds that are only read. A gateway looks for its namespace. A cloud's composer looks up the provider config that it
makes a cluster with, and the Secret that the config names, in any namespace."""


def cluster_role() -> dict[str, Any]:
    """Return the permissions that Crossplane needs.

    Packages cannot contain them (crossplane v2.3: the linter refuses it).
    """
    return {
        "apiVersion": versions.RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": _ROLE, "labels": {"rbac.crossplane.io/aggregate-to-crossplane": "true"}},
        "rules": [
            *rules([resource for resource in COMPOSED if resource not in AUTHORED], WRITE),
            *rules(AUTHORED, RECONCILE),
            *rules(OURS, REMOVE_ALL),
            *rules(OURS, STATUS, "/status"),
            *rules(OURS, FINALIZERS, "/finalizers"),
            *rules(REQUIRED, READ),
        ],
    }


def activation() -> dict[str, Any]:
    """Return the managed kinds whose CRDs are needed, unless all are installed anyway (crossplane v2.3, safe start).

    Each kind is in it once, whichever clouds compose it. CRDs of provider configs are always installed: only those of
    managed resources become ManagedResourceDefinitions.
    """
    return {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": "ManagedResourceActivationPolicy",
        "metadata": {"name": "modelplane"},
        "spec": {"activate": sorted({f"{managed.plural}.{managed.group}" for managed in MANAGED})},
    }


def rules(resources: Iterable[Resource], verbs: tuple[str, ...], *parts: str) -> list[dict[str, Any]]:
    """Return RBAC rules that allow verbs on resources, or on their named parts, by group."""
    plurals: dict[str, set[str]] = defaultdict(set)
    for resource in resources:
        plurals[resource.group].update(f"{resource.plural}{part}" for part in parts or ("",))
    return [
        {"apiGroups": [group], "resources": sorted(plurals[group]), "verbs": list(verbs)} for group in sorted(plurals)
    ]
