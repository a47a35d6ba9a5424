"""InferenceClusters of AKS in the embedded control plane, from nothing until they are deleted."""

from __future__ import annotations

import re
from typing import Any

import pytest

from function.clouds.aks import managed
from function.core import Manifest, condition, dig, plain
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import crossplane, versions
from tests.support import cloud_samples, foreign

REF = Ref(versions.MODELPLANE, "InferenceCluster", "", "amsterdam")
CONFIG = {
    "apiVersion": managed.PROVIDER,
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": {"credentials": {"source": "OIDCTokenFile"}},
}


def classes() -> list[dict[str, Any]]:
    return cloud_samples.examples("aks")


def cluster(*pools: dict[str, Any], **block: Any) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": "amsterdam"},
        "spec": {
            "cluster": {"source": "AKS", "aks": {"location": "westeurope", **block}},
            "nodePools": list(pools),
            "servingStack": {"gateway": {"internal": True}},
        },
    }


H100 = {"name": "h100", "className": "aks-h100-8x-nd", "nodeCount": 2}
SCALED = {"name": "scaled", "className": "aks-a100-pcie-1x-nc", "nodeCount": 6, "maxNodeCount": 4}


def settled(*objects: dict[str, Any]) -> ControlPlane:
    control = ControlPlane()
    control.loop.load([*classes(), CONFIG, *objects])
    control.loop.settle()
    return control


def edited(control: ControlPlane, spec: dict[str, Any]) -> None:
    control.loop.replace(spec)
    control.loop.settle()


def told(control: ControlPlane, type_: str = "ClusterReady") -> str:
    found = condition(control.store.get(REF) or {}, type_) or {}
    return f"{found['reason']}: {found.get('message', '')}"


def made(control: ControlPlane) -> list[Manifest]:
    return [plain(m) for kind in managed.KINDS for m in control.store.of_kind(kind.api_version, kind.kind)]


def pools(control: ControlPlane) -> dict[str, dict[str, Any]]:
    kind = managed.NODE_POOL
    found = (plain(m)["spec"] for m in control.store.of_kind(kind.api_version, kind.kind))
    return {spec["forProvider"]["nodeLabels"]["modelplane.ai/pool"]: spec for spec in found}


def test_a_cluster_of_every_class_of_the_examples_becomes_ready() -> None:
    """As many pools as an InferenceCluster has, and then the others."""
    of_each = [{"name": f"p{i}", "className": m["metadata"]["name"]} for i, m in enumerate(classes())]
    for some in (of_each[:8], of_each[8:]):
        control = settled(cluster(*some))
        assert told(control, "Ready") == "Available: "
        assert sorted(pools(control)) == sorted(pool["name"] for pool in some)


def test_every_resource_is_one_that_the_provider_accepts() -> None:
    control = settled(cluster(H100, SCALED))

    stored = [{key: value for key, value in m.items() if key != "status"} for m in made(control)]
    assert {m["kind"] for m in stored} == {kind.kind for kind in managed.KINDS}
    assert [found for manifest in stored for found in foreign.problems(manifest)] == []


def test_names_are_no_longer_than_azure_allows() -> None:
    """Limits of Azure's naming rules, and of AKS."""
    name = "a-cluster-with-the-longest-name-that-an-inferencecluster-can-hav"[:63]
    manifest = cluster({**H100, "name": "a-pool-with-a-name-of-exactly-40-letters"})
    manifest["metadata"]["name"] = name
    of_kind = {m["kind"]: m for m in made(settled(manifest))}

    limits = {"ResourceGroup": 90, "VirtualNetwork": 64, "Subnet": 80, "UserAssignedIdentity": 128}
    assert {kind for kind, limit in limits.items() if len(of_kind[kind]["metadata"]["name"]) > limit} == set()
    written = of_kind["KubernetesCluster"]["spec"]["forProvider"]
    assert len(of_kind["KubernetesCluster"]["metadata"]["name"]) <= 63
    assert re.fullmatch("[a-z][-a-z0-9]{0,52}[a-z0-9]", written["dnsPrefix"])
    assert len(written["nodeResourceGroup"]) <= 80
    pool = of_kind["KubernetesClusterNodePool"]["metadata"]["annotations"][crossplane.EXTERNAL_NAME]
    assert re.fullmatch("[a-z][a-z0-9]{0,11}", pool)


def test_what_caches_and_the_scheduler_read_is_published() -> None:
    status = plain(settled(cluster(H100, SCALED)).store.get(REF) or {})["status"]

    assert status["cache"] == {"storageClassName": "modelplane-azurefile-nfs"}
    assert {pool["name"]: pool["nodes"] for pool in status["gpuPools"]} == {"h100": 2, "scaled": 4}
    assert status["gateway"]["address"]


def test_a_pool_is_scaled_by_azure_alone_once_it_is_made() -> None:
    control = settled(cluster(H100, SCALED))

    fixed, scaled = pools(control)["h100"], pools(control)["scaled"]
    assert fixed["forProvider"]["nodeCount"] == 2
    assert "nodeCount" not in scaled["forProvider"]
    assert (scaled["forProvider"]["minCount"], scaled["forProvider"]["maxCount"]) == (1, 4)
    assert scaled["initProvider"] == {"nodeCount": 4}
    assert "LateInitialize" not in scaled["managementPolicies"]


def test_nodes_are_upgraded_after_the_control_plane() -> None:
    control = settled(cluster(H100, kubernetesVersion="1.35"))
    edited(control, cluster(H100, kubernetesVersion="1.36"))

    [found] = control.store.of_kind(managed.CLUSTER.api_version, managed.CLUSTER.kind)
    wanted = plain(found)["spec"]["forProvider"]
    assert wanted["kubernetesVersion"] == "1.36"
    assert wanted["defaultNodePool"]["orchestratorVersion"] == "1.36.0"
    assert pools(control)["h100"]["forProvider"]["orchestratorVersion"] == "1.36.0"


@pytest.mark.parametrize(
    ("pool", "want"),
    [
        (
            {"capacityBlock": {"capacityReservationId": "cr-0123456789abcdef0"}},
            "capacityBlock: AKS cannot take nodes from a reservation; leave it out",
        ),
        (
            {"fabric": {"type": "InfiniBand"}},
            "fabric.type: must be None for AKS, not InfiniBand; InfiniBand there needs host drivers that",
        ),
        ({"minNodeCount": 0, "maxNodeCount": 2}, "minNodeCount: must be at least 1, not 0: the autoscaler of AKS adds"),
        ({"zones": ["a"]}, "zones: must have 1, 2 or 3, as AKS names zones, not a"),
        (
            {"className": "wrong"},
            "className: InferenceClass wrong has devices of gpu.nvidia.com, and vmSize Standard_D8s_v5 has none; only",
        ),
    ],
    ids=["reservation", "fabric", "zero", "zone", "devices"],
)
def test_what_aks_cannot_do_is_refused_before_anything_is_made(pool: dict[str, Any], want: str) -> None:
    wrong = plain(classes()[0])
    wrong["metadata"]["name"] = "wrong"
    wrong["spec"]["provisioning"]["aks"]["vmSize"] = "Standard_D8s_v5"
    control = settled(wrong, cluster({**H100, **pool}))

    assert told(control).startswith(f"InvalidNodePool: spec.nodePools[0].{want}")
    assert made(control) == []


def test_networks_without_room_are_refused_before_anything_is_made() -> None:
    control = settled(cluster({**H100, "nodeCount": 300}, network={"podCidr": "10.244.0.0/16"}))

    want = "must have room for 306 nodes with a /24 each, which takes a /15; 10.244.0.0/16 has room for 256"
    assert told(control).startswith(f"InvalidSpec: spec.cluster.aks.network.podCidr: {want}")
    assert made(control) == []


def test_a_pool_that_outgrows_the_network_changes_nothing() -> None:
    small = {"podCidr": "10.244.0.0/20"}
    control = settled(cluster(H100, network=small))
    before = made(control)
    edited(control, cluster({**H100, "nodeCount": 11}, network=small))

    assert told(control).startswith("InvalidSpec: spec.cluster.aks.network.podCidr: must have room for 17 nodes")
    assert made(control) == before


def test_a_pool_that_is_added_and_removed_leaves_the_others_as_they_are() -> None:
    control = settled(cluster(H100))
    before = made(control)
    edited(control, cluster(H100, SCALED))
    assert sorted(pools(control)) == ["h100", "scaled"]
    edited(control, cluster(H100))

    assert made(control) == before
    assert told(control, "Ready") == "Available: "


def test_missing_credentials_are_named() -> None:
    control = ControlPlane()
    control.loop.load([*classes(), cluster(H100)])
    control.loop.settle()

    assert "ClusterProviderConfig default of azure.m.upbound.io does not exist" in told(control)
    assert made(control) == []


def test_it_is_deleted_and_leaves_nothing() -> None:
    control = settled(cluster(H100, SCALED))
    control.store.delete(REF)
    control.loop.settle()

    assert made(control) == []
    assert list(control.store.of_kind(versions.PROTECTION, "Usage")) == []
    assert dig(control.store.get(REF), "metadata") is None
