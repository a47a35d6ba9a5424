"""The node pools of a GKE cluster: the system pool, and one for each pool of the InferenceCluster.

GKE counts the nodes of a pool in each zone, so a pool of a fixed size has as many nodes in every zone. An autoscaler's
minimum and maximum are those of the whole pool (`totalMinNodeCount`), so that a scaled pool has any size. Only its
initial size is per zone again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.clouds.gke import accelerators, facts, identity
from function.clouds.gke.blocks import Accelerator
from function.clouds.gke.cluster import CLUSTER
from function.clouds.gke.model import Pool, Spec
from function.contracts.cloud import composition, nodes
from function.contracts.cloud.nodepool import Taint
from function.contracts.cloud.site import Resource, Site
from function.core import dig_texts

SYSTEM = "system-pool"
DRA_NODE = "cloud.google.com/gke-nvidia-gpu-dra-driver"
DRA_LABELS = {
    "gke-no-default-nvidia-gpu-device-plugin": "true",
    "nvidia.com/gpu.present": "true",
    DRA_NODE: "true",
}
"""Labels that hand the GPUs of a node to the DRA driver (page "Prepare GKE infrastructure for DRA workloads").

- The first keeps GKE's own device plugin off, which would hand out the same GPUs.
- The second is how the DRA driver finds the node.
- The third tells the autoscaler that nodes of the pool will publish ResourceSlices, so that it adds the first one.
"""


def pools(site: Site, spec: Spec) -> Iterator[Resource]:
    """Return all node pools."""
    yield _system(site, spec)
    for pool in spec.nodePools:
        yield _pool(site, spec, pool)


def zones(site: Site, spec: Spec, key: str, wanted: Sequence[str]) -> Sequence[str]:
    """Return the zones of a pool that wants some; empty while those of the cluster are not known.

    A pool that exists keeps its zones, even where GKE chooses others for the cluster one day.
    """
    return sorted(_written(site, key) or wanted or spec.zones or dig_texts(site.seen(CLUSTER, "nodeLocations")))


def _written(site: Site, key: str) -> Sequence[str]:
    """Return the zones of a pool that exists."""
    return dig_texts(site.written(key, "nodeLocations"))


def _system(site: Site, spec: Spec) -> Resource:
    """Two nodes in two zones: GKE replaces one after the other when it upgrades them. Endpoint pickers and routers of
    many models need more than two."""
    found = zones(site, spec, SYSTEM, ())[: facts.SYSTEM_NODES]
    if not found:
        return _awaiting_zones(site, SYSTEM)
    wanted = {
        **_common(site, spec, found),
        "maxPodsPerNode": facts.SYSTEM_PODS,
        "autoscaling": {
            "totalMinNodeCount": facts.SYSTEM_NODES,
            "totalMaxNodeCount": facts.MOST_SYSTEM_NODES,
            "locationPolicy": "BALANCED",
        },
        "nodeConfig": {
            **_machine(site, spec.systemPool.machineType, facts.SYSTEM_DISK),
            "labels": nodes.node_labels(nodes.SYSTEM_POOL),
        },
    }
    return _resource(site, SYSTEM, wanted, {"initialNodeCount": facts.SYSTEM_NODES // len(found)})


def _pool(site: Site, spec: Spec, pool: Pool) -> Resource:
    key = composition.pool_key(pool.name)
    found = zones(site, spec, key, pool.zones)
    if pool.maxNodeCount is None and not (pool.zones or spec.zones):
        found = _one(site, key, found)
    if not found:
        return _awaiting_zones(site, key)
    devices, is_claimed = accelerators.accelerator(pool.machine), accelerators.NVIDIA in pool.drivers
    wanted = {
        **_common(site, spec, found),
        "maxPodsPerNode": facts.POOL_PODS,
        # no node beyond those that there are: accelerators are scarce, and quotas are for these
        "upgradeSettings": {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1},
        "nodeConfig": {
            **_machine(site, pool.machine.machineType, pool.machine.diskSizeGb),
            "labels": {**nodes.node_labels(pool.name), **(DRA_LABELS if is_claimed else {})},
            **_taints(nodes.taints(pool, pool.drivers, gpu_value="present")),
            **_accelerators(devices, is_claimed=is_claimed),
            **_reservation(pool.machine.reservation),
        },
    }
    scale = nodes.scale(pool, least=0)
    if scale is None:
        return _resource(site, key, {**wanted, "nodeCount": -(-pool.nodeCount // len(found))}, None)
    first = {"initialNodeCount": initial(scale, len(found))}
    return _resource(site, key, {**wanted, "autoscaling": _scaling(scale)}, first)


def _one(site: Site, key: str, found: Sequence[str]) -> Sequence[str]:
    """A pool of a fixed size without zones is in one, or any count but a multiple of their number were impossible."""
    return found if _written(site, key) else found[:1]


def _awaiting_zones(site: Site, key: str) -> Resource:
    return site.awaiting(key, facts.NODE_POOL, "the zones of the cluster", after=(CLUSTER,))


def _resource(site: Site, key: str, wanted: Mapping[str, Any], init: Mapping[str, Any] | None) -> Resource:
    return site.resource(
        key,
        facts.NODE_POOL,
        wanted,
        init_provider=init,
        after=(CLUSTER,),
        external_name=site.cloud_name(key, longest=facts.LONGEST_NAME),
        late_initialization=False,  # it would bring back the size of a pool that is scaled from now on
    )


def _common(site: Site, spec: Spec, found: Sequence[str]) -> dict[str, Any]:
    """GKE repairs and upgrades the nodes of a cluster in a release channel, and refuses pools that want otherwise."""
    return {
        "clusterRef": site.ref(CLUSTER),
        "location": spec.region,
        "nodeLocations": list(found),
        "management": {"autoRepair": True, "autoUpgrade": True},
    }


def _machine(site: Site, machine: str, disk: int) -> dict[str, Any]:
    """Container-Optimized OS is the image for which Google has drivers of NVIDIA (driver.py)."""
    return {
        "machineType": machine,
        "diskSizeGb": disk,
        "imageType": "COS_CONTAINERD",
        "serviceAccountRef": site.ref(identity.NODES),
        "oauthScopes": [facts.SCOPE],
        "workloadMetadataConfig": {"mode": "GKE_METADATA"},  # pods do not get the nodes' account
    }


def _taints(taints: Sequence[Taint]) -> dict[str, Any]:
    """GKE taints GPU nodes by itself, but not those of pools that are made along with the first other pool."""
    found = [{"key": t.key, "value": t.value or "", "effect": nodes.UPPER_CASE[t.effect]} for t in taints]
    return {"taint": found} if found else {}


def _accelerators(devices: Accelerator | None, *, is_claimed: bool) -> dict[str, Any]:
    """Those that pods claim get their driver from driver.py, others from GKE along with its device plugin."""
    if devices is None:
        return {}
    driver = {"gpuDriverVersion": "INSTALLATION_DISABLED" if is_claimed else "DEFAULT"}
    return {"guestAccelerator": [{"type": devices.type, "count": devices.count, "gpuDriverInstallationConfig": driver}]}


def _reservation(name: str | None) -> dict[str, Any]:
    """The largest machines are sold by reservations that must be named (page "Choose a consumption option")."""
    if name is None:
        return {}
    key = "compute.googleapis.com/reservation-name"
    return {"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION", "key": key, "values": [name]}}


def _scaling(scale: nodes.Scale) -> dict[str, Any]:
    """ANY takes nodes wherever there are some; BALANCED would wait for a zone that is out of stock."""
    return {"totalMinNodeCount": scale.least, "totalMaxNodeCount": scale.most, "locationPolicy": "ANY"}


def initial(scale: nodes.Scale, zone_count: int) -> int:
    """Return the initial number of nodes in each zone.

    Together they are no fewer than the pool asks for, unless they would be more than it may have; then they are fewer,
    and the autoscaler adds nodes when pods ask for them.
    """
    return min(-(-scale.first // zone_count), scale.most // zone_count)
