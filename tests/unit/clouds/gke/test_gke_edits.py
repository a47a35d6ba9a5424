"""No edit that an InferenceCluster accepts changes what Google's provider would make anew."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from function import registry
from function.clouds.gke import facts
from function.clouds.gke.observe import observe
from function.core import Manifest, Request, dig, plain
from function.sandbox.settle import settle
from function.vocabulary import crossplane, names, versions

CONFIG = {
    "apiVersion": facts.PROVIDER,
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": {"projectID": "research-1234", "credentials": {"source": "InjectedIdentity"}},
}
OWNER = {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "name": "iowa", "uid": "1", "controller": True}
MOST_PASSES = 12
FORCE_NEW = {
    "ProjectService": ("service",),
    "ProjectIAMMember": ("project", "role", "member"),
    "ServiceAccountKey": ("serviceAccountIdRef",),
    "Network": ("autoCreateSubnetworks",),
    "Subnetwork": ("networkRef", "region", "secondaryIpRange", "ipCidrRange"),
    "Router": ("networkRef", "region"),
    "RouterNAT": ("routerRef", "region"),
    "Cluster": (
        "location",
        "networkRef",
        "subnetworkRef",
        "ipAllocationPolicy",
        "datapathProvider",
        "defaultMaxPodsPerNode",
        "initialNodeCount",
    ),
    "NodePool": (
        "clusterRef",
        "location",
        "maxPodsPerNode",
        "nodeConfig.machineType",
        "nodeConfig.guestAccelerator",
        "nodeConfig.reservationAffinity",
        "nodeConfig.diskSizeGb",
        "nodeConfig.serviceAccountRef",
        "nodeConfig.oauthScopes",
    ),
}
"""Fields with ForceNew in terraform-provider-google, of those that are composed; disk sizes until 6.x."""

NAMES = ("a", "b", "c")
MACHINES = {
    "a": {"machineType": "g2-standard-8"},
    "b": {"machineType": "a3-highgpu-8g", "diskSizeGb": 500, "reservation": "bought"},
    "c": {"machineType": "n4-standard-8"},
}
ZONES = {"a": (), "b": ("us-central1-a", "us-central1-c"), "c": ("us-central1-b",)}
TAINTS = st.lists(
    st.sampled_from(("x", "y", "nvidia.com/gpu")).map(lambda key: {"key": key, "effect": "NoSchedule"}),
    max_size=2,
    unique_by=lambda taint: taint["key"],
)


@st.composite
def pool(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A pool keeps its machine and its zones: others are refused, as is a fixed size that zones do not divide."""
    fixed = {"name": name, "className": name, "machine": MACHINES[name], "zones": list(ZONES[name])}
    count, most, taints = draw(st.integers(0, 9)), draw(st.none() | st.integers(1, 9)), draw(TAINTS)
    drivers = [] if name == "c" else ["gpu.nvidia.com"]
    count -= 0 if most else count % max(1, len(ZONES[name]))
    return {
        **fixed,
        "nodeCount": count,
        "taints": taints,
        "drivers": drivers,
        **({"maxNodeCount": most} if most else {}),
    }


@st.composite
def spec(draw: st.DrawFn) -> dict[str, Any]:
    kept = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    version = draw(st.sampled_from((None, "1.35", "1.36")))
    return {
        "clusterName": "iowa",
        "region": "us-central1",
        "nodePools": [draw(pool(name)) for name in kept],
        **({"kubernetesVersion": version} if version else {}),
    }


def request(wanted: Mapping[str, Any], observed: Mapping[str, Manifest], uid: str = "1") -> Request:
    metadata = {"name": "iowa", "namespace": names.SYSTEM_NAMESPACE, "uid": uid, "ownerReferences": [OWNER]}
    xr = {"apiVersion": versions.INFRASTRUCTURE, "kind": "GKECluster", "metadata": metadata, "spec": dict(wanted)}
    return Request(xr=xr, observed=dict(observed))


def composed(asked: Request) -> dict[str, dict[str, Any]]:
    result = settle(registry.compose, asked, [CONFIG])
    return {key: copy.deepcopy(plain(resource.manifest)) for key, resource in result.resources.items()}


def made(asked: Request) -> dict[str, dict[str, Any]]:
    """What is observed once everything that is composed was made."""
    for _ in range(MOST_PASSES):
        found = {key: seen(manifest) for key, manifest in composed(asked).items()}
        if found == asked.observed:
            return found
        asked = replace(asked, observed=found)
    raise AssertionError("it is never made")


def seen(manifest: dict[str, Any]) -> dict[str, Any]:
    conditions = [{"type": type_, "status": "True"} for type_ in ("Synced", "Ready")]
    at_provider = plain(observe(manifest).at_provider) if manifest["apiVersion"].endswith("upbound.io/v1beta1") else {}
    return {**manifest, "status": {"atProvider": at_provider, "conditions": conditions}}


def kept(manifest: Mapping[str, Any]) -> Any:
    paths = FORCE_NEW.get(manifest["kind"], ())
    fields = {path: dig(manifest, "spec", "forProvider", *path.split(".")) for path in paths}
    return fields, manifest["metadata"]["name"], dig(manifest, "metadata", "annotations", crossplane.EXTERNAL_NAME)


def test_every_kind_that_is_composed_is_looked_at() -> None:
    assert FORCE_NEW.keys() | {"ServiceAccount"} == {kind.kind for kind in facts.MANAGED}


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(first=spec(), second=spec())
def test_an_edit_never_changes_what_google_cannot(first: dict[str, Any], second: dict[str, Any]) -> None:
    before = made(request(first, {}))
    after = composed(request(second, before, uid="restored elsewhere"))

    for key in before.keys() & after.keys():
        assert kept(before[key]) == kept(after[key]), key


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(first=spec(), second=spec())
def test_the_nodes_of_a_pool_stay_in_their_zones(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Google moves nodes by deleting some. A fixed pool has what it asks for, and less than one more in each zone."""
    before = made(request(first, {}))
    same_version = {
        **second,
        "kubernetesVersion": first.get("kubernetesVersion", facts.KUBERNETES),
    }  # an older one holds
    after = composed(request(same_version, before))

    for wanted in second["nodePools"]:
        key = f"pool-{wanted['name']}"
        got = after[key]["spec"]["forProvider"] if key in after else None
        if got is None or key not in before:
            continue
        assert got["nodeLocations"] == before[key]["spec"]["forProvider"]["nodeLocations"]
        if "maxNodeCount" not in wanted:
            total = got["nodeCount"] * len(got["nodeLocations"])
            assert wanted["nodeCount"] <= total < wanted["nodeCount"] + len(got["nodeLocations"])


def access(asked: Request) -> Any:
    return dig(composed(asked).get("cluster"), "spec", "forProvider", "masterAuthorizedNetworksConfig")


def test_networks_that_reach_the_api_server_are_opened_again() -> None:
    """The provider leaves alone what is only left out of a spec."""
    pools = [{"name": "c", "className": "c", "machine": MACHINES["c"]}]
    wanted = {"clusterName": "iowa", "region": "us-central1", "nodePools": pools}
    restricted = request({**wanted, "apiServer": {"allowedSources": ["198.51.100.0/24", "192.0.2.0/24"]}}, {})
    found = made(restricted)

    blocks = [{"cidrBlock": "192.0.2.0/24"}, {"cidrBlock": "198.51.100.0/24"}]
    assert access(request(wanted, made(request(wanted, {})))) is None
    assert access(replace(restricted, observed=found)) == {
        "cidrBlocks": blocks,
        "gcpPublicCidrsAccessEnabled": False,
    }
    assert access(request(wanted, found)) == {"cidrBlocks": [{"cidrBlock": "0.0.0.0/0"}]}
