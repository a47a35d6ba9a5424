"""What Vultr and its provider are like.

Sources: upbound/provider-upjet-vultr v1.0.0 (config/namespaced/vke), which is generated from
vultr/terraform-provider-vultr (vultr/kubernetes.go, resource_vultr_kubernetes.go,
resource_vultr_kubernetes_nodepools.go).
"""

from __future__ import annotations

from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.provisioner import Package

PROVIDER = "vultr.m.upbound.io/v1beta1"
PACKAGE = Package(package="xpkg.upbound.io/upbound/provider-vultr", version=">=v1.0.0,<v2.0.0")
_VKE = "vke.vultr.m.upbound.io/v1beta1"

KUBERNETES = ManagedKind(
    api_version=_VKE,
    kind="Kubernetes",
    plural="kubernetes",
    # region and haControlplanes make the cluster anew; label and plan of its pool are never updated
    immutable=("region", "haControlplanes", "nodePools.label", "nodePools.plan"),
)
NODE_POOL = ManagedKind(
    api_version=_VKE,
    kind="KubernetesNodePool",
    plural="kubernetesnodepools",
    references={"clusterIdRef": "Kubernetes"},
    # clusterId makes the pool anew; label and plan are never updated
    immutable=("clusterIdRef", "label", "plan"),
)
KUBECONFIG = "kubeconfig"
"""Key of the kubeconfig with client certificates, decoded (AdditionalConnectionDetailsFn in config/namespaced/vke)."""

VERSION = "v1.36.1+3"
"""Version of a new cluster. Vultr names it with its build."""

GPU_PLANS = "vcg-"
"""Prefix of plans with GPUs."""
SYSTEM_NODES = 2

DEVICES = {
    "vcg-mi": "gpu.amd.com",
    "vcg-": "gpu.nvidia.com",
    **dict.fromkeys(("vc2-", "vdc-", "vhf-", "vhp-", "voc-"), ""),
}
"""DRA drivers of the GPUs of plans, by the first prefix that fits: cloud GPU plans, and those without GPUs (Vultr API,
GET /v2/plans, types vcg, vc2, vdc, vhf, vhp and voc)."""

NO_DEVICE_PLUGIN = {"nvidia.com/gpu.deploy.device-plugin": "false"}
"""Label that keeps the device plugin of the GPU Operator off a node. Vultr installs that operator on every cluster with
GPUs. It sets the label only where it is absent (NVIDIA/gpu-operator, controllers/state_manager.go), and of a plugin and
a DRA driver that both hand out the same GPUs neither knows the other."""
