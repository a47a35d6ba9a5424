"""What an EKSCluster consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.clouds.eks import (
    autoscaler,
    control_plane,
    facts,
    identity,
    network,
    pools,
    storage,
)
from function.clouds.eks.model import Spec
from function.contracts.cloud import provisioned
from function.contracts.cloud.provisioner import PublishedSecret, Storage
from function.contracts.cloud.site import Resource, Site


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    where = network.read_zones(site, spec)
    yield from network.resources(site, spec, where)
    yield from identity.resources(site, spec)
    yield from control_plane.resources(site, spec, where.home)
    yield from pools.resources(site, spec, where.home)
    yield from storage.resources(site, spec, where.everything)
    yield from autoscaler.resources(site, spec)


def secrets(_site: Site, _spec: Spec) -> Sequence[PublishedSecret]:
    of, key = control_plane.KUBECONFIG, facts.KUBECONFIG
    return [PublishedSecret(type=provisioned.KUBECONFIG, of=of, key=key)]


def storage_class(_site: Site, _spec: Spec) -> Storage:
    return Storage(name=storage.CLASS, of=storage.STORAGE)
