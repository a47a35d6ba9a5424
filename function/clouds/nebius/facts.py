"""What Modelplane knows of Nebius and its provider.

Sources: upbound/provider-upjet-nebius v1.0.1 for kinds and fields, nebius/terraform-provider-nebius for what the fields
mean, docs.nebius.com, and modelplaneai/modelplane (compose-nebius-cluster), which has run on Nebius.
"""

from __future__ import annotations

from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.provisioner import Package

PROVIDER = "nebius.m.upbound.io/v1beta1"
PACKAGE = Package(package="xpkg.upbound.io/upbound/provider-nebius", version=">=v1.0.1,<v2.0.0")
"""The repository is provider-upjet-nebius, the package is not."""
SERVICE_ACCOUNT = "ServiceAccount"
"""Value of spec.identity.type of a provider config with which a cluster can be reached. The other one is Token."""
IDENTITY = "NebiusServiceAccountCredentials"
"""Type of the identity that provider-kubernetes and provider-helm need: the kubeconfig of a cluster holds no
credentials (config/common/kubeconfig.go). It has the keys that provider-nebius reads: account_id, public_key_id and
private_key (provider-kubernetes, pkg/kube/client/nebius/nebius.go)."""
KUBECONFIG_KEY = "kubeconfig"
"""It leads to the public endpoint where there is one (config/common/kubeconfig.go)."""
VERSION = "1.34"
"""Kubernetes version of new clusters. Its nodes have the driver preset cuda13.0."""
VIEWER = "viewer"
"""Role that pulls images from a registry (docs.nebius.com, kubernetes/workloads/images-container-registry)."""
DISK = "NETWORK_SSD"
"""Type of boot disks and of the filesystem. Every platform has it."""

_COMPUTE = "compute.nebius.m.upbound.io/v1beta1"
_IAM = "iam.nebius.m.upbound.io/v1beta1"
_MK8S = "mk8s.nebius.m.upbound.io/v1beta1"
_VPC = "vpc.nebius.m.upbound.io/v1beta1"

POOL = ManagedKind(api_version=_VPC, kind="Pool", plural="pools", immutable=("cidrs", "version", "visibility"))
NETWORK = ManagedKind(
    api_version=_VPC,
    kind="Network",
    plural="networks",
    references={"idRef": "Pool"},
    immutable=("ipv4PrivatePools",),
)
SUBNET = ManagedKind(
    api_version=_VPC,
    kind="Subnet",
    plural="subnets",
    references={"networkIdRef": "Network"},
    immutable=("networkIdRef", "ipv4PrivatePools"),
)
ACCOUNT = ManagedKind(api_version=_IAM, kind="ServiceAccount", plural="serviceaccounts")
GROUP = ManagedKind(api_version=_IAM, kind="Group", plural="groups", immutable=("parentId",))
MEMBERSHIP = ManagedKind(
    api_version=_IAM,
    kind="GroupMembership",
    plural="groupmemberships",
    references={"parentIdRef": "Group", "memberIdRef": "ServiceAccount"},
    immutable=("parentIdRef", "memberIdRef"),
)
PERMIT = ManagedKind(
    api_version=_IAM,
    kind="AccessPermit",
    plural="accesspermits",
    references={"parentIdRef": "Group"},
    immutable=("parentIdRef", "resourceId", "role"),
)
FILESYSTEM = ManagedKind(api_version=_COMPUTE, kind="Filesystem", plural="filesystems", immutable=("type",))
GPU_CLUSTER = ManagedKind(
    api_version=_COMPUTE, kind="GpuCluster", plural="gpuclusters", immutable=("infinibandFabric",)
)
CLUSTER = ManagedKind(
    api_version=_MK8S,
    kind="Cluster",
    plural="clusters",
    references={"subnetIdRef": "Subnet"},
    immutable=("controlPlane.subnetIdRef", "controlPlane.etcdClusterSize", "kubeNetwork"),
)
NODE_GROUP = ManagedKind(
    api_version=_MK8S,
    kind="NodeGroup",
    plural="nodegroups",
    references={
        "parentIdRef": "Cluster",
        "subnetIdRef": "Subnet",
        "serviceAccountIdRef": "ServiceAccount",
        "existingFilesystem.idRef": "Filesystem",
        "gpuCluster.idRef": "GpuCluster",
        "cloudInitUserDataSecretRef": "Secret",
    },
    # all but parentIdRef could change, and every node of the group would be replaced (mk8s_v1_node_group, template)
    immutable=(
        "parentIdRef",
        "template.resources",
        "template.bootDisk",
        "template.gpuSettings",
        "template.gpuCluster",
        "template.filesystems",
        "template.networkInterfaces",
        "template.serviceAccountIdRef",
        "template.cloudInitUserDataSecretRef",
    ),
)
MANAGED = (
    POOL,
    NETWORK,
    SUBNET,
    ACCOUNT,
    GROUP,
    MEMBERSHIP,
    PERMIT,
    FILESYSTEM,
    GPU_CLUSTER,
    CLUSTER,
    NODE_GROUP,
)
SYSTEM_NODES = range(2, 5)
"""Sizes of a cluster's own pool: two nodes keep the proxies when one is replaced."""
SYSTEM_DISK = 100
"""Size of the boot disks of a cluster's own pool, in GiB."""
