"""The node groups of a cluster: its own pool, and those of the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from function.clouds.nebius import account, network, storage
from function.clouds.nebius.facts import DISK, GPU_CLUSTER, NODE_GROUP, SYSTEM_DISK, SYSTEM_NODES
from function.clouds.nebius.faults import fabric
from function.clouds.nebius.model import Pool, Spec
from function.contracts.cloud import composition, nodes
from function.contracts.cloud.nodepool import Taint
from function.contracts.cloud.site import Resource, Site

CLUSTER = "cluster"
"""Key of the control plane."""
SYSTEM = "system-pool"
_IN_PLACE = {"maxSurge": {"count": 0}, "maxUnavailable": {"count": 1}}
"""How an update replaces the nodes of a pool: no node beyond those that there are, because GPUs are scarce and quotas
are for these. Both are given, because Nebius changed its defaults in 2026 (mk8s_v1_node_group, strategy)."""
_ONE_MORE = {"maxSurge": {"count": 1}, "maxUnavailable": {"count": 0}}


def resources(site: Site, spec: Spec, version: str) -> Iterator[Resource]:
    """Yield the GPU clusters, and the node groups. `version` is the Kubernetes version of the control plane."""
    for name in sorted({name for pool in spec.nodePools if (name := fabric(pool))}):
        yield _gpu_cluster(site, name)
    yield _system_pool(site, spec, version)
    for pool in spec.nodePools:
        yield _pool(site, spec, pool, version)


def _gpu_cluster_key(fabric_: str) -> str:
    return f"gpu-cluster-{fabric_}"


def _gpu_cluster(site: Site, fabric_: str) -> Resource:
    """A GPU cluster: one for each fabric, so that engines can span pools of it."""
    key = _gpu_cluster_key(fabric_)
    wanted = {"name": site.name(key), "labels": site.tags, "infinibandFabric": fabric_}
    return site.resource(key, GPU_CLUSTER, wanted)


def _system_pool(site: Site, spec: Spec, version: str) -> Resource:
    template = {
        "resources": {"platform": spec.systemPool.platform, "preset": spec.systemPool.preset},
        **_common(site, spec, SYSTEM_DISK, nodes.node_labels(nodes.SYSTEM_POOL)),
    }
    scaled = {"minNodeCount": SYSTEM_NODES.start, "maxNodeCount": SYSTEM_NODES.stop - 1}
    return _node_group(site, SYSTEM, version, {"autoscaling": scaled, "strategy": _ONE_MORE, "template": template})


def _pool(site: Site, spec: Spec, pool: Pool, version: str) -> Resource:
    in_fabric = fabric(pool)
    taints = nodes.taints(pool, pool.drivers)
    template = {
        "resources": {"platform": pool.machine.platform, "preset": pool.machine.preset},
        **_common(site, spec, pool.machine.diskSizeGb, nodes.node_labels(pool.name)),
        **({"taints": _taints(taints)} if taints else {}),
        **({"gpuSettings": {"driversPreset": pool.machine.driversPreset}} if _has_gpus(pool) else {}),
        **({"gpuCluster": {"idRef": site.ref(_gpu_cluster_key(in_fabric))}} if in_fabric else {}),
    }
    wanted = {**_size(pool), "strategy": _IN_PLACE, "template": template}
    return _node_group(site, composition.pool_key(pool.name), version, wanted)


def _has_gpus(pool: Pool) -> bool:
    """Without a preset of drivers, an image may have none; a platform without GPUs takes no preset."""
    return not pool.machine.platform.startswith("cpu-")


def _size(pool: Pool) -> dict[str, Any]:
    """Exactly one of the two. There is no initial size: a scaled group begins with the nodes that it has, or its
    minimum."""
    scale = nodes.scale(pool, least=0)
    if scale is None:
        return {"fixedNodeCount": pool.nodeCount}
    return {"autoscaling": {"minNodeCount": scale.least, "maxNodeCount": scale.most}}


def _taints(taints: Sequence[Taint]) -> list[dict[str, str]]:
    return [{"key": t.key, "value": t.value or "", "effect": nodes.UPPER_CASE[t.effect]} for t in taints]


def _common(site: Site, spec: Spec, disk: int, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "bootDisk": {"type": DISK, "sizeGibibytes": disk},
        "metadata": {"labels": labels},
        "networkInterfaces": [{"subnetIdRef": site.ref(network.SUBNET_KEY)}],
        **({"serviceAccountIdRef": site.ref(account.KEY)} if spec.registries else {}),
        **storage.on_nodes(site),
    }


def _node_group(site: Site, key: str, version: str, wanted: dict[str, Any]) -> Resource:
    group = {
        "name": site.name(key),
        "labels": site.tags,
        "parentIdRef": site.ref(CLUSTER),
        "version": _version(site, key, version),
        **wanted,
    }
    # late initialization would keep fixedNodeCount beside autoscaling when a pool begins to be scaled
    return site.resource(key, NODE_GROUP, group, late_initialization=False)


def _version(site: Site, key: str, wanted: str) -> str:
    """The version of a group: that of the control plane, once it runs it. Nodes are never newer."""
    running = str(site.seen(CLUSTER, "status", "controlPlane", "version") or "")
    written = site.written(key, "version")
    return wanted if not isinstance(written, str) or running.startswith(f"{wanted}.") else written
