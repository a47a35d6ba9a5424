"""An InferenceCluster of EKS in the embedded control plane, from nothing until it is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from function.clouds.eks import kinds
from function.core import condition, dig, plain
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import versions
from tests.support import cloud_samples
from tests.support.eksclusters import CONFIG

REF = Ref(versions.MODELPLANE, "InferenceCluster", "", "east")
FABRIC = "dra.net"


def classes() -> list[dict[str, Any]]:
    return cloud_samples.examples("eks")


def pools_of_each_class() -> list[dict[str, Any]]:
    """A pool for each class of the examples, with EFA where its devices are of EFA."""
    return [{"name": f"p{index}", **pool_of(class_)} for index, class_ in enumerate(classes())]


def pool_of(class_: dict[str, Any]) -> dict[str, Any]:
    has_efa = any(device["driver"] == FABRIC for device in class_["spec"]["devices"])
    efa = {"fabric": {"type": "EFA"}, "zones": ["us-east-1b"]} if has_efa else {}
    return {"className": class_["metadata"]["name"], **efa}


def cluster(*pools: dict[str, Any], **block: Any) -> dict[str, Any]:
    spec = {"cluster": {"source": "EKS", "eks": {"region": "us-east-1", **block}}, "nodePools": list(pools)}
    return {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "metadata": {"name": "east"}, "spec": spec}


def control_of(*pools: dict[str, Any], **block: Any) -> ControlPlane:
    control = ControlPlane()
    control.loop.load([*classes(), CONFIG, cluster(*pools, **block)])
    control.loop.settle()
    return control


def told(control: ControlPlane, type_: str = "ClusterReady") -> str:
    found = condition(control.store.get(REF) or {}, type_) or {}
    return f"{found['reason']}: {found.get('message', '')}"


def managed(control: ControlPlane) -> list[dict[str, Any]]:
    return [plain(m) for kind in kinds.ALL for m in control.store.of_kind(kind.api_version, kind.kind)]


GPU = pools_of_each_class()[0]


@pytest.mark.parametrize("first", range(0, len(classes()), 8))
def test_a_cluster_with_pools_of_every_class_of_the_examples_becomes_ready(first: int) -> None:
    pools = pools_of_each_class()[first : first + 8]

    control = control_of(*pools)

    assert told(control) == f"ClusterRunning: {len(pools)} nodes, pools: {', '.join(pool['name'] for pool in pools)}"
    assert dig(control.store.get(REF), "status", "cache", "storageClassName") == "modelplane-efs"
    assert told(control, "Ready") == "Available: "


def test_what_cannot_be_is_refused_before_anything_is_made() -> None:
    for pool, block, want in (
        (
            {**GPU, "minNodeCount": 0, "maxNodeCount": 2},
            {},
            "InvalidNodePool: spec.nodePools[0].minNodeCount: must be at least 1, not 0: the autoscaler of EKS",
        ),
        (
            {**GPU, "fabric": {"type": "InfiniBand"}},
            {},
            "InvalidNodePool: spec.nodePools[0].fabric.type: must be None or EFA for EKS, not ",
        ),
        (
            {**GPU, "zones": ["us-west-2a"]},
            {},
            "InvalidNodePool: spec.nodePools[0].zones: must have availability zones",
        ),
        (
            GPU,
            {"network": {"cidr": "10.0.0.0/24"}},
            "InvalidSpec: spec.cluster.eks.network.cidr: must be a network from",
        ),
    ):
        control = control_of(pool, **block)
        assert told(control).startswith(want)
        assert managed(control) == []


@pytest.mark.slow
def test_a_pool_in_a_further_zone_is_added_to_a_cluster_that_runs() -> None:
    control = control_of(GPU)
    before = managed(control)

    control.loop.replace(cluster(GPU, {**GPU, "name": "more", "zones": ["us-east-1f"]}))
    control.loop.settle()

    there = {manifest["metadata"]["name"]: manifest["spec"] for manifest in managed(control)}
    assert {m["metadata"]["name"]: m["spec"] for m in before}.items() <= there.items()
    assert told(control) == "ClusterRunning: 2 nodes, pools: p0, more"


@pytest.mark.slow
def test_it_is_deleted_and_leaves_nothing() -> None:
    control = control_of(GPU)

    control.store.delete(REF)
    control.loop.settle()

    assert managed(control) == []
    assert list(control.store.of_kind(versions.PROTECTION, "Usage")) == []
