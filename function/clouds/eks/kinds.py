"""The kinds of managed resources that an EKSCluster consists of (provider-upjet-aws v2.6).

Immutable fields are those that make the resource anew in terraform-provider-aws v6, on which the provider is built
(internal/service/{ec2,eks,efs,iam}), unless a comment says otherwise.
"""

from __future__ import annotations

from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.provisioner import Package

PROVIDER = "aws.m.upbound.io/v1beta1"
PACKAGES = tuple(
    Package(package=f"xpkg.crossplane.io/crossplane-contrib/provider-aws-{service}", version=">=v2.6.0,<v3.0.0")
    for service in ("ec2", "efs", "eks", "iam")
)
ASSUMED_CONFIG = {"credentials": {"source": "PodIdentity"}}
"""A provider config that needs no Secret."""
_EC2, _EFS, _EKS, _IAM = (f"{service}.{PROVIDER}" for service in ("ec2", "efs", "eks", "iam"))

VPC = ManagedKind(api_version=_EC2, kind="VPC", plural="vpcs", immutable=("region", "cidrBlock"))
SUBNET = ManagedKind(
    api_version=_EC2,
    kind="Subnet",
    plural="subnets",
    references={"vpcIdRef": "VPC"},
    immutable=("region", "vpcIdRef", "availabilityZone", "cidrBlock"),
)
INTERNET_GATEWAY = ManagedKind(
    api_version=_EC2,
    kind="InternetGateway",
    plural="internetgateways",
    references={"vpcIdRef": "VPC"},
    immutable=("region", "vpcIdRef"),
)
ADDRESS = ManagedKind(api_version=_EC2, kind="EIP", plural="eips", immutable=("region", "domain"))
NAT_GATEWAY = ManagedKind(
    api_version=_EC2,
    kind="NATGateway",
    plural="natgateways",
    references={"allocationIdRef": "EIP", "subnetIdRef": "Subnet"},
    immutable=("region", "allocationIdRef", "subnetIdRef", "connectivityType"),
)
ROUTE_TABLE = ManagedKind(
    api_version=_EC2,
    kind="RouteTable",
    plural="routetables",
    references={"vpcIdRef": "VPC"},
    immutable=("region", "vpcIdRef"),
)
ROUTE = ManagedKind(
    api_version=_EC2,
    kind="Route",
    plural="routes",
    references={"routeTableIdRef": "RouteTable", "gatewayIdRef": "InternetGateway", "natGatewayIdRef": "NATGateway"},
    immutable=("region", "routeTableIdRef", "destinationCidrBlock"),
)
ROUTE_TABLE_ASSOCIATION = ManagedKind(
    api_version=_EC2,
    kind="RouteTableAssociation",
    plural="routetableassociations",
    references={"routeTableIdRef": "RouteTable", "subnetIdRef": "Subnet"},
    immutable=("region", "subnetIdRef"),
)
SECURITY_GROUP = ManagedKind(
    api_version=_EC2,
    kind="SecurityGroup",
    plural="securitygroups",
    references={"vpcIdRef": "VPC"},
    immutable=("region", "vpcIdRef", "name", "description"),
)
_RULE_REFERENCES = {"securityGroupIdRef": "SecurityGroup", "referencedSecurityGroupIdRef": "SecurityGroup"}
INGRESS_RULE = ManagedKind(
    api_version=_EC2,
    kind="SecurityGroupIngressRule",
    plural="securitygroupingressrules",
    references=_RULE_REFERENCES,
    immutable=("region", "securityGroupIdRef"),
)
EGRESS_RULE = ManagedKind(
    api_version=_EC2,
    kind="SecurityGroupEgressRule",
    plural="securitygroupegressrules",
    references=_RULE_REFERENCES,
    immutable=("region", "securityGroupIdRef"),
)
PLACEMENT_GROUP = ManagedKind(
    api_version=_EC2, kind="PlacementGroup", plural="placementgroups", immutable=("region", "strategy")
)
LAUNCH_TEMPLATE = ManagedKind(
    api_version=_EC2,
    kind="LaunchTemplate",
    plural="launchtemplates",
    # AWS does take another content, as another version: EKS then replaces the nodes, under the replicas on them.
    # What a user may edit of a pool is in none of these fields.
    immutable=(
        "region",
        "name",
        "instanceType",
        "blockDeviceMappings",
        "userData",
        "metadataOptions",
        "networkInterfaces",
        "placement",
        "instanceMarketOptions",
        "capacityReservationSpecification",
        "tagSpecifications",
    ),
)

ROLE = ManagedKind(api_version=_IAM, kind="Role", plural="roles", immutable=("path",))
POLICY = ManagedKind(api_version=_IAM, kind="Policy", plural="policies", immutable=("description",))
ROLE_POLICY_ATTACHMENT = ManagedKind(
    api_version=_IAM,
    kind="RolePolicyAttachment",
    plural="rolepolicyattachments",
    references={"roleRef": "Role", "policyArnRef": "Policy"},
    immutable=("roleRef", "policyArnRef", "policyArn"),
)

CLUSTER = ManagedKind(
    api_version=_EKS,
    kind="Cluster",
    plural="clusters",
    references={"roleArnRef": "Role", "subnetIdRefs": "Subnet"},
    # the subnets can be changed, but only to others in the same zones (EKS user guide, network requirements)
    immutable=(
        "region",
        "roleArnRef",
        "vpcConfig.subnetIdRefs",
        "kubernetesNetworkConfig.serviceIpv4Cidr",
        "accessConfig.bootstrapClusterCreatorAdminPermissions",
        "bootstrapSelfManagedAddons",
    ),
)
CLUSTER_AUTH = ManagedKind(
    api_version=_EKS,
    kind="ClusterAuth",
    plural="clusterauths",
    references={"clusterNameRef": "Cluster"},
    immutable=("region", "clusterNameRef"),
)
ADDON = ManagedKind(
    api_version=_EKS,
    kind="Addon",
    plural="addons",
    references={"clusterNameRef": "Cluster"},
    immutable=("region", "clusterNameRef", "addonName"),
)
POD_IDENTITY = ManagedKind(
    api_version=_EKS,
    kind="PodIdentityAssociation",
    plural="podidentityassociations",
    references={"clusterNameRef": "Cluster", "roleArnRef": "Role"},
    immutable=("region", "clusterNameRef", "namespace", "serviceAccount"),
)
NODE_GROUP = ManagedKind(
    api_version=_EKS,
    kind="NodeGroup",
    plural="nodegroups",
    references={"clusterNameRef": "Cluster", "nodeRoleArnRef": "Role", "subnetIdRefs": "Subnet"},
    immutable=(
        "region",
        "clusterNameRef",
        "nodeRoleArnRef",
        "subnetIdRefs",
        "amiType",
        "capacityType",
        "launchTemplate.id",
    ),
)

FILE_SYSTEM = ManagedKind(
    api_version=_EFS, kind="FileSystem", plural="filesystems", immutable=("region", "encrypted", "performanceMode")
)
MOUNT_TARGET = ManagedKind(
    api_version=_EFS,
    kind="MountTarget",
    plural="mounttargets",
    references={"fileSystemIdRef": "FileSystem", "subnetIdRef": "Subnet", "securityGroupsRefs": "SecurityGroup"},
    immutable=("region", "fileSystemIdRef", "subnetIdRef"),
)

ALL = (
    VPC,
    SUBNET,
    INTERNET_GATEWAY,
    ADDRESS,
    NAT_GATEWAY,
    ROUTE_TABLE,
    ROUTE,
    ROUTE_TABLE_ASSOCIATION,
    SECURITY_GROUP,
    INGRESS_RULE,
    EGRESS_RULE,
    PLACEMENT_GROUP,
    LAUNCH_TEMPLATE,
    ROLE,
    POLICY,
    ROLE_POLICY_ATTACHMENT,
    CLUSTER,
    CLUSTER_AUTH,
    ADDON,
    POD_IDENTITY,
    NODE_GROUP,
    FILE_SYSTEM,
    MOUNT_TARGET,
)
