"""A cluster that Nebius makes, with its node pools."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Len

from function import schema
from function.clouds.nebius.blocks import Cluster, Machine
from function.contracts.cloud import provisioned
from function.vocabulary import versions

API_VERSION = versions.INFRASTRUCTURE
KIND = "NebiusCluster"
PLURAL = "nebiusclusters"
SHORT_NAMES = ("mk8s",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.INTERNAL
RUNS_IN_NAMESPACE = False
COLUMNS = (schema.Column("CLUSTER", "string", ".spec.clusterName"),)


class Pool(provisioned.Pool):
    machine: Machine
    """How its nodes are made."""


class Spec(Cluster):
    clusterName: schema.XrName
    """The InferenceCluster that it is made for."""
    nodePools: Annotated[tuple[Pool, ...], Len(1, provisioned.MOST_POOLS), schema.ListMap()]
    """Node pools of the cluster, beside the system pool."""


class Status(provisioned.Status):
    pass
