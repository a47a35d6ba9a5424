"""The blocks of the API that Vultr reads."""

from __future__ import annotations

import re
from typing import Annotated

from function import schema
from function.contracts.cloud.blocks import Credentials, keeps

VERSION = re.compile(r"^v1\.[1-9][0-9]{1,2}\.(0|[1-9][0-9]{0,2})\+[1-9][0-9]{0,2}$")
Version = Annotated[
    str,
    schema.Text(
        32,
        VERSION.pattern,
        "a version of Vultr with its build, such as v1.36.1+3",
    ),
]
"""Vultr takes no shorter form: GET /v2/kubernetes/versions lists strings such as v1.36.1+3."""


class SystemPool(schema.Api):
    plan: schema.CloudName = "vc2-6c-16gb"
    """Plan without GPUs."""


class Cluster(schema.Api):
    """Settings of a cluster that Vultr makes."""

    RULES = keeps("region", "systemPool")

    region: schema.CloudName
    """Region, such as ewr."""
    kubernetesVersion: Version | None = None
    """Kubernetes version as Vultr names it, such as v1.36.1+3. Defaults to the one that Modelplane is tested with. An
    upgrade replaces the nodes of every pool."""
    systemPool: SystemPool = SystemPool()
    """Machines for everything that needs no device."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster."""


class Machine(schema.Api):
    """How Vultr makes nodes of the class."""

    plan: schema.CloudName
    """Plan, such as vcg-h100-216c-1914gb-640vram."""
