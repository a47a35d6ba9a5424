"""The control plane of a GKE cluster, and the project that it is in."""

from __future__ import annotations

from typing import Any

from function.clouds.gke import facts, identity, network
from function.clouds.gke.model import Spec
from function.contracts.cloud import credentials
from function.contracts.cloud.kubernetes import minor
from function.contracts.cloud.site import Resource, Site
from function.core import Missing, dig
from function.vocabulary import conditions as c

CLUSTER = "cluster"
_POOL_SUFFIX = ".svc.id.goog"
_EVERYWHERE = {"cidrBlock": "0.0.0.0/0"}


def project(site: Site) -> str:
    """Return the project, as the provider config names it; the one that the cluster is in, where that names none now.

    Raises:
        Missing: It is not known.
    """
    named = dig(credentials.found_config(site.request), "spec", "projectID")
    written = site.written(CLUSTER, "workloadIdentityConfig", "workloadPool")
    if isinstance(written, str):  # no cluster moves to another project
        return written.removesuffix(_POOL_SUFFIX)
    if not isinstance(named, str) or not named:
        config = site.credentials
        raise Missing(
            c.CREDENTIALS_MISSING(why=f"{config.type} {config.name} of gcp.m.upbound.io has no spec.projectID")
        )
    return named


def cluster(site: Site, spec: Spec, project_id: str) -> Resource:
    """Return the control plane.

    Nodes have no public addresses. The control plane has one, by which Modelplane's providers reach it. It reaches the
    nodes by an address in their network (Private Service Connect, GKE 1.29 and newer), so that it needs no range.
    """
    wanted: dict[str, Any] = {
        "location": spec.region,
        **({"nodeLocations": sorted(spec.zones)} if spec.zones else {}),
        "minMasterVersion": _version(site, spec.kubernetesVersion),
        "releaseChannel": {"channel": facts.CHANNEL},
        "deletionProtection": False,
        **_pool(),
        **_network(site),
        **_access(site, spec),
        "workloadIdentityConfig": {"workloadPool": f"{project_id}{_POOL_SUFFIX}"},
        "addonsConfig": {
            "gcpFilestoreCsiDriverConfig": {"enabled": True},
            "gcePersistentDiskCsiDriverConfig": {"enabled": True},
            "httpLoadBalancing": {"disabled": False},
        },
        # the serving stack brings these itself
        "gatewayApiConfig": {"channel": "CHANNEL_DISABLED"},
        "monitoringConfig": {"enableComponents": ["SYSTEM_COMPONENTS"], "managedPrometheus": {"enabled": False}},
        "resourceLabels": _labels(site),
    }
    return site.resource(
        CLUSTER,
        facts.CLUSTER,
        wanted,
        init_provider={"nodeConfig": {"serviceAccountRef": site.ref(identity.NODES), "oauthScopes": [facts.SCOPE]}},
        after=("service-container", network.NAT, *identity.NODE_ROLES),
        external_name=site.cloud_name(CLUSTER, longest=facts.LONGEST_NAME),
        has_secret=True,
    )


def _version(site: Site, wanted: str | None) -> str:
    """GKE upgrades clusters by itself: one may have left the version that was written for it far behind."""
    running = site.seen(CLUSTER, "masterVersion")
    if wanted and isinstance(running, str) and 0 <= minor(wanted) - minor(running) <= 1:
        return wanted
    return site.kubernetes_version(CLUSTER, wanted, facts.KUBERNETES, "minMasterVersion")


def _pool() -> dict[str, Any]:
    """GKE makes no cluster without nodes. The provider removes this pool at once; all others are resources.

    That initProvider gives it the nodes' account keeps Compute Engine's default account out of it.
    """
    return {"removeDefaultNodePool": True, "initialNodeCount": 1, "defaultMaxPodsPerNode": facts.POOL_PODS}


def _network(site: Site) -> dict[str, Any]:
    return {
        "networkRef": site.ref(network.NETWORK),
        "subnetworkRef": site.ref(network.SUBNETWORK),
        "networkingMode": "VPC_NATIVE",
        "ipAllocationPolicy": {
            "clusterSecondaryRangeName": facts.PODS_RANGE,
            "servicesSecondaryRangeName": facts.SERVICES_RANGE,
        },
        "privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": False},
        "datapathProvider": "ADVANCED_DATAPATH",  # it enforces NetworkPolicies, and GKE's default does not
    }


def _access(site: Site, spec: Spec) -> dict[str, Any]:
    """Who reaches the control plane over the internet. Nodes do so inside of the network.

    Google lets all of its own public addresses in unless told otherwise, and those are anybody's. A restriction that is
    given up is replaced: the provider changes nothing that a spec leaves out.
    """
    if not spec.apiServer.allowedSources:
        was_restricted = site.written(CLUSTER, "masterAuthorizedNetworksConfig")
        return {"masterAuthorizedNetworksConfig": {"cidrBlocks": [_EVERYWHERE]}} if was_restricted else {}
    blocks = [{"cidrBlock": cidr} for cidr in sorted(set(spec.apiServer.allowedSources))]
    return {"masterAuthorizedNetworksConfig": {"cidrBlocks": blocks, "gcpPublicCidrsAccessEnabled": False}}


def _labels(site: Site) -> dict[str, str]:
    """Labels of Google take no dots, which names of InferenceClusters may have. They have no underscores."""
    return {key: value.replace(".", "_") for key, value in site.tags.items()}
