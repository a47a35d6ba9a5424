"""What GKE cannot do of what an InferenceCluster asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.clouds.gke import accelerators, addresses, facts
from function.clouds.gke.blocks import Cluster, Machine
from function.clouds.gke.model import Pool
from function.contracts.cloud.nodepool import NodePool
from function.contracts.cloud.site import minor


def of_pool(block: Cluster, pool: Pool, machine: Machine) -> Iterator[tuple[str, str]]:
    """See Provisioner.pool_faults."""
    for problem in accelerators.faults(machine, pool.drivers):
        yield "className", f"is InferenceClass {pool.className}, {problem}"
    for problem in _zones(block.region, pool.zones):
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
    for problem in _zones(block.region, block.zones):
        yield "zones", problem
    if block.kubernetesVersion and minor(block.kubernetesVersion) < facts.OLDEST_KUBERNETES:
        least = f"1.{facts.OLDEST_KUBERNETES}"
        yield "kubernetesVersion", f"must be {least} or newer, for resource.k8s.io/v1, not {block.kubernetesVersion}"
    yield from block.apiServer.faults()
    machine = block.systemPool.machineType
    if machine in accelerators.FIXED:
        yield "systemPool.machineType", f"must have no accelerators, unlike {machine}; such as e2-standard-4"
    for field, problem in addresses.faults(block.network, pools):
        yield f"network.{field}", problem


def _zones(region: str, zones: Sequence[str]) -> Iterator[str]:
    for zone in zones:
        if zone.rpartition("-")[0] != region:
            yield f"must be zones of region {region}, such as {region}-a, not {zone}"
    if len(set(zones)) < len(zones):
        yield f"must name each zone once, not {', '.join(zones)}"
