"""The blocks of the API that AKS reads."""

from __future__ import annotations

from function import schema
from function.contracts.cloud.blocks import ApiServer, Credentials, DiskSize, keeps


class Network(schema.Api):
    cidr: schema.Cidr = "10.0.0.0/16"
    """Address space of the virtual network. Its first half is the subnet of the nodes."""
    podCidr: schema.Cidr = "10.192.0.0/11"
    """Addresses of pods, outside the virtual network. Each node takes a /24 of them."""
    serviceCidr: schema.Cidr = "10.96.0.0/16"
    """Addresses of Services, outside the virtual network."""


class SystemPool(schema.Api):
    vmSize: schema.CloudName = "Standard_D4s_v5"
    """Size of the machines, of at least 4 vCPUs and 4 GiB, of no B series."""


class Cluster(schema.Api):
    """Settings of a cluster that AKS makes."""

    RULES = keeps("location", "network", "systemPool")

    location: schema.CloudName
    """Location, such as eastus."""
    network: Network = Network()
    """Networks of the cluster, all IPv4. They cannot overlap each other, or networks that the cluster must reach."""
    apiServer: ApiServer = ApiServer()
    """Access to the API server."""
    systemPool: SystemPool = SystemPool()
    """Machines for everything that needs no device."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version. Defaults to the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster."""


class Machine(schema.Api):
    """How AKS makes nodes of the class."""

    vmSize: schema.CloudName
    """Size of the machines, such as Standard_ND96isr_H100_v5."""
    diskSizeGb: DiskSize = 128
    """Size of the OS disk, in GB: 30 to 2048."""
