"""Managed Kubernetes of Nebius. It has no composer yet, so that its clusters are refused."""

from __future__ import annotations

from function.clouds import provisioned
from function.clouds.nebius.blocks import Cluster, Machine
from function.clouds.source import Source

SOURCE = Source(
    name="Nebius",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    fabrics=frozenset({"InfiniBand"}),
)
