"""The blocks of the API that AKS reads."""

from __future__ import annotations

from function import schema
from function.contracts.cloud.blocks import Credentials, DiskSize, keeps


class Cluster(schema.Api):
    """Settings of a cluster that AKS makes."""

    RULES = keeps("location")

    location: schema.CloudName
    """Location, such as eastus."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version. Defaults to the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster."""


class Machine(schema.Api):
    """How AKS makes nodes of the class."""

    vmSize: schema.CloudName
    """Size of the machines, such as Standard_ND96isr_H100_v5."""
    diskSizeGb: DiskSize = 128
    """Size of the OS disk, in GB."""
