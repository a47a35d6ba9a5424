"""The blocks of the API that GKE reads."""

from __future__ import annotations

from typing import Annotated

from function import schema
from function.contracts.cloud.blocks import Credentials, DiskSize, keeps


class Cluster(schema.Api):
    """Settings of a cluster that GKE makes."""

    RULES = keeps("region")

    region: schema.CloudName
    """Region, such as us-central1."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version. Defaults to the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster."""


class Accelerator(schema.Api):
    type: Annotated[str, schema.Text(63, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "an accelerator, such as nvidia-l4")]
    """Google's name for the accelerator."""
    count: Annotated[int, schema.Whole(1, 16)]
    """Number of accelerators in a machine."""


class Machine(schema.Api):
    """How GKE makes nodes of the class."""

    machineType: schema.CloudName
    """Machine type, such as g2-standard-8."""
    diskSizeGb: DiskSize = 100
    """Size of the boot disk, in GB."""
    accelerator: Accelerator | None = None
    """Accelerators of a machine."""
