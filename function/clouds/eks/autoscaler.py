"""The cluster autoscaler of an EKSCluster. It finds node groups by tags that EKS gives their Auto Scaling groups.

No flag keeps it from nodes that serve: the pods of replicas say so themselves (manifests/pods.py, STAYS). A lower
threshold of utilisation would not do. Below a threshold of 0 is no node, so that free ones would stay, and any other
counts what DaemonSets ask for (FAQ of the cluster autoscaler, "How does scale-down work?").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.clouds.eks import control_plane, identity
from function.clouds.eks.model import Spec
from function.contracts.cloud import nodes
from function.contracts.cloud.kubernetes import minor
from function.contracts.cloud.site import Resource, Site
from function.vocabulary import charts, versions

_KEY, _ROLE, _BINDING = "autoscaler", "autoscaler-devices", "autoscaler-devices-binding"
_NAME = "modelplane-autoscaler-devices"
_GROUP = "rbac.authorization.k8s.io"
_IMAGES = {34: "v1.34.4", 35: "v1.35.2", 36: "v1.36.1"}
"""Releases by the minor version of their cluster: each simulates the scheduler of its own Kubernetes version."""
_DRA_FLAG_UNTIL = 34
"""The last version 1.x that must be told to consider ResourceClaims (kubernetes/autoscaler#10278)."""


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    """Yield the autoscaler, and its right to read devices."""
    ready = (control_plane.KUBECONFIG, control_plane.SYSTEM_POOL)
    yield site.object(_ROLE, _cluster_role(), after=ready)
    yield site.object(_BINDING, _binding(), after=ready)
    after = (*ready, identity.account(identity.AUTOSCALER), _BINDING)
    yield site.release(_KEY, charts.CLUSTER_AUTOSCALER, _values(site, spec), after=after)


def _values(site: Site, spec: Spec) -> dict[str, Any]:
    of_cluster = minor(control_plane.version(site, spec))
    image = _IMAGES.get(of_cluster, _IMAGES[max(_IMAGES)])
    flags = {"enable-dynamic-resource-allocation": "true"} if of_cluster <= _DRA_FLAG_UNTIL else {}
    return {
        "cloudProvider": "aws",
        "awsRegion": spec.region,
        "autoDiscovery": {"clusterName": site.cloud_name(control_plane.CLUSTER)},
        "image": {"tag": image},
        "rbac": {"serviceAccount": {"name": identity.AUTOSCALER_ACCOUNT}},
        "nodeSelector": nodes.node_labels(nodes.SYSTEM_POOL),
        "priorityClassName": "system-cluster-critical",
        "extraArgs": {"expander": "least-waste", **flags},
    }


def _cluster_role() -> dict[str, Any]:
    """What the scheduler's simulation reads of DRA. Not every release of the chart has it."""
    devices = ["deviceclasses", "resourceclaims", "resourceslices"]
    return {
        "apiVersion": versions.RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": _NAME},
        "rules": [{"apiGroups": ["resource.k8s.io"], "resources": devices, "verbs": ["get", "list", "watch"]}],
    }


def _binding() -> dict[str, Any]:
    account = {"kind": "ServiceAccount", "name": identity.AUTOSCALER_ACCOUNT, "namespace": identity.SYSTEM}
    return {
        "apiVersion": versions.RBAC,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": _NAME},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": _NAME},
        "subjects": [account],
    }
