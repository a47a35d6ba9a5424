"""The blocks of the API that EKS reads."""

from __future__ import annotations

from typing import Literal

from function import schema
from function.clouds.blocks import Credentials, DiskSize, Zones, keeps


class Cluster(schema.Api):
    """A cluster that EKS makes."""

    RULES = keeps("region")

    region: schema.CloudName
    """Region, such as us-east-1."""
    zones: Zones = ()
    """Availability zones of the network, at least two; left out, Modelplane's choice and the pools'."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version; left out, the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """With whose rights the cluster is made."""


class Machine(schema.Api):
    """How EKS makes them."""

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
