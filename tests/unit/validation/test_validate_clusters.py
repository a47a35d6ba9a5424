"""Node pools beside others: what no cloud is asked for yet, and what only several objects together give."""

from __future__ import annotations

from typing import Any

import pytest

from function.api import servingstack
from function.validation import clusters, validate
from tests.support.made_clusters import CLASSES, made_cluster
from tests.support.samples import Object

RESERVATION = {"capacityReservationId": "cr-0123456789abcdef0"}
OTHER = {"capacityReservationId": "cr-fedcba98765432100"}
AT = "spec.nodePools[{}].capacityBlock.capacityReservationId"


def cluster(name: str, *pools: dict[str, Any]) -> Object:
    return made_cluster("EKS", *({"className": "h100", **pool} for pool in pools), name=name)


def said(*objects: Object) -> list[tuple[int, str, int | None, str]]:
    return [(f.index, f.field, f.other, f.code) for f in clusters.findings(list(enumerate(objects)))]


ALL_OFF = {
    name: {"enabled": False}
    for name in servingstack.Components.model_fields
    if name not in ("amdDraDriver", "dranet", "observer")
}
"""Components with which nothing is installed."""


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        (
            [cluster("a", {"capacityBlock": RESERVATION}, {"capacityBlock": RESERVATION})],
            [(0, AT.format(1), 0, "reservation")],
        ),
        (
            [cluster("a", {}, {"capacityBlock": RESERVATION}), cluster("b", {"capacityBlock": RESERVATION})],
            [(1, AT.format(0), 0, "reservation")],
        ),
        ([cluster("a", {"capacityBlock": RESERVATION}), cluster("b", {"capacityBlock": OTHER})], []),
        ([cluster("a", {}, {}), cluster("b", {})], []),
    ],
    ids=["of one cluster", "of two clusters", "each its own", "none"],
)
def test_a_reservation_of_two_pools_is_told(objects: list[Object], want: list[Any]) -> None:
    assert said(*objects) == want


def test_it_is_told_which_pool_has_the_reservation() -> None:
    first, second = cluster("a", {"capacityBlock": RESERVATION}), cluster("b", {"capacityBlock": RESERVATION})

    [finding] = clusters.findings([(0, first), (1, second)])
    assert finding.message == (
        "cr-0123456789abcdef0 is the reservation of pool p0 of InferenceCluster a, too; "
        "it must have room for the nodes of both"
    )


@pytest.mark.parametrize(
    ("source", "pool", "is_told"),
    [
        ("EKS", {"maxNodeCount": 4}, True),
        ("EKS", {"maxNodeCount": 4, "zones": ["us-east-1a", "us-east-1b"]}, True),
        ("EKS", {"maxNodeCount": 4, "zones": ["us-east-1a"]}, False),
        ("EKS", {"nodeCount": 4}, False),
        ("GKE", {"maxNodeCount": 4}, False),
    ],
)
def test_a_scaled_pool_whose_zones_are_evened_out_is_told(source: str, pool: dict[str, Any], is_told: bool) -> None:
    found = list(clusters.findings([(0, made_cluster(source, {"className": "h100", **pool}))]))

    assert [(f.field, f.code, f.is_error) for f in found] == [("spec.nodePools[0].zones", "zones", False)] * is_told
    assert [f.message for f in found] == [
        "must name one zone, or EKS deletes nodes on which replicas run to even the zones out"
    ] * is_told


# With the ready-made classes of every cloud


NOT_MADE = {"aks-gb200-4x-nd"}
"""Classes for nodes of existing clusters only: AKS installs no GPU driver on Arm machines."""


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_pool_of_every_ready_made_class_can_be_made(name: str) -> None:
    spec = CLASSES[name]["spec"]
    nics = any((device["driver"], device.get("claim")) == ("dra.net", None) for device in spec["devices"])
    fabric = {"fabric": {"type": "EFA"}, "zones": ["us-east-1a"]} if nics else {}
    wanted = made_cluster(spec["provisioning"]["provider"], {"className": name, **fabric})

    found = [finding.field for finding in validate([CLASSES[name], wanted]) if finding.is_error]
    assert found == (["spec.nodePools[0].className"] if name in NOT_MADE else [])


@pytest.mark.parametrize(
    ("provider", "class_name", "pool", "field"),
    [
        ("EKS", "eks-l4-1x-g6", {"minNodeCount": 0, "maxNodeCount": 2}, "minNodeCount"),
        ("EKS", "gke-l4-1x-g2", {}, "className"),
        ("EKS", "eks-l4-1x-g6", {"fabric": {"type": "InfiniBand"}}, "fabric.type"),
        ("GKE", "gke-l4-1x-g2", {"zones": ["europe-west4-a"]}, "zones"),
        ("GKE", "gke-l4-1x-g2", {"capacityBlock": RESERVATION}, "capacityBlock"),
        ("AKS", "aks-h100-8x-nd", {"minNodeCount": 0, "maxNodeCount": 2}, "minNodeCount"),
        ("AKS", "aks-h100-8x-nd", {"zones": ["1", "2", "1"]}, "zones[2]"),
        ("EKS", "eks-l4-1x-g6", {"zones": ["us-east-1a", "us-east-1a"]}, "zones[1]"),
        ("Nebius", "nebius-h100-8x", {"zones": ["a"]}, "zones"),
        ("Vultr", "vultr-h100-8x", {"nodeCount": 0}, "nodeCount"),
    ],
)
def test_what_each_cloud_cannot_do_is_found_at_the_pools_field(
    provider: str, class_name: str, pool: dict[str, Any], field: str
) -> None:
    """Also beside a pool that can be made, and one with another fault."""
    bad = {"className": class_name, **pool}
    wanted = made_cluster(provider, {}, bad, {**bad, "taints": []})

    found = {f.field for f in validate([*CLASSES.values(), wanted]) if f.code == "refused"}
    assert {f"spec.nodePools[{at}].{field}" for at in (1, 2)} <= found
    assert not any(at.startswith("spec.nodePools[0]") for at in found)


@pytest.mark.parametrize("provider", sorted({spec["spec"]["provisioning"]["provider"] for spec in CLASSES.values()}))
def test_a_taint_that_a_node_has_already_is_found(provider: str) -> None:
    """Kubernetes takes one taint of each key and effect. The value is no part of it."""
    taints = [{"key": "team", "value": value, "effect": "NoSchedule"} for value in ("a", "b")]

    [finding] = [f for f in validate([made_cluster(provider, {"taints": taints})]) if f.code == "refused"]
    assert finding.field == "spec.nodePools[0].taints[1]"
    assert finding.message == "must not repeat team:NoSchedule, which is in the list already"


def test_what_the_whole_cluster_cannot_be_is_found_at_the_block() -> None:
    wanted = made_cluster("AKS", *[{"nodeCount": 1000}] * 5)

    [finding] = [f for f in validate([wanted]) if f.code == "refused"]
    assert finding.field == "spec.cluster.aks"
    assert finding.message == "must have at most 5000 nodes, system pool included, not 5006: AKS makes no more"


@pytest.mark.parametrize(
    ("name", "given", "want"),
    [
        ("eks-l4-1x-g5", ["eks-l4-1x-g6"], "names InferenceClass eks-l4-1x-g5, which is not given; did you mean {}?"),
        ("h100", ["eks-l4-1x-g6"], "names InferenceClass h100, which is not given; there is {}"),
        ("eks-l4-1x-g6", ["eks-l4-1x-g6"], None),
        ("h100", [], None),
    ],
    ids=["mistyped", "unlike", "given", "no class is given"],
)
def test_a_class_that_is_not_among_those_that_are_given_is_told(name: str, given: list[str], want: str | None) -> None:
    wanted = made_cluster("EKS", {"className": name})

    found = [f for f in validate([*(CLASSES[one] for one in given), wanted]) if f.code == "class"]
    assert [(f.field, f.message) for f in found] == (
        [("spec.nodePools[0].className", want.format(*given))] if want else []
    )


@pytest.mark.parametrize(
    ("provider", "name", "fabric", "told"),
    [
        ("EKS", "eks-h100-8x-p5", None, True),
        ("EKS", "eks-h100-8x-p5", {"type": "None"}, True),
        ("EKS", "eks-h100-8x-p5", {"type": "EFA"}, False),
        ("EKS", "eks-l4-1x-g6", None, False),
        ("Nebius", "nebius-h200-8x", None, True),
    ],
)
def test_network_cards_without_a_fabric_are_told(
    provider: str, name: str, fabric: dict[str, Any] | None, told: bool
) -> None:
    zones = {"zones": ["us-east-1a"]} if fabric else {}
    wanted = made_cluster(provider, {"className": name, **zones, **({"fabric": fabric} if fabric else {})})

    found = [f for f in validate([CLASSES[name], wanted]) if f.index == 1]
    assert [(f.code, f.field) for f in found] == ([("fabric", "spec.nodePools[0].className")] if told else [])
    assert all(f.message.startswith(f"names InferenceClass {name} with devices of dra.net, which") for f in found)


def test_a_class_that_is_invalid_is_given() -> None:
    broken = {**CLASSES["eks-l4-1x-g6"], "spec": {"devices": "none"}}

    found = validate([broken, made_cluster("EKS", {"className": "eks-l4-1x-g6"})])
    assert [f.code for f in found if f.index == 1] == []


def test_a_network_that_overlaps_is_found_before_anything_is_made() -> None:
    wanted = made_cluster(
        "EKS", {"className": "eks-l4-1x-g6"}, network={"cidr": "10.0.0.0/16", "serviceCidr": "10.0.0.0/20"}
    )

    [finding] = [f for f in validate([wanted]) if f.code == "refused"]
    assert finding.field == "spec.cluster.eks.network.serviceCidr"


@pytest.mark.parametrize(
    ("capacity", "components", "want"),
    [
        (None, {"observer": {"enabled": False}}, []),
        ({"source": "Declared"}, {"observer": {"enabled": False}}, []),
        ({"source": "Observed"}, None, []),
        ({"source": "Observed"}, {"prometheus": {"enabled": False}}, []),
        ({"source": "Observed"}, {"observer": {"enabled": False}}, [("spec.capacity.source", "observer")]),
        ({"source": "Observed"}, ALL_OFF, []),
        ({"terminationMessages": True}, None, [("spec.capacity.terminationMessages", "ignored")]),
        ({"source": "Observed", "terminationMessages": True}, None, []),
    ],
)
def test_capacity_that_nothing_observes_is_told(capacity: Any, components: Any, want: list[tuple[str, str]]) -> None:
    made = made_cluster("EKS", {})
    made["spec"] |= {"capacity": capacity} if capacity else {}
    made["spec"] |= {"servingStack": {"components": components}} if components else {}

    assert [(f.field, f.code) for f in clusters.findings([(0, made)])] == want


def test_a_promise_that_needs_observation_is_an_error() -> None:
    made = made_cluster("EKS", {})
    made["spec"]["capacity"] = {"source": "Declared", "promise": "Placement"}

    assert [(f.field, f.message) for f in validate([made]) if f.is_error] == [
        ("spec.capacity.promise", "promise Placement needs source Observed")
    ]
