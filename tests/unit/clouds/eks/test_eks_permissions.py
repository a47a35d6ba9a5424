"""The IAM policy of the examples allows what the provider does with each kind that is composed, and little else."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from function.clouds.eks import kinds
from function.contracts.cloud.site import TAG
from tests.support.eksclusters import L4, compose, manifests, xr

POLICY = json.loads((Path(__file__).parents[4] / "examples/clouds/permissions/eks.json").read_text())
LONGEST = 6144
"""Characters of a managed policy, white space aside (IAM user guide, quotas)."""

LIFE = {
    "VPC": "ec2:CreateVpc ec2:ModifyVpcAttribute ec2:DescribeVpcs ec2:DescribeVpcAttribute ec2:DeleteVpc",
    "Subnet": "ec2:CreateSubnet ec2:ModifySubnetAttribute ec2:DescribeSubnets ec2:DeleteSubnet",
    "InternetGateway": "ec2:CreateInternetGateway ec2:AttachInternetGateway ec2:DescribeInternetGateways "
    "ec2:DetachInternetGateway ec2:DeleteInternetGateway",
    "EIP": "ec2:AllocateAddress ec2:DescribeAddresses ec2:ReleaseAddress",
    "NATGateway": "ec2:CreateNatGateway ec2:DescribeNatGateways ec2:DeleteNatGateway",
    "RouteTable": "ec2:CreateRouteTable ec2:DescribeRouteTables ec2:DeleteRouteTable",
    "Route": "ec2:CreateRoute ec2:ReplaceRoute ec2:DeleteRoute",
    "RouteTableAssociation": "ec2:AssociateRouteTable ec2:DisassociateRouteTable",
    "SecurityGroup": "ec2:CreateSecurityGroup ec2:DescribeSecurityGroups ec2:RevokeSecurityGroupEgress "
    "ec2:DeleteSecurityGroup",
    "SecurityGroupIngressRule": "ec2:AuthorizeSecurityGroupIngress ec2:DescribeSecurityGroupRules "
    "ec2:ModifySecurityGroupRules ec2:RevokeSecurityGroupIngress",
    "SecurityGroupEgressRule": "ec2:AuthorizeSecurityGroupEgress ec2:RevokeSecurityGroupEgress",
    "PlacementGroup": "ec2:CreatePlacementGroup ec2:DescribePlacementGroups ec2:DeletePlacementGroup",
    "LaunchTemplate": "ec2:CreateLaunchTemplate ec2:CreateLaunchTemplateVersion ec2:DescribeLaunchTemplates "
    "ec2:DescribeLaunchTemplateVersions ec2:ModifyLaunchTemplate ec2:DeleteLaunchTemplate",
    "Role": "iam:CreateRole iam:TagRole iam:GetRole iam:UpdateAssumeRolePolicy iam:PassRole iam:DeleteRole",
    "Policy": "iam:CreatePolicy iam:TagPolicy iam:GetPolicy iam:CreatePolicyVersion iam:DeletePolicy",
    "RolePolicyAttachment": "iam:AttachRolePolicy iam:ListAttachedRolePolicies iam:DetachRolePolicy",
    "Cluster": "eks:CreateCluster eks:DescribeCluster eks:UpdateClusterConfig eks:UpdateClusterVersion "
    "eks:DescribeUpdate eks:DeleteCluster",
    "ClusterAuth": "eks:DescribeCluster",
    "Addon": "eks:CreateAddon eks:DescribeAddon eks:UpdateAddon eks:DeleteAddon",
    "PodIdentityAssociation": "eks:CreatePodIdentityAssociation eks:DescribePodIdentityAssociation "
    "eks:UpdatePodIdentityAssociation eks:DeletePodIdentityAssociation",
    "NodeGroup": "eks:CreateNodegroup ec2:RunInstances eks:DescribeNodegroup eks:UpdateNodegroupConfig "
    "eks:UpdateNodegroupVersion eks:DeleteNodegroup",
    "FileSystem": "elasticfilesystem:CreateFileSystem elasticfilesystem:DescribeFileSystems "
    "elasticfilesystem:UpdateFileSystem elasticfilesystem:DeleteFileSystem",
    "MountTarget": "elasticfilesystem:CreateMountTarget ec2:CreateNetworkInterface "
    "elasticfilesystem:DescribeMountTargets elasticfilesystem:DeleteMountTarget",
}
"""What terraform-provider-aws calls to make, read, change and delete each kind (internal/service/*)."""


def statements() -> list[dict[str, Any]]:
    return list(POLICY["Statement"])


def allowed() -> set[str]:
    return {action for statement in statements() for action in statement["Action"]}


@pytest.mark.parametrize("kind", kinds.ALL, ids=lambda kind: kind.kind)
def test_every_kind_can_be_made_changed_and_deleted(kind: Any) -> None:
    assert {*LIFE[kind.kind].split()} - allowed() == set()


def test_aws_takes_it() -> None:
    assert len("".join(json.dumps(POLICY).split())) <= LONGEST
    assert len({statement["Sid"] for statement in statements()}) == len(statements())


def test_no_action_is_a_pattern() -> None:
    assert [action for action in allowed() if "*" in action] == []


def test_what_deletes_is_limited_to_what_has_our_tag() -> None:
    ours = {"Null": {f"aws:ResourceTag/{TAG}": "false"}}
    network = ("ec2:DeleteNetworkInterface",)

    loose = [
        action
        for statement in statements()
        for action in statement["Action"]
        if ":Delete" in action and not ours.items() <= statement.get("Condition", {}).items()
    ]
    assert loose == [*network]


def test_roles_are_given_the_policies_that_are_composed_and_no_others_of_aws() -> None:
    [grants] = [each for each in statements() if "iam:AttachRolePolicy" in each["Action"]]
    arns = grants["Condition"]["ArnLike"]["iam:PolicyARN"]

    composed = {
        wanted["policyArn"].replace("arn:aws:", "arn:*:")
        for manifest in manifests(compose(xr(L4))).values()
        if "policyArn" in (wanted := manifest["spec"]["forProvider"])
    }
    assert {arn for arn in arns if "::aws:" in arn} == composed


def is_like(arn: str, pattern: str) -> bool:
    """ArnLike compares part by part (IAM user guide, condition operators)."""
    return all(fnmatchcase(*parts) for parts in zip(arn.split(":", 5), pattern.split(":", 5), strict=True))


@pytest.mark.parametrize(
    ("arn", "may"),
    [
        ("arn:aws:iam::aws:policy/AdministratorAccess", False),
        ("arn:aws:iam::aws:policy/AmazonEKSClusterPolicy", True),
        ("arn:aws-cn:iam::aws:policy/AmazonEKS_CNI_Policy", True),
        ("arn:aws:iam::123456789012:policy/us-east-autoscaler-3f9c2a71", True),
    ],
)
def test_no_role_can_be_given_another_policy_of_aws(arn: str, may: bool) -> None:
    """The account of AWS' own policies is aws, and that of the autoscaler's is a number."""
    [grants] = [each for each in statements() if "iam:AttachRolePolicy" in each["Action"]]

    assert any(is_like(arn, pattern) for pattern in grants["Condition"]["ArnLike"]["iam:PolicyARN"]) == may
