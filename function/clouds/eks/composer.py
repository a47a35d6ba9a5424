"""What an EKSCluster consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.clouds.eks import (
    autoscaler,
    control_plane,
    facts,
    faults,
    identity,
    kinds,
    model,
    network,
    pools,
    storage,
)
from function.clouds.eks.model import Spec
from function.contracts.cloud import composition, provisioned
from function.contracts.cloud.site import Resource, Site


def _resources(site: Site, spec: Spec) -> Iterator[Resource]:
    where = network.read_zones(site, spec)
    yield from network.resources(site, spec, where)
    yield from identity.resources(site, spec)
    yield from control_plane.resources(site, spec, where.home)
    yield from pools.resources(site, spec, where.home)
    yield from storage.resources(site, spec, where.everything)
    yield from autoscaler.resources(site, spec)


def _secrets(_site: Site, _spec: Spec) -> Sequence[composition.PublishedSecret]:
    of, key = control_plane.KUBECONFIG, facts.KUBECONFIG
    return [composition.PublishedSecret(type=provisioned.KUBECONFIG, of=of, key=key)]


COMPOSER = composition.composer(
    composition.Blueprint(
        model=model,
        provider=kinds.PROVIDER,
        resources=_resources,
        secrets=_secrets,
        storage=lambda _site, _spec: composition.Storage(name=storage.CLASS, of=storage.STORAGE),
        faults=faults.of_spec,
    )
)
