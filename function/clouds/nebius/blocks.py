"""The blocks of the API that Nebius reads."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Len

from function import schema
from function.contracts.cloud.blocks import ApiServer, Credentials, DiskSize, keeps
from function.schema import Rule

_OCTET = r"(0|[1-9][0-9]{0,2})"
ServiceCidr = Annotated[
    str,
    schema.Text(
        18,
        rf"^({_OCTET}(\.{_OCTET}){{3}})?/(1[2-9]|2[0-8])$",
        "a length from /12 to /28, or a network of such a length, as in 10.64.0.0/16",
    ),
]
"""One CIDR or a prefix length (terraform-provider-nebius, mk8s_v1_cluster, kube_network.service_cidrs)."""


class Network(schema.Api):
    cidr: schema.Cidr | None = None
    """Private addresses of nodes, pods and Services, such as 10.64.0.0/13. Every node takes a /24. Defaults to the
    addresses that Nebius gives a new network."""
    serviceCidr: ServiceCidr = "/16"
    """Addresses of Services: a length, for which Nebius chooses a free part of the network, or a part of cidr."""


class SystemPool(schema.Api):
    platform: schema.CloudName = "cpu-d3"
    """Platform without GPUs."""
    preset: schema.CloudName = "4vcpu-16gb"
    """Preset of the platform."""


class Cache(schema.Api):
    sizeGib: Annotated[int, schema.Whole(64, 1048576)] = 1024
    """Size of the shared filesystem for ModelCaches, in GiB. It can grow, and never shrinks."""


_GROWS = Rule(
    "!has(oldSelf.cache) || (has(self.cache) && self.cache.sizeGib >= oldSelf.cache.sizeGib)",
    "a shared filesystem cannot shrink; make another InferenceCluster",
    None,
    at="cache.sizeGib",
)
_KEEPS_ACCOUNT = Rule(
    "has(self.registries) == has(oldSelf.registries)",
    "whether nodes have an account is decided once, because a change replaces all nodes; make another InferenceCluster",
    None,
    at="registries",
)


class Cluster(schema.Api):
    """Settings of a cluster that Nebius makes."""

    RULES = (*keeps("network", "systemPool"), _GROWS, _KEEPS_ACCOUNT)

    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version, such as 1.34. Defaults to the one that Modelplane is tested with. An upgrade replaces the
    nodes of every pool."""
    credentials: Credentials = Credentials()
    """Provider config whose credentials make the cluster. Its project determines the region."""
    network: Network = Network()
    """Addresses of the cluster."""
    apiServer: ApiServer = ApiServer()
    """Access to the API server."""
    systemPool: SystemPool = SystemPool()
    """Machines for everything that needs no device."""
    cache: Cache = Cache()
    """Storage for ModelCaches: a filesystem that every node mounts."""
    registries: Annotated[tuple[schema.CloudName, ...], Len(1, 8)] | None = None
    """IDs of registries in the project from which nodes pull images without a Secret, such as registry-e00abc. If
    omitted, nodes have no account of Nebius."""


class Machine(schema.Api):
    """How Nebius makes nodes of the class."""

    platform: schema.CloudName
    """Platform, such as gpu-h100-sxm."""
    preset: schema.CloudName
    """Preset of the platform, such as 8gpu-128vcpu-1600gb."""
    diskSizeGb: DiskSize = 200
    """Size of the boot disk, in GB."""
    driversPreset: schema.CloudName = "cuda13.0"
    """NVIDIA driver that the image includes."""
