"""Clusters that exist already: nothing is made, and nothing but what Modelplane installed is deleted."""

from __future__ import annotations

from function.clouds.existing import access
from function.clouds.existing.blocks import Cluster
from function.contracts.cloud.source import Source

SOURCE = Source(
    name="Existing",
    cluster=Cluster,
    access=access.access,
    requirements=access.requirements,
    storage_class=access.storage_class,
    instead="; an existing cluster is taken as it is: give its NICs as devices of the class",
)
