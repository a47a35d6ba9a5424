"""Every Helm chart that we install, written once.

Read from each project's Chart.yaml and values.yaml at the version given; docs/clusters.md says how each was verified.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart in the version that Modelplane is tested with, and the namespace that it goes to."""

    name: str
    repository: str
    version: str
    namespace: str

    @property
    def release(self) -> str:
        """Name of the release: short, since charts append to it, and fixed, so that a new owner finds what is there."""
        return f"mp-{self.name}"


CERT_MANAGER = Chart(
    name="cert-manager", repository="https://charts.jetstack.io", version="v1.21.2", namespace="cert-manager"
)
ENVOY_GATEWAY = Chart(
    name="gateway-helm",
    repository="oci://docker.io/envoyproxy",
    version="v1.8.3",
    namespace="envoy-gateway-system",
)
"""A pair with AI_GATEWAY, which in 1.1 is tested with Envoy Gateway 1.8 and nothing newer (its compatibility page)."""
AI_GATEWAY_CRDS = Chart(
    name="ai-gateway-crds-helm",
    repository="oci://docker.io/envoyproxy",
    version="v1.1.0",
    namespace="envoy-ai-gateway-system",
)
AI_GATEWAY = Chart(
    name="ai-gateway-helm",
    repository="oci://docker.io/envoyproxy",
    version=AI_GATEWAY_CRDS.version,
    namespace=AI_GATEWAY_CRDS.namespace,
)
LEADERWORKERSET = Chart(
    name="lws",
    repository="oci://registry.k8s.io/lws/charts",
    version="v0.10.0",  # pushed under the git tag (lws hack/push-chart.sh)
    namespace="lws-system",
)
NODE_FEATURE_DISCOVERY = Chart(
    name="node-feature-discovery",
    repository="oci://registry.k8s.io/nfd/charts",
    version="0.19.0",
    namespace="node-feature-discovery",
)
NVIDIA_DRA_DRIVER = Chart(
    name="dra-driver-nvidia-gpu",
    repository="oci://registry.k8s.io/dra-driver-nvidia/charts",
    version="0.4.1",
    namespace="dra-driver-nvidia-gpu",
)
PROMETHEUS = Chart(
    name="kube-prometheus-stack",
    repository="https://prometheus-community.github.io/helm-charts",
    version="88.5.3",
    namespace="monitoring",
)
