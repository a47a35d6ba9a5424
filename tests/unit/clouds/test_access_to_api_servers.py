"""What every cloud that can restrict its API servers does with apiServer.allowedSources."""

from __future__ import annotations

from typing import Any

import pytest

from function import clouds
from function.clouds import Source
from function.core import dig
from function.validation import validate
from tests.support import cloud_samples
from tests.support.cloud_worlds import CLUSTER, NAME, CloudWorld, provisioner

SOURCES = [source for source in clouds.PROVISIONED if "apiServer" in source.cluster.model_fields]
OFFICE, OTHER = "198.51.100.0/24", "203.0.113.7/32"
each_source = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
WRITTEN = {
    "EKS": ("vpcConfig", "publicAccessCidrs"),
    "GKE": ("masterAuthorizedNetworksConfig", "cidrBlocks"),
    "AKS": ("apiServerAccessProfile", "authorizedIpRanges"),
    "Nebius": ("controlPlane", "endpoints", "publicEndpoint", "allowedCidrs"),
}


def running(source: Source, *allowed: str) -> CloudWorld:
    """A cluster that only some networks reach."""
    world = CloudWorld(source)
    world.load(
        cloud_samples.inference_class(source),
        cloud_samples.inference_cluster(
            source, NAME, {"name": "one"}, **({"apiServer": {"allowedSources": list(allowed)}} if allowed else {})
        ),
        cloud_samples.provider_config(provisioner(source)),
        cloud_samples.credentials(),
    )
    world.settle()
    return world


def reached_from(world: CloudWorld) -> list[str] | None:
    """The networks that the control plane admits; None where nothing is said of them."""
    found = dig(world.resource("cluster"), "spec", "forProvider", *WRITTEN[world.source.name])
    return None if found is None else sorted(each if isinstance(each, str) else each["cidrBlock"] for each in found)


def test_every_cloud_that_can_is_known() -> None:
    assert sorted(WRITTEN) == sorted(source.name for source in SOURCES)


@each_source
def test_only_the_networks_that_are_named_reach_it(source: Source) -> None:
    world = running(source, OTHER, OFFICE)

    assert world.says().startswith("ClusterRunning")
    assert {OFFICE, OTHER} <= set(reached_from(world) or ())


@each_source
def test_without_any_all_networks_reach_it_also_after_some_did(source: Source) -> None:
    world = running(source, OFFICE)

    def open_(manifest: dict[str, Any]) -> None:
        manifest["spec"]["cluster"][source.block].pop("apiServer")

    world.edit(CLUSTER, open_)
    world.settle()

    assert (reached_from(world) or ["0.0.0.0/0"]) == (reached_from(running(source)) or ["0.0.0.0/0"])


@each_source
def test_a_network_of_ipv6_is_refused_by_its_place(source: Source) -> None:
    bad = cloud_samples.inference_cluster(
        source, NAME, {"name": "one"}, apiServer={"allowedSources": [OFFICE, "2001:db8::/32"]}
    )
    found = [(".".join(map(str, finding.path)), finding.message) for finding in validate([bad])]

    field = f"spec.cluster.{source.block}.apiServer.allowedSources.1"
    assert (field, "must be an IPv4 network, not 2001:db8::/32") in found


def test_nodes_on_aks_reach_it_from_their_own_address() -> None:
    """They come from the NAT gateway, whose address is known only once Azure has given it."""
    world = running(clouds.BY_NAME["AKS"], OFFICE)
    address = dig(world.resource("nat-address"), "status", "atProvider", "ipAddress")

    assert address
    assert reached_from(world) == sorted([OFFICE, f"{address}/32"])
