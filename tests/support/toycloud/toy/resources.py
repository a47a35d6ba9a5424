"""What a ToyCluster consists of: a network, the cluster in it, its node pools, and a class of storage on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from function.clouds.toy.model import Pool, Spec

from function.contracts.cloud import composition, nodes, provisioned
from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.provisioner import PublishedSecret, Storage
from function.contracts.cloud.site import Resource, Site
from function.vocabulary import versions

GROUP = "toy.m.example.org/v1beta1"
NETWORK = ManagedKind(api_version=GROUP, kind="Network", plural="networks", immutable=("region", "cidr"))
CLUSTER = ManagedKind(
    api_version=GROUP,
    kind="Cluster",
    plural="clusters",
    references={"networkRef": "Network"},
    immutable=("region", "networkRef"),
)
POOL = ManagedKind(
    api_version=GROUP,
    kind="Pool",
    plural="pools",
    references={"clusterRef": "Cluster"},
    immutable=("clusterRef", "size"),
)
_STORAGE = "toy-files"
_VERSION = "1.36"
"""Kubernetes version of new clusters."""


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    yield site.resource("network", NETWORK, {"region": spec.region, "cidr": spec.cidr})
    version = site.kubernetes_version("cluster", spec.kubernetesVersion, _VERSION, "version")
    wanted = {"region": spec.region, "version": version, "networkRef": site.ref("network"), "tags": site.tags}
    yield site.resource("cluster", CLUSTER, wanted, has_secret=True)
    for pool in spec.nodePools:
        yield _pool(site, pool)
    storage = {"apiVersion": versions.STORAGE, "kind": "StorageClass", "metadata": {"name": _STORAGE}}
    yield site.object("storage", {**storage, "provisioner": "files.toy.example.org"}, after=["cluster"])


def _pool(site: Site, pool: Pool) -> Resource:
    wanted: dict[str, Any] = {
        "clusterRef": site.ref("cluster"),
        "size": pool.machine.size,
        "labels": nodes.node_labels(pool.name),
        "taints": [taint.model_dump(exclude_none=True) for taint in nodes.taints(pool, pool.drivers)],
    }
    key = composition.pool_key(pool.name)
    scale = nodes.scale(pool, least=1)
    if scale is None:
        return site.resource(key, POOL, {**wanted, "nodes": pool.nodeCount})
    scaled = {**wanted, "min": scale.least, "max": scale.most}
    return site.resource(key, POOL, scaled, init_provider={"nodes": scale.first})


def secrets(_site: Site, _spec: Spec) -> Sequence[PublishedSecret]:
    return [PublishedSecret(type=provisioned.KUBECONFIG, of="cluster", key="kubeconfig")]


def storage(_site: Site, _spec: Spec) -> Storage:
    return Storage(name=_STORAGE, of="storage")
