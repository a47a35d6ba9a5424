"""What a NebiusCluster consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from function.clouds.nebius import account, network, nodegroups, storage
from function.clouds.nebius.facts import CLUSTER, KUBECONFIG_KEY, VERSION
from function.clouds.nebius.model import Spec
from function.contracts.cloud import provisioned
from function.contracts.cloud.provisioner import PublishedSecret, Storage
from function.contracts.cloud.site import Resource, Site


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    project = account.project(site)
    version = site.kubernetes_version(nodegroups.CLUSTER, spec.kubernetesVersion, VERSION, "controlPlane", "version")
    yield from network.resources(site, spec.network)
    yield from account.resources(site, spec, project)
    yield from storage.resources(site, spec.cache)
    yield _cluster(site, spec, version)
    yield from nodegroups.resources(site, spec, version)
    yield from storage.in_cluster(site, cluster=nodegroups.CLUSTER, nodes=nodegroups.SYSTEM)


def _cluster(site: Site, spec: Spec, version: str) -> Resource:
    """The control plane. Its kubeconfig is of no use without a public endpoint, unless Modelplane runs in its network;
    whoever reaches that must have a role in the project."""
    sources = spec.apiServer.allowedSources
    public: dict[str, Any] = {"allowedCidrs": list(sources)} if sources else {}
    wanted = {
        "name": site.name(nodegroups.CLUSTER),
        "labels": site.tags,
        "controlPlane": {
            "version": version,
            "subnetIdRef": site.ref(network.SUBNET_KEY),
            "etcdClusterSize": 3,
            "endpoints": {"publicEndpoint": public},
        },
        "kubeNetwork": {"serviceCidrs": [spec.network.serviceCidr]},
    }
    return site.resource(nodegroups.CLUSTER, CLUSTER, wanted, has_secret=True)


def secrets(site: Site, _spec: Spec) -> Sequence[PublishedSecret]:
    kubeconfig = PublishedSecret(type=provisioned.KUBECONFIG, of=nodegroups.CLUSTER, key=KUBECONFIG_KEY)
    return [kubeconfig, account.identity(site, nodegroups.CLUSTER)]


def storage_class(_site: Site, _spec: Spec) -> Storage:
    return Storage(name=storage.CLASS, of=storage.KEY)
