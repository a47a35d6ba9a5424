"""The managed resources that a GKE cluster consists of, and constants of GKE.

Fields marked immutable are those that the provider recreates a resource for (ForceNew in terraform-provider-google,
which provider-upjet-gcp v2.6 is generated from).
"""

from __future__ import annotations

from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.provisioner import Package

PROVIDER = "gcp.m.upbound.io/v1beta1"
_PLATFORM = "cloudplatform.gcp.m.upbound.io/v1beta1"
_COMPUTE = "compute.gcp.m.upbound.io/v1beta1"
_CONTAINER = "container.gcp.m.upbound.io/v1beta1"

PROJECT_SERVICE = ManagedKind(
    api_version=_PLATFORM, kind="ProjectService", plural="projectservices", immutable=("service",)
)
SERVICE_ACCOUNT = ManagedKind(api_version=_PLATFORM, kind="ServiceAccount", plural="serviceaccounts")
SERVICE_ACCOUNT_KEY = ManagedKind(
    api_version=_PLATFORM,
    kind="ServiceAccountKey",
    plural="serviceaccountkeys",
    references={"serviceAccountIdRef": "ServiceAccount"},
    immutable=("serviceAccountIdRef",),
)
PROJECT_ROLE = ManagedKind(
    api_version=_PLATFORM,
    kind="ProjectIAMMember",
    plural="projectiammembers",
    immutable=("project", "role", "member"),
)
NETWORK = ManagedKind(api_version=_COMPUTE, kind="Network", plural="networks", immutable=("autoCreateSubnetworks",))
SUBNETWORK = ManagedKind(
    api_version=_COMPUTE,
    kind="Subnetwork",
    plural="subnetworks",
    references={"networkRef": "Network"},
    immutable=("networkRef", "region", "ipCidrRange", "secondaryIpRange"),
)
ROUTER = ManagedKind(
    api_version=_COMPUTE,
    kind="Router",
    plural="routers",
    references={"networkRef": "Network"},
    immutable=("networkRef", "region"),
)
ROUTER_NAT = ManagedKind(
    api_version=_COMPUTE,
    kind="RouterNAT",
    plural="routernats",
    references={"routerRef": "Router"},
    immutable=("routerRef", "region"),
)
CLUSTER = ManagedKind(
    api_version=_CONTAINER,
    kind="Cluster",
    plural="clusters",
    references={"networkRef": "Network", "subnetworkRef": "Subnetwork", "serviceAccountRef": "ServiceAccount"},
    immutable=(
        "location",
        "networkRef",
        "subnetworkRef",
        "networkingMode",
        "ipAllocationPolicy",
        "datapathProvider",
        "defaultMaxPodsPerNode",
        "initialNodeCount",
        "nodeLocations",
        "privateClusterConfig",
    ),
)
NODE_POOL = ManagedKind(
    api_version=_CONTAINER,
    kind="NodePool",
    plural="nodepools",
    references={"clusterRef": "Cluster", "serviceAccountRef": "ServiceAccount"},
    immutable=(
        "clusterRef",
        "location",
        "maxPodsPerNode",
        "nodeLocations",
        "nodeConfig.diskSizeGb",
        "nodeConfig.guestAccelerator",
        "nodeConfig.imageType",
        "nodeConfig.machineType",
        "nodeConfig.reservationAffinity",
        "nodeConfig.oauthScopes",
        "nodeConfig.serviceAccountRef",
        "nodeConfig.workloadMetadataConfig",
    ),
)
MANAGED = (
    PROJECT_SERVICE,
    SERVICE_ACCOUNT,
    SERVICE_ACCOUNT_KEY,
    PROJECT_ROLE,
    NETWORK,
    SUBNETWORK,
    ROUTER,
    ROUTER_NAT,
    CLUSTER,
    NODE_POOL,
)

_VERSION = ">=v2.6.0,<v3.0.0"
"""v3 reworks the kinds Cluster and NodePool. Crossplane reads constraints as Masterminds/semver does."""
PACKAGES = tuple(
    Package(package=f"xpkg.crossplane.io/crossplane-contrib/provider-gcp-{service}", version=_VERSION)
    for service in ("cloudplatform", "compute", "container")
)

KUBERNETES = "1.35"
"""Version of new clusters: the default of the Regular channel in autumn 2026 (its release notes)."""
CHANNEL = "REGULAR"
"""Release channel. GKE upgrades the control plane and the nodes of a cluster by itself; clusters without a channel are
no longer offered from June 2027 on (GKE release notes)."""

LONGEST_NAME = 40
"""Longest name of a cluster or a node pool (GKE API, Cluster.name and NodePool.name)."""
LONGEST_ACCOUNT = 30
"""Longest name of a service account: 6 to 30 characters (IAM API, accountId)."""

PODS_RANGE = "pods"
SERVICES_RANGE = "services"

SYSTEM_NODES, MOST_SYSTEM_NODES = 2, 4
SYSTEM_DISK = 100
SYSTEM_PODS = 110
"""Most pods on a system node: GKE's default. GKE reserves 256 addresses for such a node."""
POOL_PODS = 64
"""Most pods on a node of a pool. GKE reserves twice as many addresses, rounded up to a power of two (page "Configure
maximum Pods per node"). GKE's own pods are about 15, and a machine has at most 16 accelerators."""

NODE_ROLES = {
    "defaults": "roles/container.defaultNodeServiceAccount",
    "images": "roles/artifactregistry.reader",
}
"""What nodes need: to log, to report metrics, and to pull images of the project (page "Harden your cluster's security",
section on least privilege)."""
ACCESS_ROLE = "roles/container.admin"
"""Role of the account by which the cluster is reached. The serving stack has CustomResourceDefinitions and
ClusterRoles, which roles/container.developer may not write."""
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
"""OAuth scope of nodes. What they may do is decided by the roles alone."""
