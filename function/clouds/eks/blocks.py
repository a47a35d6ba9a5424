"""The blocks of the API that EKS reads."""

from __future__ import annotations

from typing import Literal

from function import schema
from function.contracts.cloud.blocks import ApiServer, Credentials, DiskSize, Zones, keeps


class Network(schema.Api):
    cidr: schema.Cidr = "10.0.0.0/16"
    """Addresses of the VPC: of its nodes and pods. IPv4, from /16 to /22."""
    serviceCidr: schema.Cidr = "172.20.0.0/16"
    """Addresses of Services, private and outside of cidr. IPv4, from /12 to /24."""
    natGateways: Literal["PerZone", "Single"] = "PerZone"
    """NAT gateways by which nodes reach the internet. With PerZone, the failure of a zone cuts off no other, and no
    traffic to the internet is paid for between zones. Single costs less while there is little traffic."""


class SystemPool(schema.Api):
    instanceType: schema.CloudName = "m6i.xlarge"
    """Instance type, of architecture x86_64."""


class Cluster(schema.Api):
    """Settings of a cluster that EKS makes."""

    RULES = keeps("region", "zones", "network", "systemPool")

    region: schema.CloudName
    """Region, such as us-east-1."""
    zones: Zones = ()
    """Availability zones of the control plane and of pools that name none, at least two. Defaults to the pools' zones,
    and to others from a on as needed."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version, such as 1.36. Defaults to the one that Modelplane is tested with."""
    network: Network = Network()
    """The VPC of the cluster."""
    apiServer: ApiServer = ApiServer()
    """Access to the API server."""
    systemPool: SystemPool = SystemPool()
    """Machines for everything that needs no device."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster."""


class Machine(schema.Api):
    """How EKS makes nodes of the class."""

    instanceType: schema.CloudName
    """Instance type, such as p5.48xlarge."""
    diskSizeGb: DiskSize = 100
    """Size of the root volume, in GB."""
    amiType: Literal[
        "AL2023_x86_64_NVIDIA",
        "AL2023_ARM_64_NVIDIA",
        "AL2023_x86_64_STANDARD",
        "BOTTLEROCKET_x86_64_NVIDIA",
        "BOTTLEROCKET_ARM_64_NVIDIA",
    ] = "AL2023_x86_64_NVIDIA"
    """Family of the machine images."""
