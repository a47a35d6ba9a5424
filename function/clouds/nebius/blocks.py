"""The blocks of the API that Nebius reads."""

from __future__ import annotations

from function import schema
from function.contracts.cloud.blocks import Credentials, DiskSize


class Cluster(schema.Api):
    """Settings of a cluster that Nebius makes."""

    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version. Defaults to the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster. Its project determines the region."""


class Machine(schema.Api):
    """How Nebius makes nodes of the class."""

    platform: schema.CloudName
    """Platform, such as gpu-h100-sxm."""
    preset: schema.CloudName
    """Preset of the platform, such as 8gpu-128vcpu-1600gb."""
    diskSizeGb: DiskSize = 200
    """Size of the boot disk, in GB."""
    driversPreset: schema.CloudName = "cuda13.0"
    """NVIDIA driver that the image includes."""
