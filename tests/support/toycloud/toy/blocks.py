"""The blocks of the API that Toy reads."""

from __future__ import annotations

from function import schema
from function.contracts.cloud.blocks import Credentials, keeps


class Cluster(schema.Api):
    """A cluster that Toy makes."""

    RULES = keeps("region", "cidr")

    region: schema.CloudName
    """Region, such as toy-1."""
    cidr: schema.Cidr = "10.0.0.0/16"
    """Its network, of at least 256 addresses."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version."""
    credentials: Credentials = Credentials()
    """Provider config with whose rights the cluster is made."""


class Machine(schema.Api):
    """How Toy makes them."""

    size: schema.CloudName
    """Size of the machines, such as large."""
