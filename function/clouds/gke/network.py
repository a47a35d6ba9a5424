"""The network of a GKE cluster: a VPC with one subnetwork, and the way out for nodes without public addresses."""

from __future__ import annotations

from collections.abc import Iterator

from function.clouds.gke import facts
from function.clouds.gke.model import Spec
from function.contracts.cloud.site import Resource, Site

NETWORK, SUBNETWORK, ROUTER, NAT = "network", "subnetwork", "router", "nat"
SERVICES = {
    "service-iam": "iam.googleapis.com",
    "service-compute": "compute.googleapis.com",
    "service-container": "container.googleapis.com",
    "service-file": "file.googleapis.com",
}
"""The APIs of Google that are switched on in the project, by key."""


def services(site: Site) -> Iterator[Resource]:
    """Return the APIs. They stay on when the cluster is deleted: others may use them."""
    for key, service in SERVICES.items():
        yield site.resource(key, facts.PROJECT_SERVICE, {"service": service, "disableOnDestroy": False})


def network(site: Site, spec: Spec) -> Iterator[Resource]:
    """Return the VPC, its subnetwork, and its address translation."""
    ranges = spec.network
    yield site.resource(
        NETWORK,
        facts.NETWORK,
        {"autoCreateSubnetworks": False},
        after=("service-compute",),
        external_name=vpc(site),
    )
    subnetwork = {
        "region": spec.region,
        "networkRef": site.ref(NETWORK),
        "ipCidrRange": ranges.cidr,
        "secondaryIpRange": [
            {"rangeName": facts.PODS_RANGE, "ipCidrRange": ranges.podCidr},
            {"rangeName": facts.SERVICES_RANGE, "ipCidrRange": ranges.serviceCidr},
        ],
        # nodes without public addresses reach Google's registries and APIs by this, and the rest by the NAT
        "privateIpGoogleAccess": True,
    }
    yield site.resource(SUBNETWORK, facts.SUBNETWORK, subnetwork)
    yield site.resource(ROUTER, facts.ROUTER, {"region": spec.region, "networkRef": site.ref(NETWORK)})
    yield site.resource(NAT, facts.ROUTER_NAT, _nat(site, spec))


def vpc(site: Site) -> str:
    """Return Google's name of the network."""
    return site.cloud_name(NETWORK)


def _nat(site: Site, spec: Spec) -> dict[str, object]:
    """A node that downloads a model opens more connections to one address than the 64 ports that it has by default.

    Ports that are given on demand exclude mappings that do not depend on the endpoint (page "Cloud NAT: IP addresses
    and ports").
    """
    return {
        "region": spec.region,
        "routerRef": site.ref(ROUTER),
        "natIpAllocateOption": "AUTO_ONLY",
        "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
        "enableEndpointIndependentMapping": False,
        "enableDynamicPortAllocation": True,
        "minPortsPerVm": 64,
        "maxPortsPerVm": 4096,
    }
