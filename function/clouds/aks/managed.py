"""The kinds of managed resources that an AKSCluster consists of, and the provider packages that serve them.

References and fields that cannot change are those of provider-upjet-azure v2.6.0 and of the terraform provider azurerm
that it wraps (ForceNew). Changes that azurerm makes by rotating a node pool count as impossible, too: a rotation
deletes every node of the pool.
"""

from __future__ import annotations

from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.provisioner import Package

PROVIDER = "azure.m.upbound.io/v1beta1"
_NETWORK = "network.azure.m.upbound.io/v1beta1"
_CONTAINERS = "containerservice.azure.m.upbound.io/v1beta1"
_IN_GROUP = {"resourceGroupNameRef": "ResourceGroup"}

RESOURCE_GROUP = ManagedKind(
    api_version=PROVIDER, kind="ResourceGroup", plural="resourcegroups", immutable=("location",)
)
VIRTUAL_NETWORK = ManagedKind(
    api_version=_NETWORK,
    kind="VirtualNetwork",
    plural="virtualnetworks",
    references=_IN_GROUP,
    immutable=("location", "resourceGroupNameRef", "addressSpace"),
)
SUBNET = ManagedKind(
    api_version=_NETWORK,
    kind="Subnet",
    plural="subnets",
    references={**_IN_GROUP, "virtualNetworkNameRef": "VirtualNetwork"},
    immutable=("resourceGroupNameRef", "virtualNetworkNameRef", "addressPrefixes"),
)
PUBLIC_IP = ManagedKind(
    api_version=_NETWORK,
    kind="PublicIP",
    plural="publicips",
    references=_IN_GROUP,
    immutable=("location", "resourceGroupNameRef", "allocationMethod", "sku"),
)
NAT_GATEWAY = ManagedKind(
    api_version=_NETWORK,
    kind="NATGateway",
    plural="natgateways",
    references=_IN_GROUP,
    immutable=("location", "resourceGroupNameRef", "skuName"),
)
NAT_ADDRESS = ManagedKind(
    api_version=_NETWORK,
    kind="NATGatewayPublicIPAssociation",
    plural="natgatewaypublicipassociations",
    references={"natGatewayIdRef": "NATGateway", "publicIpAddressIdRef": "PublicIP"},
    immutable=("natGatewayIdRef", "publicIpAddressIdRef"),
)
NAT_SUBNET = ManagedKind(
    api_version=_NETWORK,
    kind="SubnetNATGatewayAssociation",
    plural="subnetnatgatewayassociations",
    references={"natGatewayIdRef": "NATGateway", "subnetIdRef": "Subnet"},
    immutable=("natGatewayIdRef", "subnetIdRef"),
)
IDENTITY = ManagedKind(
    api_version="managedidentity.azure.m.upbound.io/v1beta1",
    kind="UserAssignedIdentity",
    plural="userassignedidentities",
    references=_IN_GROUP,
    immutable=("location", "name", "resourceGroupNameRef"),
)
ROLE_ASSIGNMENT = ManagedKind(
    api_version="authorization.azure.m.upbound.io/v1beta1",
    kind="RoleAssignment",
    plural="roleassignments",
    immutable=("principalId", "principalType", "roleDefinitionName", "scope", "skipServicePrincipalAadCheck"),
)
CLUSTER = ManagedKind(
    api_version=_CONTAINERS,
    kind="KubernetesCluster",
    plural="kubernetesclusters",
    references={**_IN_GROUP, "vnetSubnetIdRef": "Subnet", "identityIdsRefs": "UserAssignedIdentity"},
    immutable=(
        "location",
        "resourceGroupNameRef",
        "dnsPrefix",
        "nodeResourceGroup",
        "identity.identityIdsRefs",
        "networkProfile.networkPlugin",
        "networkProfile.networkPluginMode",
        "networkProfile.loadBalancerSku",
        "networkProfile.outboundType",
        "networkProfile.podCidr",
        "networkProfile.serviceCidr",
        "networkProfile.dnsServiceIp",
        "defaultNodePool.name",
        "defaultNodePool.vmSize",
        "defaultNodePool.osDiskSizeGb",
        "defaultNodePool.vnetSubnetIdRef",
    ),
)
NODE_POOL = ManagedKind(
    api_version=_CONTAINERS,
    kind="KubernetesClusterNodePool",
    plural="kubernetesclusternodepools",
    references={"kubernetesClusterIdRef": "KubernetesCluster", "vnetSubnetIdRef": "Subnet"},
    immutable=(
        "kubernetesClusterIdRef",
        "vnetSubnetIdRef",
        "mode",
        "vmSize",
        "osDiskSizeGb",
        "osSku",
        "zones",
        "gpuDriver",
    ),
)
KINDS = (
    RESOURCE_GROUP,
    VIRTUAL_NETWORK,
    SUBNET,
    PUBLIC_IP,
    NAT_GATEWAY,
    NAT_ADDRESS,
    NAT_SUBNET,
    IDENTITY,
    ROLE_ASSIGNMENT,
    CLUSTER,
    NODE_POOL,
)


def _package(name: str) -> Package:
    return Package(package=f"xpkg.crossplane.io/crossplane-contrib/{name}", version=">=v2.6.0,<v3.0.0")


PACKAGES = tuple(
    map(
        _package,
        (
            "provider-family-azure",
            "provider-azure-network",
            "provider-azure-managedidentity",
            "provider-azure-authorization",
            "provider-azure-containerservice",
        ),
    )
)
"""The family provider serves ResourceGroup and the provider configs."""
