"""A toy cloud, which makes a whole cluster of one managed resource."""

from __future__ import annotations

from collections.abc import Iterator

from function.clouds.toy import model
from function.clouds.toy.blocks import Cluster, Machine
from function.clouds.toy.composer import COMPOSER, MANAGED

from function.contracts.cloud import provisioned
from function.contracts.cloud.nodepool import NodePool
from function.contracts.cloud.source import ManagedKind, Observation, Package, Provisioner, Source
from function.core import Manifest


def _pool_faults(pool: NodePool, _machine: Machine) -> Iterator[tuple[str, str]]:
    if pool.minNodeCount == 0:
        yield "minNodeCount", "must be at least 1: Toy does not scale from zero"


def _observe(manifest: Manifest) -> Observation:
    return Observation(
        at_provider={"id": f"toy/{manifest['metadata']['name']}"},
        connection={"kubeconfig": "a kubeconfig"},
    )


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
        composer=COMPOSER,
        managed=(ManagedKind(api_version=MANAGED, kind="Cluster", plural="clusters"),),
        packages=(Package(package="xpkg.example.org/toy/provider-toy", version=">=v1.0.0"),),
        pool_faults=_pool_faults,
        observe=_observe,
    ),
)
