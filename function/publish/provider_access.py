"""What the providers need on the control cluster, where an InferenceGateway has them install the gateway.

Crossplane's RBAC manager gives a provider the rights to its own kinds, and to Secrets, ConfigMaps, Events and Leases
(crossplane v2.4, internal/controller/rbac/provider/roles). Everything else that they install needs the rules below.
On inference clusters, their rights are those of the kubeconfig.
"""

from __future__ import annotations

from typing import Any

from function.publish import runtime
from function.publish.access import WRITE, Resource, rules
from function.vocabulary import namespaces, versions

_RBAC = versions.RBAC
_METALLB = "metallb.io/v1beta1"

OBJECTS = (
    Resource(versions.CRD, "CustomResourceDefinition", "customresourcedefinitions"),
    Resource(versions.CORE, "Namespace", "namespaces"),
    Resource(_METALLB, "IPAddressPool", "ipaddresspools"),
    Resource(_METALLB, "L2Advertisement", "l2advertisements"),
)
"""Kinds of the Objects that InferenceGateways compose for the control cluster."""

RELEASED = (
    Resource(versions.ADMISSION, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
    Resource(versions.CRD, "CustomResourceDefinition", "customresourcedefinitions"),
    Resource(versions.APPS, "DaemonSet", "daemonsets"),
    Resource(versions.APPS, "Deployment", "deployments"),
    Resource(versions.CORE, "ConfigMap", "configmaps"),
    Resource(versions.CORE, "Namespace", "namespaces"),
    Resource(versions.CORE, "Secret", "secrets"),
    Resource(versions.CORE, "Service", "services"),
    Resource(versions.CORE, "ServiceAccount", "serviceaccounts"),
    Resource("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
    Resource(versions.POLICY, "PodDisruptionBudget", "poddisruptionbudgets"),
    Resource(_RBAC, "ClusterRole", "clusterroles"),
    Resource(_RBAC, "ClusterRoleBinding", "clusterrolebindings"),
    Resource(_RBAC, "Role", "roles"),
    Resource(_RBAC, "RoleBinding", "rolebindings"),
)
"""Kinds in the charts of gateways, with the values that are composed for them. Helm reads and deletes them too."""

WAITED_FOR = (
    Resource(versions.CORE, "Pod", "pods"),
    Resource(versions.APPS, "ReplicaSet", "replicasets"),
)
"""Kinds that Helm reads while it waits for a chart's pods (helm v3.21, pkg/kube/ready.go)."""


def manifests() -> list[dict[str, Any]]:
    """Return a ClusterRole and its binding for each provider."""
    return [
        *_bound(runtime.PROVIDER_KUBERNETES, rules(OBJECTS, WRITE)),
        *_bound(
            runtime.PROVIDER_HELM, [*rules(RELEASED, WRITE), *rules(WAITED_FOR, ("get", "list", "watch")), _grants()]
        ),
    ]


def _grants() -> dict[str, Any]:
    """The right to write roles with more rights than one's own: the charts' roles are for their own programs.

    Who has it can give itself any right.
    """
    return {
        "apiGroups": [_RBAC.partition("/")[0]],
        "resources": ["clusterroles", "roles"],
        "verbs": ["bind", "escalate"],
    }


def _bound(provider: str, granted: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    name = {"name": f"modelplane-{provider}"}
    role = {"apiVersion": _RBAC, "kind": "ClusterRole", "metadata": name, "rules": granted}
    binding = {
        "apiVersion": _RBAC,
        "kind": "ClusterRoleBinding",
        "metadata": name,
        "roleRef": {"apiGroup": _RBAC.partition("/")[0], "kind": "ClusterRole", **name},
        "subjects": [{"kind": "ServiceAccount", "name": provider, "namespace": namespaces.CROSSPLANE}],
    }
    return role, binding
