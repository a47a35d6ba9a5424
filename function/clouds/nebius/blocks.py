"""The blocks of the API that Nebius reads."""

from __future__ import annotations

from function import schema
from function.clouds.blocks import Credentials, DiskSize


class Cluster(schema.Api):
    """A cluster that Nebius makes."""

    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version; left out, the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """With whose rights the cluster is made. They choose the project, and so the region."""


class Machine(schema.Api):
    """How Nebius makes them."""

    platform: schema.CloudName
    """Platform, such as gpu-h100-sxm."""
    preset: schema.CloudName
    """Preset of the platform, such as 8gpu-128vcpu-1600gb."""
    diskSizeGb: DiskSize = 200
    """Size of the boot disk, in GB."""
    driversPreset: schema.CloudName = "cuda13.0"
    """The driver that comes with the image."""
