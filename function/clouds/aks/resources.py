"""What an AKSCluster consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.clouds.aks import cluster, identity, network, pools, storage
from function.clouds.aks.model import Spec
from function.contracts.cloud import provisioned
from function.contracts.cloud.provisioner import PublishedSecret, Storage
from function.contracts.cloud.site import Resource, Site

KUBECONFIG = "kubeconfig"
"""Key of the kubeconfig in the connection Secret of a KubernetesCluster (provider-upjet-azure v2.6,
config/namespaced/containerservice)."""


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    yield from network.resources(site, spec)
    yield from identity.resources(site, spec)
    yield cluster.resource(site, spec)
    for pool in spec.nodePools:
        yield pools.resource(site, pool)
    yield storage.resource(site)


def secrets(_site: Site, _spec: Spec) -> Sequence[PublishedSecret]:
    return [PublishedSecret(type=provisioned.KUBECONFIG, of=cluster.CLUSTER, key=KUBECONFIG)]


def storage_class(_site: Site, _spec: Spec) -> Storage:
    return Storage(name=storage.CLASS, of=storage.STORAGE)
