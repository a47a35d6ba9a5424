"""What the identity in the kubeconfig of an existing inference cluster needs there, if its charts are installed.

With all charts of the serving stack switched off, provider-kubernetes writes only the kinds below: workloads and
routes, the gateway, the observer, staged weights. A stack that installs charts needs more: charts have CRDs, webhooks
and ClusterRoles, and in practice the identity is `cluster-admin`.

An identity may only write roles with rights that it has itself (kubernetes, "Privilege escalation prevention"). So it
has the rights of the observer and of endpoint pickers, and neither `escalate` nor `bind`.
"""

from __future__ import annotations

from typing import Any

from function.manifests import observer, picker
from function.publish.access import READ, WRITE, Resource, rules
from function.vocabulary import versions

NAME = "modelplane-cluster-access"

WRITTEN = (
    Resource(versions.APPS, "Deployment", "deployments"),
    Resource(versions.BATCH, "Job", "jobs"),
    Resource(versions.CORE, "ConfigMap", "configmaps"),
    Resource(versions.CORE, "Namespace", "namespaces"),
    Resource(versions.CORE, "PersistentVolumeClaim", "persistentvolumeclaims"),
    Resource(versions.CORE, "Pod", "pods"),
    Resource(versions.CORE, "ResourceQuota", "resourcequotas"),
    Resource(versions.CORE, "Secret", "secrets"),
    Resource(versions.CORE, "Service", "services"),
    Resource(versions.CORE, "ServiceAccount", "serviceaccounts"),
    Resource(versions.CRD, "CustomResourceDefinition", "customresourcedefinitions"),
    Resource(versions.DRA, "ResourceClaimTemplate", "resourceclaimtemplates"),
    Resource(versions.ENVOY_GATEWAY, "BackendTrafficPolicy", "backendtrafficpolicies"),
    Resource(versions.ENVOY_GATEWAY, "ClientTrafficPolicy", "clienttrafficpolicies"),
    Resource(versions.ENVOY_GATEWAY, "EnvoyProxy", "envoyproxies"),
    Resource(versions.GATEWAY, "Gateway", "gateways"),
    Resource(versions.GATEWAY, "GatewayClass", "gatewayclasses"),
    Resource(versions.GATEWAY, "HTTPRoute", "httproutes"),
    Resource(versions.INFERENCE, "InferencePool", "inferencepools"),
    Resource(versions.LEADERWORKERSET, "LeaderWorkerSet", "leaderworkersets"),
    Resource(versions.RBAC, "ClusterRole", "clusterroles"),
    Resource(versions.RBAC, "ClusterRoleBinding", "clusterrolebindings"),
    Resource(versions.RBAC, "Role", "roles"),
    Resource(versions.RBAC, "RoleBinding", "rolebindings"),
)
"""Kinds of the Objects that are composed for an inference cluster, whichever source it has. Objects that clouds compose
for their own clusters have kubeconfigs of the cloud."""

OBSERVED = (Resource(versions.STORAGE, "StorageClass", "storageclasses"),)
"""Kinds that are only looked at."""


def cluster_role() -> dict[str, Any]:
    """Return a ClusterRole, to be bound to the identity."""
    passed_on = [
        *observer.cluster_role()["rules"],
        *observer.autoscaler_role()["rules"],
        *picker.role(name="", namespace="", labels={})["rules"],
    ]
    return {
        "apiVersion": versions.RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": [*rules(WRITTEN, WRITE), *rules(OBSERVED, READ), *passed_on],
    }
