"""The Helm charts that Modelplane installs.

Values come from each project's Chart.yaml and values.yaml at the given version. docs/clusters.md records how each chart
was verified.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart at the version that Modelplane is tested with, and its namespace."""

    name: str
    repository: str
    version: str
    namespace: str
    tag_prefix: str = ""
    """What an OCI registry has before the version in the tag of the chart, where the chart itself does not."""

    @property
    def release(self) -> str:
        """Name of the release.

        It is short, because charts append to it, and fixed, so that a new owner finds the old release.
        """
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
"""Paired with AI_GATEWAY, whose version 1.1 is tested with Envoy Gateway 1.8, the newest (its compatibility page)."""
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
    version="v0.10.0",  # published under the git tag (lws hack/push-chart.sh)
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
AMD_DRA_DRIVER = Chart(
    name="k8s-gpu-dra-driver",
    repository="https://rocm.github.io/k8s-gpu-dra-driver",  # its release workflow publishes there
    version="v1.0.1",  # with the v, as its index has it; v1.0.0 does not see the GPUs of amdgpu 6.19.14 and later
    namespace="kube-amd-gpu",  # its README
)
"""Its DeviceClass is of the newest version of resource.k8s.io that the cluster serves (templates/_helpers.tpl)."""
DRANET = Chart(
    name="dranet",
    repository="oci://registry.k8s.io/networking/charts",
    version="1.4.0",  # packaged without the v of the git tag (Makefile)
    namespace="kube-system",  # its README
    tag_prefix="v",  # promoted with it (kubernetes/k8s.io, registry.k8s.io/images/k8s-staging-networking/images.yaml)
)
AWS_DRANET = Chart(
    name="aws-dranet",
    repository="https://aws.github.io/eks-charts",
    version="1.0.0",
    namespace="kube-system",  # its README
)
CSI_MOUNTED_FS_PATH = Chart(
    name="csi-mounted-fs-path",
    repository="oci://cr.eu-north1.nebius.cloud/mk8s/helm",
    version="0.1.6",
    namespace="kube-system",
)
"""Nebius' own, from a public registry. Version and values are those with which modelplaneai/modelplane
(compose-nebius-cluster) runs on Nebius; the chart itself was not read."""
CLUSTER_AUTOSCALER = Chart(
    name="cluster-autoscaler",
    repository="https://kubernetes.github.io/autoscaler",
    version="9.59.0",
    namespace="kube-system",
)
