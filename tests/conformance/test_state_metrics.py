"""What kube-state-metrics makes of our objects by the configuration that we publish."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families as parsed

from function import registry
from function.core import plain
from function.publish.catalog import KINDS, Kind
from function.sandbox.settle import settle
from tests.conformance import programs
from tests.conformance.oracle import wanted
from tests.support.cases import ROOT, load

CONFIG = (Path(__file__).parents[2] / "package/monitoring/custom-resource-state.yaml").read_text()
Series = set[tuple[str, frozenset[tuple[str, str]], float]]
READY = {"type": "Ready", "status": "True", "reason": "Available"}


@pytest.fixture(scope="module", autouse=True)
def _go() -> None:
    wanted()


def series(manifest: Mapping[str, Any]) -> Series:
    """The series of an object, without the labels that name it."""
    (answer,) = programs.answers("statemetrics", [{"config": CONFIG, "object": plain(manifest)}])
    samples = [sample for family in parsed(answer["metrics"]) for sample in family.samples]
    group, _, version = manifest["apiVersion"].partition("/")
    named = {
        "customresource_group": group,
        "customresource_version": version,
        "customresource_kind": manifest["kind"],
        **{key: value for key, value in manifest["metadata"].items() if key in {"name", "namespace"}},
    }
    assert all(named.items() <= sample.labels.items() for sample in samples)
    return {(s.name, frozenset(s.labels.items() - named.items()), s.value) for s in samples}


def one(name: str, value: float, **labels: str) -> tuple[str, frozenset[tuple[str, str]], float]:
    return f"modelplane_{name}", frozenset(labels.items()), value


def reported(case: str) -> dict[str, Any]:
    """The XR of a golden case, with the status that is composed for it."""
    request, objects = load(ROOT / case)
    result = settle(registry.compose, request, objects)
    conditions = [{"type": c.type, "status": c.status, "reason": c.reason} for c in result.conditions]
    return {**plain(request.xr), "status": {**plain(result.status), "conditions": conditions}}


def named(kind: Kind, **status: Any) -> dict[str, Any]:
    metadata = {"name": "x", **({"namespace": "ml"} if kind.scope == "Namespaced" else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "status": status}


def of(kind: str) -> Kind:
    (found,) = [one for one in KINDS if one.kind == kind]
    return found


def test_a_deployment_that_waits() -> None:
    got = series(reported("modeldeployment/a-cordoned-node-is-not-counted"))

    assert got == {
        one("condition", 1, condition="ModelCacheResolved", status="True", reason="NoModelCache"),
        one("condition", 0, condition="ReplicasReady", status="False", reason="ModelStarting"),
        one("condition", 0, condition="ReplicasScheduled", status="False", reason="InsufficientCapacity"),
        one("modeldeployment_replicas_wanted", 2),
        one("modeldeployment_replicas_placed", 1),
        one("modeldeployment_replicas_ready", 0),
        one("modeldeployment_replicas_updated", 1),
        one("modeldeployment_rejection_info", 1, cluster="h100-west", reason="Cordoned"),
        one("modeldeployment_placement_ready", 0, cluster="h100-west", replica="qwen-cc8dc23a"),
    }


def test_a_cluster_with_an_overcommitted_pool() -> None:
    pool = {"pool": "h100", "ready": 1, "notReady": 2, "outOfStock": True}
    status = {
        "nodes": 3,
        "serving": True,
        "allocations": [{"pool": "h100", "nodes": 3, "free": -1}, {"pool": "l4", "nodes": 2, "free": 2}],
        "capacity": {"source": "Observed", "stale": False, "pools": [pool]},
    }

    assert series(named(of("InferenceCluster"), **status)) == {
        one("serving", 1),
        one("inferencecluster_nodes", 3),
        one("inferencecluster_pool_nodes", 3, pool="h100"),
        one("inferencecluster_pool_nodes", 2, pool="l4"),
        one("inferencecluster_pool_nodes_free", -1, pool="h100"),
        one("inferencecluster_pool_nodes_free", 2, pool="l4"),
        one("inferencecluster_capacity_stale", 0),
        one("inferencecluster_pool_nodes_ready", 1, pool="h100"),
        one("inferencecluster_pool_nodes_not_ready", 2, pool="h100"),
        one("inferencecluster_pool_out_of_stock", 1, pool="h100"),
    }


def test_a_service_and_a_cache() -> None:
    service = named(of("ModelService"), endpoints={"matched": 2, "ready": 1}, priority=1)
    cache = named(of("ModelCache"), clusters=[{"name": "east", "phase": "Ready"}])

    assert series(service) == {
        one("modelservice_endpoints_matched", 2),
        one("modelservice_endpoints_ready", 1),
        one("modelservice_priority", 1),
    }
    assert series(cache) == {
        one("modelcache_cluster_phase", phase == "Ready", cluster="east", phase=phase)
        for phase in ("Pending", "Hydrating", "Ready", "Failed")
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_kind_has_its_conditions(kind: Kind) -> None:
    unknown = {"type": "Synced", "status": "Unknown", "reason": "Waiting"}

    assert series(named(kind, conditions=[READY, unknown])) == {
        one("condition", 1, condition="Ready", status="True", reason="Available"),
        one("condition", 0, condition="Synced", status="Unknown", reason="Waiting"),
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_an_object_without_a_status_has_no_series(kind: Kind) -> None:
    bare = {key: value for key, value in named(kind).items() if key != "status"}

    assert series(bare) == set()
