"""The resource group, the virtual network, and the way of the nodes to the internet.

Nodes have no public address: they go out through a NAT gateway, whose address is that of the cluster to others. Azure
retires the outbound access that a subnet without one would have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.clouds.aks import addresses, managed
from function.clouds.aks.model import Spec
from function.contracts.cloud.site import Resource, Site

GROUP = "resource-group"
NETWORK = "network"
SUBNET = "subnet-nodes"
_NAT = "nat-gateway"
_ADDRESS = "nat-address"
OUTBOUND = ("nat-address-association", "nat-subnet-association")
"""What must be there before nodes start: with outboundType userAssignedNATGateway, AKS refuses a subnet that has no NAT
gateway (AKS, nat-gateway)."""


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    plan = addresses.plan(spec.network)
    yield site.resource(GROUP, managed.RESOURCE_GROUP, {"location": spec.location, "tags": site.tags})
    yield site.resource(NETWORK, managed.VIRTUAL_NETWORK, {**placed(site, spec), "addressSpace": [str(plan.network)]})
    yield site.resource(
        SUBNET,
        managed.SUBNET,
        {
            "resourceGroupNameRef": site.ref(GROUP),
            "virtualNetworkNameRef": site.ref(NETWORK),
            "addressPrefixes": [str(plan.nodes)],
            # by which the storage accounts of NFS shares admit the nodes
            "serviceEndpoints": ["Microsoft.Storage"],
        },
    )
    yield from _outbound(site, spec)


def address(site: Site) -> str | None:
    """Return the public address from which nodes reach the internet; None while it is not known."""
    found = site.seen(_ADDRESS, "ipAddress")
    return str(found) if found else None


def placed(site: Site, spec: Spec) -> dict[str, Any]:
    """Return the fields of everything that has a place in the resource group."""
    return {"location": spec.location, "resourceGroupNameRef": site.ref(GROUP), "tags": site.tags}


def _outbound(site: Site, spec: Spec) -> Iterator[Resource]:
    static = {"allocationMethod": "Static", "sku": "Standard"}
    yield site.resource(_ADDRESS, managed.PUBLIC_IP, {**placed(site, spec), **static})
    yield site.resource(_NAT, managed.NAT_GATEWAY, {**placed(site, spec), "skuName": "Standard"})
    of_address, of_subnet = OUTBOUND
    yield site.resource(
        of_address,
        managed.NAT_ADDRESS,
        {"natGatewayIdRef": site.ref(_NAT), "publicIpAddressIdRef": site.ref(_ADDRESS)},
    )
    yield site.resource(
        of_subnet, managed.NAT_SUBNET, {"natGatewayIdRef": site.ref(_NAT), "subnetIdRef": site.ref(SUBNET)}
    )
