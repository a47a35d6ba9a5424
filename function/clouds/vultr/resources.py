"""What a VultrCluster consists of: the cluster with its system pool, and its node pools.

Vultr makes the network of a cluster, its control plane and its autoscaler by itself. It has no identities: the
kubeconfig holds client certificates. There is no class of storage for ModelCaches (see SOURCE).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.clouds.vultr import facts
from function.clouds.vultr.model import Pool, Spec
from function.contracts.cloud import composition, nodes, provisioned
from function.contracts.cloud.provisioner import PublishedSecret
from function.contracts.cloud.site import TAG, Resource, Site
from function.vocabulary import names

_CLUSTER = "cluster"
_AFTER = (_CLUSTER,)
"""A cluster has its id, which is all that a reference waits for, long before it is active and takes pools."""
_NVIDIA = "gpu.nvidia.com"


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    yield _cluster(site, spec)
    for pool in spec.nodePools:
        yield _pool(site, pool)


def _cluster(site: Site, spec: Spec) -> Resource:
    wanted = {
        "label": site.name(_CLUSTER),
        "region": spec.region,
        "version": site.kubernetes_version(_CLUSTER, spec.kubernetesVersion, facts.VERSION, "version"),
        "haControlplanes": True,
        "nodePools": {
            "label": nodes.SYSTEM_POOL,
            "plan": spec.systemPool.plan,
            "nodeQuantity": facts.SYSTEM_NODES,
            "autoScaler": False,
            "labels": _entries(nodes.node_labels(nodes.SYSTEM_POOL)),
        },
    }
    return site.resource(_CLUSTER, facts.KUBERNETES, wanted, has_secret=True)


def _pool(site: Site, pool: Pool) -> Resource:
    taints = nodes.taints(pool, pool.drivers)
    wanted = {
        "clusterIdRef": site.ref(_CLUSTER),
        "label": pool.name,
        "tag": names.label_value(f"{TAG}-{site.cluster}"),
        "plan": pool.machine.plan,
        "labels": _entries(_node_labels(pool)),
        **({"taints": [taint.model_dump(exclude_none=True) for taint in taints]} if taints else {}),
    }
    key = composition.pool_key(pool.name)
    scale = nodes.scale(pool, least=1)
    if scale is None:
        fixed = {"autoScaler": False, "nodeQuantity": pool.nodeCount}
        return site.resource(key, facts.NODE_POOL, {**wanted, **fixed}, after=_AFTER)
    scaled = {"autoScaler": True, "minNodes": scale.least, "maxNodes": scale.most}
    initial = {"nodeQuantity": scale.first}
    return site.resource(key, facts.NODE_POOL, {**wanted, **scaled}, init_provider=initial, after=_AFTER)


def _node_labels(pool: Pool) -> dict[str, str]:
    return {**nodes.node_labels(pool.name), **(facts.NO_DEVICE_PLUGIN if _NVIDIA in pool.drivers else {})}


def _entries(labels: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value} for key, value in labels.items()]


def secrets(_site: Site, _spec: Spec) -> Sequence[PublishedSecret]:
    return [PublishedSecret(type=provisioned.KUBECONFIG, of=_CLUSTER, key=facts.KUBECONFIG)]
