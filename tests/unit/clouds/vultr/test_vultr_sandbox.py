"""An InferenceCluster of Vultr in the embedded control plane, from nothing until it is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from function.clouds.vultr.facts import KUBERNETES, NODE_POOL
from function.core import condition, dig, plain
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import versions
from tests.support import cloud_samples

REF = Ref(versions.MODELPLANE, "InferenceCluster", "", "miami")
CONFIG = {
    "apiVersion": "vultr.m.upbound.io/v1beta1",
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": {"credentials": {"source": "InjectedIdentity"}},
}


def classes() -> list[dict[str, Any]]:
    return cloud_samples.examples("vultr")


def cluster(*pools: dict[str, Any], **block: Any) -> dict[str, Any]:
    spec = {"cluster": {"source": "Vultr", "vultr": {"region": "mia", **block}}, "nodePools": list(pools)}
    return {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "metadata": {"name": "miami"}, "spec": spec}


def of_each_class() -> list[dict[str, Any]]:
    return [{"name": f"p{i}", "className": m["metadata"]["name"]} for i, m in enumerate(classes())]


@pytest.fixture
def control() -> ControlPlane:
    control = ControlPlane()
    control.loop.load([*classes(), CONFIG, cluster(*of_each_class())])
    control.loop.settle()
    return control


def told(control: ControlPlane, type_: str = "ClusterReady") -> str:
    found = condition(control.store.get(REF) or {}, type_) or {}
    return f"{found['reason']}: {found.get('message', '')}"


def plans(control: ControlPlane) -> dict[str, str]:
    found = (plain(m)["spec"]["forProvider"] for m in control.store.of_kind(NODE_POOL.api_version, NODE_POOL.kind))
    return {each["label"]: each["plan"] for each in found}


def test_a_cluster_with_a_pool_of_every_class_of_the_examples_becomes_ready(control: ControlPlane) -> None:
    assert told(control, "Ready") == "Available: "
    assert plans(control) == {f"p{i}": m["spec"]["provisioning"]["vultr"]["plan"] for i, m in enumerate(classes())}


def test_the_cluster_says_that_vultr_has_no_storage_for_caches(control: ControlPlane) -> None:
    names = ", ".join(pool["name"] for pool in of_each_class())
    why = "Vultr's shared file system cannot be mounted on GPU nodes, so the cluster takes no ModelCaches"
    assert told(control) == f"ClusterRunning: {len(classes())} nodes, pools: {names}; {why}"
    assert dig(control.store.get(REF), "status", "cache") is None


def test_what_a_pool_cannot_be_is_refused_and_what_runs_stays(control: ControlPlane) -> None:
    before = plans(control)
    control.loop.replace(cluster(*({**pool, "nodeCount": 0} for pool in of_each_class())))
    control.loop.settle()

    problem = "spec.nodePools[0].nodeCount: must be at least 1, not 0: Vultr makes no pool without nodes"
    assert told(control).startswith(f"InvalidNodePool: {problem}")
    assert plans(control) == before


@pytest.mark.parametrize(
    ("pool", "want"),
    [
        ({"zones": ["a"]}, "zones: Vultr cannot choose the zones of a pool; leave them out"),
        (
            {"capacityBlock": {"capacityReservationId": "cr-0123456789abcdef0"}},
            "capacityBlock: Vultr cannot take nodes from a reservation; leave it out",
        ),
        ({"fabric": {"type": "InfiniBand"}}, "fabric.type: must be None for Vultr, not InfiniBand"),
        (
            {"minNodeCount": 0, "maxNodeCount": 2},
            "minNodeCount: must be at least 1, not 0: the autoscaler of Vultr adds no first node",
        ),
    ],
    ids=["zones", "reservation", "fabric", "zero"],
)
def test_what_vultr_has_not_is_refused_before_anything_is_made(pool: dict[str, Any], want: str) -> None:
    control = ControlPlane()
    control.loop.load([*classes(), CONFIG, cluster({**of_each_class()[0], **pool})])
    control.loop.settle()

    assert told(control).startswith(f"InvalidNodePool: spec.nodePools[0].{want}")
    assert plans(control) == {}


def test_it_is_deleted_and_leaves_nothing(control: ControlPlane) -> None:
    control.store.delete(REF)
    control.loop.settle()

    kinds = (KUBERNETES, NODE_POOL)
    assert [list(control.store.of_kind(kind.api_version, kind.kind)) for kind in kinds] == [[], []]
    assert list(control.store.of_kind(versions.PROTECTION, "Usage")) == []
