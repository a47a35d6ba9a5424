"""What Nebius cannot do, found before anything is created."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from function.clouds.nebius import addresses
from function.clouds.nebius.blocks import Cluster, Machine
from function.clouds.nebius.facts import VERSION
from function.clouds.nebius.model import Pool
from function.contracts.cloud import nodes
from function.contracts.cloud.kubernetes import version_faults
from function.contracts.cloud.nodepool import NodePool

_VERSION = re.compile(r"1\.[0-9]+")
"""Patches are Nebius' choice (mk8s_v1_cluster, version)."""
_GPU_CLUSTER = "8gpu-"
"""How presets begin whose nodes can be in a GPU cluster: those that take a whole host (compute/v1, Platform,
allow_gpu_clustering)."""
_DRIVER = "gpu.nvidia.com"
"""DRA driver of all GPUs of Nebius."""
_SMALLEST_DISK = 64
"""Smallest boot disk, in GiB: the least of Nebius' own examples. Nodes with a smaller one were seen to never start, and
nothing says why."""
_NVLINK = re.compile(r"gb[0-9]{3}")
"""Platforms of which nodes are made in NVLink instance groups only."""


def pool_faults(_block: Cluster, pool: Pool, machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield what Nebius cannot do of what a node pool asks for."""
    yield from _machine_faults(pool, machine)
    if pool.maxNodeCount == 0:
        yield "maxNodeCount", "must be at least 1, not 0; for a pool without nodes, give nodeCount 0 alone"
    if not is_in_fabric(pool):
        return
    if not machine.preset.startswith(_GPU_CLUSTER):
        problem = f"InfiniBand needs a preset of 8 GPUs, such as {_GPU_CLUSTER}128vcpu-1600gb, and InferenceClass"
        yield "fabric.type", f"{problem} {pool.className} has {machine.preset}"
    if fabric(pool) is None:
        problem = "is required with InfiniBand: the name of the fabric that has the GPUs, such as fabric-7"
        yield "fabric.infiniband.fabric", problem


def _machine_faults(pool: Pool, machine: Machine) -> Iterator[tuple[str, str]]:
    for driver in pool.drivers:
        if driver in nodes.DEVICE_DRIVERS and driver != _DRIVER:
            yield "className", f"InferenceClass {pool.className} has devices of {driver}; Nebius has those of {_DRIVER}"
        elif driver == _DRIVER and machine.platform.startswith("cpu-"):
            problem = f"InferenceClass {pool.className} has devices of {driver}, which no node of platform"
            yield "className", f"{problem} {machine.platform} has"
    if machine.diskSizeGb < _SMALLEST_DISK:
        problem = f"InferenceClass {pool.className} has diskSizeGb {machine.diskSizeGb}, and nodes with less than"
        yield "className", f"{problem} {_SMALLEST_DISK} do not start on Nebius"
    if _NVLINK.search(machine.platform):
        problem = f"InferenceClass {pool.className} has platform {machine.platform}, whose nodes need an NVLink group"
        yield "className", f"{problem}; Modelplane makes none on Nebius"


def cluster_faults(block: Cluster, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    """Yield what Nebius cannot do of what the whole cluster asks for."""
    yield from version_faults(block.kubernetesVersion, _VERSION, VERSION)
    if block.systemPool.platform.startswith("gpu-"):
        yield "systemPool.platform", f"must be a platform without GPUs, such as cpu-d3, not {block.systemPool.platform}"
    yield from block.apiServer.faults()
    yield from addresses.faults(block.network, pools)


def is_in_fabric(pool: NodePool) -> bool:
    """Return whether the nodes of a pool are connected by InfiniBand."""
    return pool.fabric is not None and pool.fabric.type == "InfiniBand"


def fabric(pool: NodePool) -> str | None:
    """Return Nebius' name for the InfiniBand fabric of a pool; None for a pool in none."""
    if pool.fabric is None or pool.fabric.infiniband is None or not is_in_fabric(pool):
        return None
    return pool.fabric.infiniband.fabric
