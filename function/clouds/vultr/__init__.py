"""Vultr Kubernetes Engine. It has no composer yet, so that its clusters are refused."""

from __future__ import annotations

from function.clouds import provisioned
from function.clouds.source import Source
from function.clouds.vultr.blocks import Cluster, Machine

SOURCE = Source(
    name="Vultr",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
)
