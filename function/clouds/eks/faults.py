"""What EKS cannot do of what a cluster or a node pool asks for. Each fault is a field and a problem with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from function.clouds.eks import addresses, facts, instances, zones
from function.clouds.eks.blocks import Cluster, Machine
from function.clouds.eks.model import Pool
from function.clouds.eks.pools import is_efa
from function.contracts.cloud.kubernetes import version_faults
from function.contracts.cloud.nodepool import NodePool
from function.core import enumerate_names
from function.vocabulary import drivers

_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-[0-9]+")
_OTHER_PARTITIONS = re.compile(r"[a-z]+-iso[a-z]?-.*|eusc-.*")
_VERSION = re.compile(r"1\.[0-9]+")
"""EKS names no patches."""
_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
"""Networks of which the addresses of Services are, and none of apiServer.allowedSources (EKS API,
KubernetesNetworkConfigRequest and VpcConfigRequest)."""
_LARGEST_SERVICES, _SMALLEST_SERVICES = 12, 24
_NO_VPC = tuple(map(IPv4Network, ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3")))
"""Networks that no VPC can be in: of one host, or of many at once."""
_MOST_NAMED = 8
_LESS = "; or ask for fewer nodes, or for more zones"


# A cluster


def of_cluster(block: Cluster, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    """Yield the faults of a cluster, by their fields in its block."""
    if not _REGION.fullmatch(block.region):
        yield "region", f"must be the code of a region, such as us-east-1, not {block.region}"
        return
    if _OTHER_PARTITIONS.fullmatch(block.region):
        yield (
            "region",
            f"must be of partition aws, aws-us-gov or aws-cn, not {block.region}: policies of others are unknown",
        )
    yield from _faults_of_zones(block, pools)
    yield from version_faults(block.kubernetesVersion, _VERSION, facts.VERSION)
    if instances.is_arm(block.systemPool.instanceType):
        given = block.systemPool.instanceType
        yield "systemPool.instanceType", f"must have x86_64 processors, such as m6i.xlarge, not {given}"
    yield from _faults_of_access(block)
    faults = [*_faults_of_networks(block)]
    base = addresses.parsed(block.network.cidr)
    yield from faults or (_faults_of_room(block, base, pools) if base else ())


def _faults_of_access(block: Cluster) -> Iterator[tuple[str, str]]:
    yield from block.apiServer.faults()
    for index, text in enumerate(block.apiServer.allowedSources):
        given = addresses.parsed(text)
        if given and any(given.subnet_of(private) for private in _PRIVATE):
            problem = f"must be a public network, not {text}: nodes reach the API server inside of the VPC"
            yield f"apiServer.allowedSources[{index}]", problem


def _faults_of_zones(block: Cluster, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    wrong = [*_not_zones(block.region, block.zones)]
    yield from (("zones", problem) for problem in wrong)
    if not wrong and len(zones.letters(block.region, block.zones)) == 1:
        yield "zones", f"must name at least {zones.FEWEST} zones, not only {block.zones[0]}: EKS needs them"
    home = zones.home(block.region, block.zones, pools)
    found = zones.everything(block.region, home, pools)
    if len(found) > zones.MOST:
        shown = enumerate_names([zones.zone(block.region, letter) for letter in found], _MOST_NAMED)
        yield "zones", f"and those of the pools must be at most {zones.MOST}, not {len(found)}: {shown}"


def _not_zones(region: str, given: Sequence[str]) -> Iterator[str]:
    """Problems with names that are no availability zones of a region."""
    for zone in given:
        if zones.letter(region, zone) is None:
            wanted = f"availability zones of {region}: {region}a to {region}{zones.LETTERS[-1]}"
            yield f"must have {wanted}, not {zone}"


# Networks


def _faults_of_networks(block: Cluster) -> Iterator[tuple[str, str]]:
    cidr, services = block.network.cidr, block.network.serviceCidr
    base, of_services = addresses.parsed(cidr), addresses.parsed(services)
    problem = _not_base(cidr, base)
    if problem:
        yield "network.cidr", problem
    problem = _not_services(services, of_services)
    if problem:
        yield "network.serviceCidr", problem
    if base and of_services and base.overlaps(of_services):
        yield "network.serviceCidr", f"must not overlap network.cidr, {cidr}, as {services} does"


def _not_base(text: str, base: IPv4Network | None) -> str | None:
    largest, smallest = addresses.LARGEST, addresses.SMALLEST
    if base is None:
        return f"must be an IPv4 network, not {text}"
    if not largest <= base.prefixlen <= smallest:
        why = "AWS makes no larger VPC, and a smaller one has no room for subnets in every zone"
        return f"must be a network from /{largest} to /{smallest}, not {text}: {why}"
    taken = next((each for each in _NO_VPC if base.overlaps(each)), None)
    return f"must be outside of {taken}, not {text}: AWS makes no VPC there" if taken else None


def _not_services(text: str, services: IPv4Network | None) -> str | None:
    largest, smallest = _LARGEST_SERVICES, _SMALLEST_SERVICES
    if services is None:
        return f"must be an IPv4 network, not {text}"
    if not largest <= services.prefixlen <= smallest:
        return f"must be a network from /{largest} to /{smallest}, not {text}"
    if not any(services.subnet_of(each) for each in _PRIVATE):
        return f"must be part of {_PRIVATE[0]}, {_PRIVATE[1]} or {_PRIVATE[2]}, not {text}"
    return None


def _faults_of_room(block: Cluster, base: IPv4Network, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    home = zones.home(block.region, block.zones, pools)
    needed = addresses.need(block.region, pools, home, facts.MOST_SYSTEM_NODES)
    found = addresses.shortage(base, needed)
    if found is None:
        return
    zone, subnet = zones.zone(block.region, found.letter), addresses.private(base, found.letter)
    wanted = (
        f"must be a /{found.smallest} or larger, not {base}" if found.smallest else f"{base} is too small, as any is"
    )
    what = f"zone {zone} needs {found.need} addresses for the most nodes that it can have and their pods"
    yield "network.cidr", f"{wanted}: {what}, and its subnet {subnet} has {found.have}{_LESS}"


# A pool


def of_pool(block: Cluster, pool: Pool, machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield the faults of a node pool, by their fields in it."""
    if pool.maxNodeCount == 0:
        yield "maxNodeCount", "must be at least 1, not 0: EKS makes no group without room for a node"
    yield from (("zones", problem) for problem in _not_zones(block.region, pool.zones))
    if len(pool.zones) != 1 and (pool.capacityBlock or is_efa(pool)):
        why = "a capacity block is" if pool.capacityBlock else "EFA connects nodes"
        given = enumerate_names(list(pool.zones), _MOST_NAMED) if pool.zones else "none"
        yield "zones", f"must have exactly one zone, not {given}: {why} in one"
    if is_efa(pool) and machine.instanceType not in instances.EFA:
        known = enumerate_names(sorted(instances.EFA), len(instances.EFA))
        yield "fabric.type", f"must be None for instance type {machine.instanceType}: types with EFA are {known}"
    problem = _wrong_devices(pool, machine) or _wrong_image(pool, machine)
    if problem:
        yield "className", problem


def _wrong_devices(pool: Pool, machine: Machine) -> str | None:
    """Why an instance type has not the devices of its InferenceClass."""
    if drivers.AMD in pool.drivers:
        return f"InferenceClass {pool.className} has devices of {drivers.AMD}; EKS has no nodes with a driver for them"
    if drivers.NVIDIA in pool.drivers and not instances.has_nvidia_gpus(machine.instanceType):
        has = f"devices of {drivers.NVIDIA}, and instance type {machine.instanceType} has none"
        return f"InferenceClass {pool.className} has {has}; types of families p and g do, such as g6.2xlarge"
    return None


def _wrong_image(pool: Pool, machine: Machine) -> str | None:
    """Why the images of an InferenceClass do not fit its instance type."""
    type_, images = machine.instanceType, machine.amiType
    says = f"InferenceClass {pool.className} has amiType {images} for instance type {type_}"
    if instances.is_arm(type_) != ("ARM_64" in images):
        other = "arm64: AL2023_ARM_64_NVIDIA or BOTTLEROCKET_ARM_64_NVIDIA" if instances.is_arm(type_) else "x86_64"
        return f"{says}, whose processors need images for {other}"
    if instances.has_nvidia_gpus(type_) and "NVIDIA" not in images:
        return f"{says}, whose GPUs need images with NVIDIA's driver, such as AL2023_x86_64_NVIDIA"
    return None
