"""Amazon Elastic Kubernetes Service. It has no composer yet, so that its clusters are refused."""

from __future__ import annotations

from function.clouds.eks import drivers
from function.clouds.eks.blocks import Cluster, Machine
from function.contracts.cloud import provisioned
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="EKS",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    zones=True,
    capacity_blocks=True,
    fabrics=frozenset({"EFA"}),
    # AWS Load Balancer Controller, Service annotations
    internal_load_balancer={"service.beta.kubernetes.io/aws-load-balancer-scheme": "internal"},
    driver_charts=drivers.CHARTS,
)
