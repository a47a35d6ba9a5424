"""What an AKSCluster consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.clouds.aks import cluster, identity, managed, model, network, pools, storage
from function.clouds.aks.faults import spec_faults
from function.clouds.aks.model import Spec
from function.contracts.cloud import composition, provisioned
from function.contracts.cloud.composition import PublishedSecret
from function.contracts.cloud.site import Resource, Site
from function.contracts.cloud.source import KEY

KUBECONFIG = "kubeconfig"
"""Key of the kubeconfig in the connection Secret of a KubernetesCluster (provider-upjet-azure v2.6,
config/namespaced/containerservice)."""


def _resources(site: Site, spec: Spec) -> Iterator[Resource]:
    yield from network.resources(site, spec)
    yield from identity.resources(site, spec)
    yield cluster.resource(site, spec)
    for pool in spec.nodePools:
        yield pools.resource(site, pool)
    yield storage.resource(site)


def _secrets(_site: Site, _spec: Spec) -> Sequence[PublishedSecret]:
    return [PublishedSecret(type=provisioned.KUBECONFIG, of=KEY, key=KUBECONFIG)]


COMPOSER = composition.composer(
    composition.Blueprint(
        model=model,
        provider=managed.PROVIDER,
        resources=_resources,
        secrets=_secrets,
        storage=lambda _site, _spec: composition.Storage(name=storage.CLASS, of=storage.STORAGE),
        faults=spec_faults,
    )
)
