"""A cluster that AKS makes, with its network, identity and node pools."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Len

from function import schema
from function.clouds.aks.blocks import Cluster, Machine
from function.contracts.cloud import provisioned
from function.vocabulary import versions

API_VERSION = versions.INFRASTRUCTURE
KIND = "AKSCluster"
PLURAL = "aksclusters"
SHORT_NAMES = ("aks",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.INTERNAL
RUNS_IN_NAMESPACE = False
COLUMNS = (
    schema.Column("CLUSTER", "string", ".spec.clusterName"),
    schema.Column("LOCATION", "string", ".spec.location"),
)


class Pool(provisioned.Pool):
    machine: Machine
    """How its nodes are made."""


class Spec(Cluster):
    clusterName: schema.XrName
    """InferenceCluster that the cluster is made for."""
    nodePools: Annotated[tuple[Pool, ...], Len(1, provisioned.MOST_POOLS), schema.ListMap()]
    """GPU node pools. One that its InferenceCluster no longer has is listed while replicas run on it."""


class Status(provisioned.Status):
    pass
