"""Every API version, written once."""

MODELPLANE = "modelplane.ai/v1alpha1"
INFRASTRUCTURE = "infrastructure.modelplane.ai/v1alpha1"

CORE = "v1"
APPS = "apps/v1"
BATCH = "batch/v1"
RBAC = "rbac.authorization.k8s.io/v1"
DISCOVERY = "discovery.k8s.io/v1"
DRA = "resource.k8s.io/v1"
"""Served since Kubernetes 1.34."""
LEADERWORKERSET = "leaderworkerset.x-k8s.io/v1"
GATEWAY = "gateway.networking.k8s.io/v1"
INFERENCE = "inference.networking.k8s.io/v1"

PROVIDER_KUBERNETES = "kubernetes.m.crossplane.io/v1alpha1"
PROVIDER_HELM = "helm.m.crossplane.io/v1beta1"
PROTECTION = "protection.crossplane.io/v1beta1"
XRD = "apiextensions.crossplane.io/v2"
COMPOSITION = "apiextensions.crossplane.io/v1"

FUNCTION = "function-modelplane"
"""Name of the Function that every Composition calls."""
