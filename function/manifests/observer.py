"""The observer on an inference cluster: a Deployment of one pod, and what it may read and write.

It reads no Secrets, and writes only ConfigMaps in its own namespace. What it follows is in `function/observe/kinds.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.manifests import pods, workloads
from function.manifests.metadata import metadata, pod_metadata
from function.vocabulary import labels as key
from function.vocabulary import names, versions

NAME = names.OBSERVER
NAMESPACE = names.SYSTEM_NAMESPACE
_AUTOSCALER = ("kube-system", "cluster-autoscaler-status")
"""Namespace and name of the ConfigMap with the cluster autoscaler's status (kubernetes/autoscaler,
clusterstate/utils/status.go)."""
_PORT = 8081
_LABELS: Mapping[str, str] = {"app.kubernetes.io/name": NAME, key.MANAGED_BY: key.OURS}
_SELECTOR: Mapping[str, str] = {"app.kubernetes.io/name": NAME}
_READ = ("get", "list", "watch")
_FOLLOWED: Mapping[str, Sequence[str]] = {
    "": ("nodes", "pods", "events"),
    "resource.k8s.io": ("resourceslices", "resourceclaims", "deviceclasses"),
    "apps": ("replicasets", "statefulsets"),
    "leaderworkerset.x-k8s.io": ("leaderworkersets",),
}
"""Resources that it reads on the whole cluster, by API group."""


def service_account() -> dict[str, Any]:
    return {"apiVersion": versions.CORE, "kind": "ServiceAccount", "metadata": _metadata(NAMESPACE)}


def cluster_role() -> dict[str, Any]:
    rules = [_rule(group, resources, _READ) for group, resources in _FOLLOWED.items()]
    return {"apiVersion": versions.RBAC, "kind": "ClusterRole", "metadata": _metadata(), "rules": rules}


def role() -> dict[str, Any]:
    """Allow it to read declarations and to write observations. Names of new objects cannot be restricted."""
    rules = [_rule("", ("configmaps",), (*_READ, "create", "update", "patch"))]
    return {"apiVersion": versions.RBAC, "kind": "Role", "metadata": _metadata(NAMESPACE), "rules": rules}


def autoscaler_role() -> dict[str, Any]:
    """Allow it to follow the autoscaler's status. A list or watch of one name needs its verb."""
    namespace, name = _AUTOSCALER
    rules = [{**_rule("", ("configmaps",), _READ), "resourceNames": [name]}]
    return {"apiVersion": versions.RBAC, "kind": "Role", "metadata": _metadata(namespace), "rules": rules}


def cluster_role_binding() -> dict[str, Any]:
    return _binding("ClusterRoleBinding", "ClusterRole", "")


def role_binding() -> dict[str, Any]:
    return _binding("RoleBinding", "Role", NAMESPACE)


def autoscaler_role_binding() -> dict[str, Any]:
    return _binding("RoleBinding", "Role", _AUTOSCALER[0])


def deployment(image: str) -> dict[str, Any]:
    """Return the Deployment. Two pods would write over each other, so that the old one goes first."""
    return workloads.deployment(
        name=NAME,
        namespace=NAMESPACE,
        copies=1,
        selector=_SELECTOR,
        strategy=workloads.RECREATE,
        labels=_LABELS,
        pod={"metadata": pod_metadata(labels=_LABELS), "spec": _pod(image)},
    )


def reference() -> dict[str, Any]:
    """Return the Deployment as an Object names it to observe it."""
    meta = metadata(name=NAME, namespace=NAMESPACE)
    return {"apiVersion": versions.APPS, "kind": "Deployment", "metadata": meta}


def _pod(image: str) -> dict[str, Any]:
    return {
        "serviceAccountName": NAME,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": pods.OUR_USER,
            "runAsGroup": pods.OUR_USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "observer",
                "image": image,
                "command": ["modelplane"],
                "args": ["observe", "--address", f"0.0.0.0:{_PORT}"],
                "ports": [pods.port(name="probes", number=_PORT)],
                "startupProbe": _probe("/healthz", period=5, failures=24),
                "readinessProbe": _probe("/readyz", period=10, failures=3),
                "livenessProbe": _probe("/healthz", period=20, failures=3),
                "resources": {"requests": {"cpu": "50m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
                "securityContext": {**pods.CONFINED, "readOnlyRootFilesystem": True},
            }
        ],
    }


def _probe(path: str, *, period: int, failures: int) -> dict[str, Any]:
    return pods.http_probe(path=path, port=_PORT, period=period, timeout=5, failures=failures)


def _metadata(namespace: str = "") -> dict[str, Any]:
    return metadata(name=NAME, namespace=namespace, labels=_LABELS)


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _binding(kind: str, role: str, namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": versions.RBAC,
        "kind": kind,
        "metadata": _metadata(namespace),
        "roleRef": {"apiGroup": versions.RBAC.partition("/")[0], "kind": role, "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
    }
