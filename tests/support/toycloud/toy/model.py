"""A cluster that Toy makes, with its node pools."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Len
from function.clouds.toy.blocks import Cluster, Machine

from function import schema
from function.contracts.cloud import provisioned
from function.vocabulary import versions

API_VERSION = versions.INFRASTRUCTURE
KIND = "ToyCluster"
PLURAL = "toyclusters"
SHORT_NAMES = ("toy",)
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
    """Its node pools."""


class Status(provisioned.Status):
    pass
