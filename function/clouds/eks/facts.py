"""What EKS is like, and what Modelplane chooses there."""

from __future__ import annotations

from typing import Literal

VERSION = "1.36"
"""Version of a new cluster. EKS names a minor version only."""

SYSTEM_IMAGE: Literal["AL2023_x86_64_STANDARD"] = "AL2023_x86_64_STANDARD"
SYSTEM_DISK = 100
SYSTEM_NODES, MOST_SYSTEM_NODES = 2, 6

KUBECONFIG = "kubeconfig"
"""Key of the Secret that a ClusterAuth writes (provider-upjet-aws, internal/controller/namespaced/eks/clusterauth)."""

CACHE_USER = 2000
"""User and group of every file on EFS: the one that stages weights (function/kinds/modelcache). An access point makes
every client that user, so that engines read and write whoever they are (EFS user guide, access points)."""


def partition(region: str) -> str:
    """Return the partition of a region, which is part of every ARN."""
    if region.startswith("us-gov-"):
        return "aws-us-gov"
    return "aws-cn" if region.startswith("cn-") else "aws"


def suffix(region: str) -> str:
    """Return the domain by which EC2 is named in policies of a region. EKS is named alike in all of them."""
    return "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
