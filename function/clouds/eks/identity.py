"""Who may do what: roles, their policies, and the service accounts that have them by EKS Pod Identity.

No identity has keys. A pod gets short-lived credentials from the agent on its node (EKS user guide, Pod Identity), and
node roles have no more than a node needs to join and to pull images.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from function.clouds.eks import facts, kinds
from function.clouds.eks.model import Spec
from function.contracts.cloud.site import Resource, Site

CLUSTER, NODE, CNI, EBS, EFS, AUTOSCALER = "cluster", "node", "cni", "ebs", "efs", "autoscaler"
SYSTEM = "kube-system"
"""Namespace of every service account that has a role."""
AUTOSCALER_ACCOUNT = "cluster-autoscaler"
_PATH = "/modelplane/"
"""Where all roles are, so that the rights to pass and to change roles can be confined to them. By the tags of a role,
IAM does not reliably tell who may pass it (IAM user guide, passing roles). EKS takes roles with a path where nodes join
by access entries (authenticationMode API)."""
_POLICY, _GRANTED = "policy-autoscaler", "granted-autoscaler"


@dataclass(frozen=True, slots=True)
class _Role:
    key: str
    trusted: str
    policies: tuple[str, ...] = ()
    """Names of AWS' policies, with their paths."""
    account: str | None = None
    """Service account that has the role."""


_PODS = "pods.eks"
# pages "Amazon EKS cluster IAM role", "Amazon EKS node IAM role", "Amazon EKS add-ons"
_ROLES = (
    _Role(CLUSTER, "eks", ("AmazonEKSClusterPolicy",)),
    _Role(NODE, "ec2", ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")),
    _Role(CNI, _PODS, ("AmazonEKS_CNI_Policy",), "aws-node"),
    _Role(EBS, _PODS, ("service-role/AmazonEBSCSIDriverPolicy",), "ebs-csi-controller-sa"),
    _Role(EFS, _PODS, ("service-role/AmazonEFSCSIDriverPolicy",), "efs-csi-controller-sa"),
    _Role(AUTOSCALER, _PODS, (), AUTOSCALER_ACCOUNT),
)
_BY_KEY = {role.key: role for role in _ROLES}


def role(key: str) -> str:
    """Return the key of the resource that is a role."""
    return f"role-{key}"


def granted(key: str) -> tuple[str, ...]:
    """Return the keys of what gives a role its rights. What uses the role comes after them."""
    return (*(_attachment(key, policy) for policy in _BY_KEY[key].policies), *([_GRANTED] if key == AUTOSCALER else []))


def _attachment(key: str, policy: str) -> str:
    name = policy.rpartition("/")[2].replace("_", "").removeprefix("Amazon").lower()
    return f"granted-{key}-{name}"


def account(key: str) -> str:
    """Return the key of the association of a role with its service account."""
    return f"account-{key}"


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    """Yield roles, policies and associations."""
    for each in _ROLES:
        wanted = {"path": _PATH, "assumeRolePolicy": _trust(spec.region, each.trusted), "tags": site.tags}
        yield site.resource(role(each.key), kinds.ROLE, wanted)
        for policy in each.policies:
            arn = f"arn:{facts.partition(spec.region)}:iam::aws:policy/{policy}"
            attached = {"roleRef": site.ref(role(each.key)), "policyArn": arn}
            yield site.resource(_attachment(each.key, policy), kinds.ROLE_POLICY_ATTACHMENT, attached)
        if each.account:
            yield _association(site, spec, each, each.account)
    yield from _autoscaler_rights(site, spec)


def _autoscaler_rights(site: Site, spec: Spec) -> Iterator[Resource]:
    own = {"description": f"Cluster autoscaler of {site.cluster}", "policy": _autoscaler(site, spec), "tags": site.tags}
    yield site.resource(_POLICY, kinds.POLICY, own)
    attached = {"roleRef": site.ref(role(AUTOSCALER)), "policyArnRef": site.ref(_POLICY)}
    yield site.resource(_GRANTED, kinds.ROLE_POLICY_ATTACHMENT, attached)


def _association(site: Site, spec: Spec, of: _Role, name: str) -> Resource:
    wanted = {
        "region": spec.region,
        "clusterNameRef": site.ref("cluster"),
        "namespace": SYSTEM,
        "serviceAccount": name,
        "roleArnRef": site.ref(role(of.key)),
        "tags": site.tags,
    }
    return site.resource(account(of.key), kinds.POD_IDENTITY, wanted, after=("cluster", *granted(of.key)))


def _trust(region: str, service: str) -> str:
    """The policy that lets a service of AWS take a role."""
    domain = facts.suffix(region) if service == "ec2" else "amazonaws.com"
    actions = ["sts:AssumeRole", "sts:TagSession"] if service == _PODS else ["sts:AssumeRole"]
    return _policy({"Action": actions, "Principal": {"Service": f"{service}.{domain}"}})


def _autoscaler(site: Site, spec: Spec) -> str:
    """What the autoscaler may do: look at groups, and change the size of this cluster's own.

    EKS tags the Auto Scaling group of each node group with its cluster. IAM has no finer rights to describe groups and
    instances than for all of them (Service Authorization Reference, EC2 Auto Scaling and EC2).
    """
    name, arn = site.cloud_name("cluster"), f"arn:{facts.partition(spec.region)}:eks:{spec.region}"
    owned = {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{name}": "owned"}}
    return _policy(
        {"Action": _DESCRIBE, "Resource": "*"},
        {"Action": _RESIZE, "Resource": "*", "Condition": owned},
        {"Action": ["eks:DescribeNodegroup"], "Resource": f"{arn}:*:nodegroup/{name}/*"},
    )


# cluster-autoscaler, cloudprovider/aws/README.md
_DESCRIBE = [
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeAutoScalingInstances",
    "autoscaling:DescribeLaunchConfigurations",
    "autoscaling:DescribeScalingActivities",
    "autoscaling:DescribeTags",
    "ec2:DescribeImages",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeLaunchTemplateVersions",
    "ec2:GetInstanceTypesFromInstanceRequirements",
]
_RESIZE = ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"]


def _policy(*statements: dict[str, Any]) -> str:
    allowed = [{"Effect": "Allow", **statement} for statement in statements]
    return json.dumps({"Version": "2012-10-17", "Statement": allowed}, separators=(",", ":"))
