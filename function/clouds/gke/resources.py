"""What a GKECluster consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.clouds.gke import cluster, driver, identity, network, pools, storage
from function.clouds.gke.model import Spec
from function.contracts.cloud import provisioned
from function.contracts.cloud.provisioner import PublishedSecret, Storage
from function.contracts.cloud.site import Resource, Site

_STORAGE = "storage"
_ON_CLUSTER = (cluster.CLUSTER, identity.ACCESS_KEY)
"""What the cluster is reached by."""


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    project = cluster.project(site)
    yield from network.services(site)
    yield from network.network(site, spec)
    yield from identity.identity(site, project)
    yield cluster.cluster(site, spec, project)
    yield from pools.pools(site, spec)
    yield from _on_cluster(site, spec)


def _on_cluster(site: Site, spec: Spec) -> Iterator[Resource]:
    yield site.object("driver-installer", driver.installer(), after=_ON_CLUSTER)
    yield site.object("csi-driver", storage.csi_driver(), after=_ON_CLUSTER)
    wanted = storage.storage_class(spec, network.vpc(site))
    yield site.object(_STORAGE, wanted, after=(*_ON_CLUSTER, "service-file", "csi-driver"))


def secrets(_site: Site, _spec: Spec) -> Sequence[PublishedSecret]:
    return (
        PublishedSecret(type=provisioned.KUBECONFIG, of=cluster.CLUSTER, key="kubeconfig"),
        PublishedSecret(type="GoogleApplicationCredentials", of=identity.ACCESS_KEY, key=identity.SECRET_KEY),
    )


def storage_class(_site: Site, spec: Spec) -> Storage:
    return Storage(name=storage.class_name(spec), of=_STORAGE)
