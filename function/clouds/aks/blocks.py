"""The blocks of the API that AKS reads."""

from __future__ import annotations

from function import schema
from function.clouds.blocks import Credentials, DiskSize, keeps


class Cluster(schema.Api):
    """A cluster that AKS makes."""

    RULES = keeps("location")

    location: schema.CloudName
    """Location, such as eastus."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version; left out, the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """With whose rights the cluster is made."""


class Machine(schema.Api):
    """How AKS makes them."""

    vmSize: schema.CloudName
    """Size of the machines, such as Standard_ND96isr_H100_v5."""
    diskSizeGb: DiskSize = 128
    """Size of the OS disk, in GB."""
