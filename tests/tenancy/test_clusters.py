"""A compromised inference cluster: what it reports leads nowhere that only the control cluster reaches."""

from __future__ import annotations

from typing import Any

import pytest

from function import registry
from function.core import Request
from function.kinds.inferencecluster import probe
from function.sandbox.settle import settle
from function.vocabulary import versions
from tests.support import worlds
from tests.tenancy.attacks.endpoints import REFUSED_HOSTS
from tests.tenancy.fleet import endpoint, with_metadata

_OWNER = {"apiVersion": versions.MODELPLANE, "kind": "ModelDeployment", "name": "chat", "uid": "u", "controller": True}
_LITERAL = [host for group in ("metadata", "itself") for host in REFUSED_HOSTS[group]]


@pytest.mark.parametrize("host", [*_LITERAL, *REFUSED_HOSTS["the control cluster"], "chat.other.svc"])
def test_the_endpoint_of_a_replica_leads_to_no_internal_host(host: str) -> None:
    """Whatever address a cluster published: the built-in lists apply to these endpoints, too."""
    xr = with_metadata(endpoint("chat-1", "ml", url=f"http://{host}/ml/chat-1"), ownerReferences=[_OWNER])
    result = registry.compose(Request(xr=xr))

    assert result.resources == {}
    assert {(one.type, one.status) for one in result.conditions if "spec.url" in one.message} == {
        ("RoutingReady", "False")
    }


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "127.0.0.1", "::1", "fd00:ec2::254", "Metadata.Google.Internal"]
)
def test_an_address_of_the_control_clusters_own_is_not_taken(address: str) -> None:
    """The next address of the Gateway is, if there is one."""
    assert (probe.read(_gateway(address)).address, probe.read(_gateway(address)).unusable is None) == (None, False)
    assert probe.read(_gateway(address, "203.0.113.7")).address == "203.0.113.7"


def _gateway(*addresses: str) -> dict[str, Any]:
    """The Object that observes a Gateway."""
    reported = {"status": {"addresses": [{"value": one} for one in addresses]}}
    return {"status": {"atProvider": {"manifest": reported}}}


@pytest.mark.parametrize("free", [-1, 10**12, 1.5, float("nan"), True, "8", None, [1], {}])
def test_capacity_that_a_cluster_reports_attracts_no_more_than_it_declares(free: Any) -> None:
    """A number that is none counts as no free node, and a number above the declared nodes as those."""
    there = worlds.cluster("c", a=2)
    world = worlds.made(worlds.deployment(5), [there]).publishing(lambda _: [{"pool": "a", "nodes": 2, "free": free}])
    result = settle(registry.compose, world.request, (*world.clusters, *world.replicas))

    assert len([key for key in result.resources if key.startswith("replica-")]) <= 2
