"""What GKE cannot do of what an InferenceCluster asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from function.clouds.gke import accelerators, addresses, facts
from function.clouds.gke.blocks import Cluster, Machine
from function.clouds.gke.model import Pool
from function.contracts.cloud.kubernetes import version_faults
from function.contracts.cloud.nodepool import NodePool

_REGION = re.compile(r"[a-z]+-[a-z]+[0-9]+")
"""Names of regions. With a letter behind they are zones, in which GKE would make a cluster that is not regional."""
_VERSION = re.compile(r"1\.[0-9]+(\.[0-9]+(-gke\.[0-9]+)?)?")
"""Versions as GKE takes them (page "GKE versioning and support")."""


def of_pool(block: Cluster, pool: Pool, machine: Machine) -> Iterator[tuple[str, str]]:
    """See Provisioner.pool_faults."""
    for problem in accelerators.faults(machine, pool.drivers):
        yield "className", f"InferenceClass {pool.className} {problem}"
    for problem in _wrong_zones(block.region, pool.zones):
        yield "zones", problem
    if pool.maxNodeCount == 0:
        yield "maxNodeCount", "must be at least 1, not 0: GKE scales no pool that can have no node"
    zones = pool.zones or block.zones
    if pool.maxNodeCount is None and zones and pool.nodeCount % len(zones):
        many = f"GKE makes the same number of nodes in each zone, and these are {len(zones)}: {', '.join(zones)}"
        problem = f"must be a multiple of {len(zones)}, not {pool.nodeCount}: {many}"
        yield "nodeCount", f"{problem}; name other zones, or give maxNodeCount, so that the pool is scaled as a whole"


def of_cluster(block: Cluster, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    """See Provisioner.cluster_faults."""
    if not _REGION.fullmatch(block.region):
        yield "region", f"must be a region, such as us-central1, not {block.region}"
        return
    for problem in _wrong_zones(block.region, block.zones):
        yield "zones", problem
    if len(set(block.zones)) < len(block.zones):
        yield "zones", f"must name each zone once, not {', '.join(block.zones)}"
    yield from version_faults(block.kubernetesVersion, _VERSION, f"{facts.KUBERNETES} or {facts.KUBERNETES}.3-gke.100")
    yield from block.apiServer.faults()
    machine = block.systemPool.machineType
    if machine in accelerators.FIXED:
        yield "systemPool.machineType", f"must have no accelerators, such as e2-standard-4, not {machine}"
    for field, problem in addresses.faults(block.network, pools):
        yield f"network.{field}", problem


def _wrong_zones(region: str, zones: Sequence[str]) -> Iterator[str]:
    for zone in zones:
        if zone.rpartition("-")[0] != region:
            yield f"must have zones of region {region}, such as {region}-a, not {zone}"
