"""What AKS cannot do, found before anything is created."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from function.clouds.aks import addresses, cluster, machines
from function.clouds.aks.blocks import Cluster, Machine
from function.clouds.aks.model import Pool
from function.contracts.cloud.kubernetes import version_faults
from function.contracts.cloud.nodepool import NodePool

_VERSION = re.compile(r"1\.[0-9]+(\.[0-9]+)?")
_ZONES = ("1", "2", "3")
"""Names of zones, in every location that has some (AKS, availability-zones)."""
_MOST_NODES = 5000
"""Nodes of a cluster (AKS, quotas-skus-regions)."""
_MOST_OF_POOL = 1000
"""Nodes of a pool (AKS, quotas-skus-regions; azurerm refuses more)."""
_DISK = range(30, 2049)
"""Sizes of an OS disk, in GB (AKS, API reference of agent pools)."""


def cluster_faults(block: Cluster, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a field of the block, empty for the block itself, and a problem."""
    yield from _block_faults(block)
    if not any(addresses.legal_faults(block.network)):
        nodes = sum(pool.most_nodes for pool in pools) + cluster.SYSTEM_NODES.most + cluster.SYSTEM_SURGE
        if nodes > _MOST_NODES:
            yield "", f"must have at most {_MOST_NODES} nodes, system pool included, not {nodes}: AKS makes no more"
        yield from addresses.room_faults(block.network, nodes)


def _block_faults(block: Cluster) -> Iterator[tuple[str, str]]:
    if not re.fullmatch(r"[a-z0-9]+", block.location):
        yield "location", f"must be the name of a location, such as westeurope, not {block.location}"
    newest = cluster.DEFAULT_VERSION
    yield from version_faults(block.kubernetesVersion, _VERSION, f"{newest} or {newest}.2")
    yield from block.apiServer.faults()
    if block.systemPool.vmSize.startswith("Standard_B"):
        given = block.systemPool.vmSize
        yield "systemPool.vmSize", f"must be of no B series, unlike {given}: AKS makes no system pool of it"
    yield from addresses.legal_faults(block.network)


def pool_faults(_block: Cluster, pool: Pool, machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield pairs of a field of the pool and a problem."""
    for fault in machines.faults(machine.vmSize, pool.drivers):
        yield "className", f"InferenceClass {pool.className} {fault}"
    if machine.diskSizeGb not in _DISK:
        problem = (
            f"InferenceClass {pool.className} has diskSizeGb {machine.diskSizeGb};"
            f" AKS has OS disks of {_DISK[0]} to {_DISK[-1]} GB"
        )
        yield "className", problem
    yield from _taint_faults(pool)
    yield from _count_faults(pool)
    for zone in pool.zones:
        if zone not in _ZONES:
            yield "zones", f"must have {', '.join(_ZONES[:-1])} or {_ZONES[-1]}, as AKS names zones, not {zone}"


def _taint_faults(pool: NodePool) -> Iterator[tuple[str, str]]:
    for index, taint in enumerate(pool.taints):
        if not taint.value:
            yield f"taints[{index}].value", "must be given: AKS takes taints as key=value:effect only"


def _count_faults(pool: NodePool) -> Iterator[tuple[str, str]]:
    if pool.maxNodeCount == 0:
        yield "maxNodeCount", "must be at least 1, not 0: a pool that is scaled keeps one node"
    for field, count in (("nodeCount", pool.nodeCount), ("maxNodeCount", pool.maxNodeCount or 0)):
        if count > _MOST_OF_POOL:
            yield field, f"must be at most {_MOST_OF_POOL}, as in every pool of AKS, not {count}"
