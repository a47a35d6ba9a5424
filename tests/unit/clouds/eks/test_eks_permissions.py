"""The IAM policy of the examples allows what the provider does with each kind that is composed, and little else."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path
from typing import Any

import pytest

from function.clouds.eks import kinds
from function.contracts.cloud.site import TAG
from tests.support.eksclusters import L4, compose, manifests, xr

POLICY = json.loads((Path(__file__).parents[4] / "examples/clouds/permissions/eks.json").read_text())
LONGEST = 6144
"""Characters of a managed policy, white space aside (IAM user guide, quotas)."""

ROLES = "arn:*:iam::*:role/modelplane/*"
"""Every role that is composed, by its path."""

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


def test_what_deletes_is_limited_to_what_has_our_tag_and_to_our_roles() -> None:
    ours = {"Null": {f"aws:ResourceTag/{TAG}": "false"}}
    network = ("ec2:DeleteNetworkInterface",)  # those of mount targets, which EFS makes without tags

    loose = [
        action
        for statement in statements()
        for action in statement["Action"]
        if ":Delete" in action
        and not ours.items() <= statement.get("Condition", {}).items()
        and statement["Resource"] != ROLES
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
    managed = [arn.replace(":*:", ":aws:") for arn in composed]
    assert {arn for arn in arns if "::aws:" in arn} == composed
    assert all(any(is_arn_like(arn, pattern) for pattern in arns) for arn in managed)
    assert not any(is_arn_like("arn:aws:iam::aws:policy/AdministratorAccess", pattern) for pattern in arns)
    assert any(is_arn_like("arn:aws:iam::123456789012:policy/east-policy-autoscaler-1", pattern) for pattern in arns)


def is_arn_like(arn: str, pattern: str) -> bool:
    """Whether ArnLike holds: part by part (IAM user guide, condition operators)."""
    return all(map(fnmatch.fnmatchcase, arn.split(":", 5), pattern.split(":", 5)))


def test_roles_are_confined_by_their_path_and_passed_by_it() -> None:
    """By tags IAM does not reliably tell which role may be passed."""
    composed = [m["spec"]["forProvider"]["path"] for m in manifests(compose(xr(L4))).values() if m["kind"] == "Role"]
    assert {f"arn:*:iam::*:role{path}*" for path in composed} == {ROLES}

    reading = {"iam:GetRole", "iam:ListAttachedRolePolicies", "iam:ListInstanceProfilesForRole", "iam:ListRolePolicies"}
    of_roles = [
        statement
        for statement in statements()
        if {a for a in statement["Action"] if a.startswith("iam:") and "Role" in a} - reading
        and "iam:CreateServiceLinkedRole" not in statement["Action"]
    ]
    assert {statement["Resource"] for statement in of_roles} == {ROLES}
    [passes] = [statement for statement in of_roles if "iam:PassRole" in statement["Action"]]
    assert passes["Condition"].keys() == {"StringEquals"}
