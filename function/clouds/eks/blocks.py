"""The blocks of the API that EKS reads."""

from __future__ import annotations

from typing import Literal

from function import schema
from function.contracts.cloud.blocks import Credentials, DiskSize, Zones, keeps


class Cluster(schema.Api):
    """Settings of a cluster that EKS makes."""

    RULES = keeps("region")

    region: schema.CloudName
    """Region, such as us-east-1."""
    zones: Zones = ()
    """Availability zones of the network, at least two. Defaults to the pools' zones, and others as needed."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version. Defaults to the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster."""


class Machine(schema.Api):
    """How EKS makes nodes of the class."""

    instanceType: schema.CloudName
    """Instance type, such as p5.48xlarge."""
    diskSizeGb: DiskSize = 100
    """Size of the root volume, in GB."""
    amiType: Literal[
        "AL2023_x86_64_NVIDIA",
        "AL2023_ARM_64_NVIDIA",
        "AL2023_x86_64_STANDARD",
        "BOTTLEROCKET_x86_64_NVIDIA",
        "BOTTLEROCKET_ARM_64_NVIDIA",
    ] = "AL2023_x86_64_NVIDIA"
    """Family of the machine images."""
