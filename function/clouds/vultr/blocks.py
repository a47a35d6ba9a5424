"""The blocks of the API that Vultr reads."""

from __future__ import annotations

from function import schema
from function.contracts.cloud.blocks import Credentials, keeps


class Cluster(schema.Api):
    """Settings of a cluster that Vultr makes."""

    RULES = keeps("region")

    region: schema.CloudName
    """Region, such as ewr."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version. Defaults to the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster."""


class Machine(schema.Api):
    """How Vultr makes nodes of the class."""

    plan: schema.CloudName
    """Plan, such as vcg-h100-216c-1914gb-640vram."""
