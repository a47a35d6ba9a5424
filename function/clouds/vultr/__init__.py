"""Vultr Kubernetes Engine. It has no composer yet, so that its clusters are refused."""

from __future__ import annotations

from function.clouds.vultr.blocks import Cluster, Machine
from function.contracts.cloud import provisioned
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="Vultr",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
)
