"""Managed Kubernetes of Nebius. It has no composer yet, so that its clusters are refused."""

from __future__ import annotations

from function.clouds.nebius.blocks import Cluster, Machine
from function.contracts.cloud import provisioned
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="Nebius",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    fabrics=frozenset({"InfiniBand"}),
)
