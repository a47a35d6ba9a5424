"""The VPC of an EKSCluster: subnets, gateways and routes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from function.clouds.eks import addresses, kinds, zones
from function.clouds.eks.model import Spec
from function.contracts.cloud.site import Resource, Site
from function.core import dig_list, dig_text

NETWORK = "network"
_GATEWAY = "internet-gateway"
_PUBLIC = "public"
_EVERYWHERE = "0.0.0.0/0"
_ROLES = {"public": "kubernetes.io/role/elb", "private": "kubernetes.io/role/internal-elb"}
"""Tags by which Kubernetes finds the subnets for load balancers (EKS user guide, network requirements)."""


@dataclass(frozen=True, slots=True)
class ClusterZones:
    """The letters of the zones of a cluster."""

    home: tuple[str, ...]
    everything: tuple[str, ...]


def subnet(letter: str) -> str:
    """Return the key of the private subnet of a zone."""
    return f"subnet-private-{letter}"


def _public_subnet(letter: str) -> str:
    return f"subnet-public-{letter}"


def egress(letters: Sequence[str]) -> tuple[str, ...]:
    """Return the keys of what nodes in some zones need in order to reach the internet."""
    return tuple(key for letter in letters for key in (f"route-{letter}", f"routed-{letter}"))


def read_zones(site: Site, spec: Spec) -> ClusterZones:
    """Return the zones of a cluster: at home those in which it was made, if it was.

    Zones that a cluster names itself never change (blocks.py).
    """
    made = () if spec.zones else _made(site)
    home = made or zones.home(spec.region, spec.zones, spec.nodePools)
    return ClusterZones(home, zones.everything(spec.region, home, spec.nodePools))


def _made(site: Site) -> tuple[str, ...]:
    """Letters of the zones of the control plane, else of the subnets that were made for it."""
    referred = dig_list(site.written("cluster", "vpcConfig", "subnetIdRefs"))
    names = {name for each in referred if (name := dig_text(each, "name"))}
    if names:
        return tuple(each for each in zones.LETTERS if site.name(subnet(each)) in names)
    there = tuple(each for each in zones.LETTERS if subnet(each) in site.request.observed)
    return there if len(there) >= zones.FEWEST else ()


def resources(site: Site, spec: Spec, where: ClusterZones) -> Iterator[Resource]:
    """Yield the network, with subnets in every zone."""
    letters = where.everything
    base = addresses.parsed(spec.network.cidr)
    assert base is not None  # faults.py refuses others
    vpc = {"cidrBlock": spec.network.cidr, "enableDnsSupport": True, "enableDnsHostnames": True}
    yield site.resource(NETWORK, kinds.VPC, {**_region(site, spec), **vpc})
    in_vpc = {**_region(site, spec), "vpcIdRef": site.ref(NETWORK)}
    yield site.resource(_GATEWAY, kinds.INTERNET_GATEWAY, in_vpc)
    for letter in letters:
        yield _subnet(site, spec, letter, addresses.private(base, letter), "private")
        yield _subnet(site, spec, letter, addresses.public(base, letter), "public")
    yield from _public_routes(site, spec, letters)
    yield from _nat_gateways(site, spec, where)
    for letter in letters:
        yield from _private_routes(site, spec, letter)


def _region(site: Site, spec: Spec) -> dict[str, Any]:
    return {"region": spec.region, "tags": site.tags}


def _subnet(site: Site, spec: Spec, letter: str, part: IPv4Network, role: str) -> Resource:
    key = subnet(letter) if role == "private" else _public_subnet(letter)
    wanted = {
        "region": spec.region,
        "vpcIdRef": site.ref(NETWORK),
        "availabilityZone": zones.zone(spec.region, letter),
        "cidrBlock": str(part),
        **({"mapPublicIpOnLaunch": True} if role == _PUBLIC else {}),
        "tags": {**site.tags, _ROLES[role]: "1"},
    }
    return site.resource(key, kinds.SUBNET, wanted)


def _public_routes(site: Site, spec: Spec, letters: Sequence[str]) -> Iterator[Resource]:
    yield site.resource("routes-public", kinds.ROUTE_TABLE, {**_region(site, spec), "vpcIdRef": site.ref(NETWORK)})
    yield _default_route(site, spec, _PUBLIC, {"gatewayIdRef": site.ref(_GATEWAY)})
    for letter in letters:
        yield _association(site, spec, f"routed-public-{letter}", _PUBLIC, _public_subnet(letter))


def _private_routes(site: Site, spec: Spec, letter: str) -> Iterator[Resource]:
    yield site.resource(f"routes-{letter}", kinds.ROUTE_TABLE, {**_region(site, spec), "vpcIdRef": site.ref(NETWORK)})
    yield _default_route(site, spec, letter, {"natGatewayIdRef": site.ref(_nat(spec, letter))})
    yield _association(site, spec, f"routed-{letter}", letter, subnet(letter))


def _default_route(site: Site, spec: Spec, table: str, target: dict[str, Any]) -> Resource:
    to = {"routeTableIdRef": site.ref(f"routes-{table}"), "destinationCidrBlock": _EVERYWHERE}
    return site.resource(f"route-{table}", kinds.ROUTE, {"region": spec.region, **to, **target})


def _association(site: Site, spec: Spec, key: str, table: str, subnet_key: str) -> Resource:
    between = {"routeTableIdRef": site.ref(f"routes-{table}"), "subnetIdRef": site.ref(subnet_key)}
    return site.resource(key, kinds.ROUTE_TABLE_ASSOCIATION, {"region": spec.region, **between})


# NAT gateways


def _nat(spec: Spec, letter: str) -> str:
    """The key of the NAT gateway of a zone."""
    return "nat-gateway" if spec.network.natGateways == "Single" else f"nat-gateway-{letter}"


def _nat_gateways(site: Site, spec: Spec, where: ClusterZones) -> Iterator[Resource]:
    """One for each zone, or one in the first home zone, which never leaves."""
    for letter in where.home[:1] if spec.network.natGateways == "Single" else where.everything:
        key = _nat(spec, letter)
        address = key.replace("gateway", "address")
        yield site.resource(address, kinds.ADDRESS, {**_region(site, spec), "domain": "vpc"}, after=[_GATEWAY])
        wanted = {
            **_region(site, spec),
            "connectivityType": "public",
            "allocationIdRef": site.ref(address),
            "subnetIdRef": site.ref(_public_subnet(letter)),
        }
        yield site.resource(key, kinds.NAT_GATEWAY, wanted, after=[_GATEWAY])
