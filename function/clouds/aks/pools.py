"""The node pools of a cluster."""

from __future__ import annotations

from typing import Any

from function.clouds.aks import cluster, machines, managed, network, poolnames
from function.clouds.aks.model import Pool
from function.contracts.cloud import composition, nodes
from function.contracts.cloud.nodepool import Taint
from function.contracts.cloud.site import Resource, Site

_DRAIN_MINUTES = 60
"""Time that the engines of a node have to finish their requests when it is upgraded."""


def resource(site: Site, pool: Pool) -> Resource:
    key = composition.pool_key(pool.name)
    scale = nodes.scale(pool, least=1)
    wanted = {**_machines(pool), **_kubernetes(site, pool, key), **_sizes(pool, scale)}
    initially = None if scale is None else {"nodeCount": scale.first}
    name = site.external_name(key) or poolnames.agent_pool(pool.name)
    return site.resource(
        key,
        managed.NODE_POOL,
        wanted,
        init_provider=initially,
        external_name=name,
        late_initialization=False,
        # The id of the cluster is known while it is still being made, and AKS refuses pools for so long.
        after=[cluster.CLUSTER],
    )


def _machines(pool: Pool) -> dict[str, Any]:
    driver = machines.gpu_driver(pool.machine.vmSize, pool.drivers)
    return {
        "mode": "User",
        "vmSize": pool.machine.vmSize,
        "osDiskSizeGb": pool.machine.diskSizeGb,
        "osSku": "Ubuntu",  # the only one that AKS supports with AMD's GPUs (AKS, use-amd-gpus)
        **({"gpuDriver": driver} if driver else {}),
        **({"zones": list(dict.fromkeys(pool.zones))} if pool.zones else {}),
    }


def _kubernetes(site: Site, pool: Pool, key: str) -> dict[str, Any]:
    taints = [_taint(taint) for taint in nodes.taints(pool, pool.drivers)]
    return {
        "kubernetesClusterIdRef": site.ref(cluster.CLUSTER),
        "vnetSubnetIdRef": site.ref(network.SUBNET),
        "nodeLabels": nodes.node_labels(pool.name),
        **({"nodeTaints": taints} if taints else {}),
        "tags": {**site.tags, poolnames.TAG: pool.name},
        # One node is upgraded after the other, in place: machines with GPUs are rarely there to add one.
        "upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1", "drainTimeoutInMinutes": _DRAIN_MINUTES},
        **cluster.node_version(site, key, "orchestratorVersion"),
    }


def _taint(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}"


def _sizes(pool: Pool, scale: nodes.Scale | None) -> dict[str, Any]:
    if scale is None:
        return {"autoScalingEnabled": False, "nodeCount": pool.nodeCount}
    return {"autoScalingEnabled": True, "minCount": scale.least, "maxCount": scale.most}
