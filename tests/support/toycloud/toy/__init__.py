"""A toy cloud: a network, a cluster and its node pools."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from function.clouds.toy import model
from function.clouds.toy.blocks import Cluster, Machine
from function.clouds.toy.resources import CLUSTER, GROUP, NETWORK, POOL, resources, secrets, storage

from function.contracts.cloud import provisioned
from function.contracts.cloud.nodepool import NodePool
from function.contracts.cloud.provisioner import Observation, Package, Provisioner
from function.contracts.cloud.source import Source
from function.core import Manifest


def _pool_faults(_block: Cluster, pool: NodePool, machine: Machine) -> Iterator[tuple[str, str]]:
    if pool.zones and machine.size == "huge":
        yield "zones", "must be left out: Toy chooses the zone of huge machines"


def _cluster_faults(block: Cluster, _pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    if ipaddress.ip_network(block.cidr).num_addresses < 256:
        yield "cidr", f"must have at least 256 addresses, unlike {block.cidr}"


def _observe(manifest: Manifest) -> Observation:
    connection = {"kubeconfig": "a kubeconfig"} if manifest["kind"] == "Cluster" else {}
    return Observation(at_provider={"id": f"toy/{manifest['metadata']['name']}"}, connection=connection)


SOURCE = Source(
    name="Toy",
    cluster=Cluster,
    machine=Machine,
    access=provisioned.access,
    storage_class=provisioned.storage_class,
    zones=True,
    internal_load_balancer={"toy.example.org/internal": "true"},
    provisioner=Provisioner(
        model=model,
        provider=GROUP,
        managed=(NETWORK, CLUSTER, POOL),
        packages=(Package(package="xpkg.example.org/toy/provider-toy", version=">=v1.0.0"),),
        resources=resources,
        secrets=secrets,
        storage=storage,
        pool_faults=_pool_faults,
        cluster_faults=_cluster_faults,
        scales_from_zero=False,
        observe=_observe,
    ),
)
