"""Azure Kubernetes Service. It has no composer yet, so that its clusters are refused."""

from __future__ import annotations

from function.clouds.aks.blocks import Cluster, Machine
from function.contracts.cloud import provisioned
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="AKS",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    zones=True,
    fabrics=frozenset({"InfiniBand"}),
    # its documentation of internal load balancers
    internal_load_balancer={"service.beta.kubernetes.io/azure-load-balancer-internal": "true"},
)
