"""Clusters whose capacity is observed, told on the embedded control plane: nothing that serves moves for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function.core import condition, dig, is_ready
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import labels, names, settings, versions
from function.vocabulary.observation import OBSERVED_KEY
from tests.support.observations import nodes, observation, pool
from tests.world.test_fleet_stories import classes, cluster, deployment, edit, found, named, says, serving

EAST = named("InferenceCluster", "east")
GPU = "gpu"


def observed_cluster(name: str = "east", **capacity: Any) -> dict[str, Any]:
    made = cluster(name)
    made["spec"]["capacity"] = {"source": "Observed", **capacity}
    return made


def config_map(*records: dict[str, Any], cluster: str = "east", **fields: Any) -> dict[str, Any]:
    """What the observer has written. Its hash is that of an earlier declaration."""
    told = observation(cluster, pools={"l4": pool(*records, **fields)})
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": names.observed(cluster),
            "namespace": names.SYSTEM_NAMESPACE,
            "labels": {labels.OBSERVATION: labels.OBSERVED},
        },
        "data": {OBSERVED_KEY: json.dumps(told)},
    }


def told(*manifests: dict[str, Any], seed: int | None = None) -> ControlPlane:
    control = ControlPlane(seed=seed)
    control.loop.load([*classes(), *manifests, *stubs.objects(manifests)])
    control.loop.settle()
    return control


def l4(*names_: str, **fields: Any) -> dict[str, Any]:
    return nodes(*names_, devices={GPU: 1}, **fields)


def on_cluster(control: ControlPlane, name: str = "east") -> set[tuple[str, str]]:
    """What the observer and its observation have on a cluster, by kind and name."""
    ours = {names.OBSERVER, names.observed(name), names.declared(name)}
    there = control.clusters.things[names.provider_config(name)]
    return {(ref.kind, ref.name) for ref in there if ref.name in ours}


def capacity(control: ControlPlane) -> Any:
    return dig(found(control, EAST), "status", "capacity")


@pytest.mark.parametrize("seed", range(3))
def test_until_something_is_observed_the_declared_capacity_counts(seed: int) -> None:
    control = told(observed_cluster(), deployment(replicas=2, cached=False), seed=seed)

    assert says(control, EAST, "CapacityObserved") == "Waiting"
    assert capacity(control) == {"source": "Observed"}
    assert is_ready(found(control, EAST))
    assert serving(control) == ["east", "east"]
    assert {kind for kind, _ in on_cluster(control)} >= {"Deployment", "ServiceAccount", "ClusterRole", "ConfigMap"}


@pytest.mark.parametrize("seed", range(3))
def test_a_cordoned_node_gets_no_replica(seed: int) -> None:
    given = config_map(l4("n1"), l4("n2", state="Cordoned"))
    control = told(observed_cluster(), given, deployment(replicas=2, cached=False), seed=seed)

    assert says(control, EAST, "CapacityObserved") == "Observed"
    assert dig(capacity(control), "pools") == [{"pool": "l4", "ready": 1, "cordoned": 1}]
    assert serving(control) == ["east"]


def test_what_serves_stays_whatever_is_observed() -> None:
    control = told(observed_cluster(), config_map(l4("n1", "n2")), deployment(replicas=2, cached=False))
    before = on_east(control)
    for records in ([l4("n1", "n2", state="Cordoned")], [l4("n1", "n2", foreign={GPU: 1})], [], [l4("n1", "n2")]):
        control.loop.load([config_map(*records)])
        control.loop.settle()
        assert on_east(control) == before
        assert serving(control) == ["east", "east"]


def on_east(control: ControlPlane) -> set[Ref]:
    there = control.clusters.things[names.provider_config("east")]
    return {ref for ref in there if ref.namespace == "ml-team"}


def test_an_observer_that_dies_costs_nobody_anything() -> None:
    control = told(observed_cluster(), config_map(l4("n1"), l4("n2", state="Cordoned")))
    control.faults.broken_images = {settings.OBSERVER_IMAGE}
    control.loop.settle()
    assert says(control, EAST, "CapacityObserved") == "ObserverUnavailable"
    assert (capacity(control)["stale"], is_ready(found(control, EAST))) == (True, True)

    control.loop.load([deployment(replicas=2, cached=False)])
    control.loop.settle()
    assert serving(control) == ["east", "east"]

    control.faults.broken_images = set()
    control.loop.settle()
    assert says(control, EAST, "CapacityObserved") == "Observed"
    assert serving(control) == ["east", "east"]


def test_declared_again_nothing_is_left_of_it_and_everything_serves() -> None:
    control = told(observed_cluster(), config_map(l4("n1", "n2")), deployment(replicas=2, cached=False))
    before = on_east(control)

    edit(control, EAST, lambda m: m["spec"].update(capacity={"source": "Declared"}))

    assert on_cluster(control) == set()
    assert capacity(control) is None
    assert says(control, EAST, "CapacityObserved") == "DeclaredCounts"
    assert says(control, EAST, "ClassMatchesNodes") == "NothingObserved"
    assert (on_east(control), serving(control)) == (before, ["east", "east"])


def test_a_pool_that_scales_has_nodes_for_its_replicas() -> None:
    scaled = observed_cluster()
    scaled["spec"]["nodePools"][0] |= {"nodeCount": 1, "maxNodeCount": 3}
    control = told(scaled, config_map(l4("n1")), deployment(replicas=3, cached=False))

    assert serving(control) == ["east"] * 3
    assert says(control, EAST, "CapacityObserved") == "Observed"


def test_a_pool_that_is_out_of_stock_gets_no_more_replicas() -> None:
    scaled = observed_cluster()
    scaled["spec"]["nodePools"][0] |= {"nodeCount": 1, "maxNodeCount": 3}
    control = told(scaled, config_map(l4("n1"), outOfStock="no capacity"), deployment(replicas=3, cached=False))

    assert serving(control) == ["east"]
    assert dig(capacity(control), "pools") == [{"pool": "l4", "ready": 1, "outOfStock": True}]


def test_the_object_of_a_dump_is_an_observation() -> None:
    control = told(observed_cluster(), config_map(l4("n1"), l4("n2", state="NotReady")))
    ref = Ref(versions.PROVIDER_KUBERNETES, "Object", names.SYSTEM_NAMESPACE, names.capacity_object("east"))
    dump = [found(control, ref), found(control, EAST)]

    again = told(*dump)

    assert dig(capacity(again), "pools") == [{"pool": "l4", "ready": 1, "notReady": 1}]
    assert says(again, EAST, "CapacityObserved") == "Observed"


@pytest.mark.parametrize("seed", range(3))
def test_a_cluster_that_is_deleted_leaves_nothing_of_it(seed: int) -> None:
    control = told(observed_cluster(), config_map(l4("n1")), seed=seed)

    control.store.delete(EAST)
    control.loop.settle()

    assert control.store.get(EAST) is None
    assert on_cluster(control) == set()
    assert not [m for m in control.store.of_kind(versions.PROVIDER_KUBERNETES, "Object") if EAST_LABEL in labelled(m)]


EAST_LABEL = (labels.CLUSTER, "east")


def labelled(manifest: Any) -> Any:
    return (dig(manifest, "metadata", "labels") or {}).items()


def test_an_observer_that_two_need_goes_with_the_last() -> None:
    control = told(cluster("east"))
    system = Ref("v1", "Namespace", "", "kube-system")
    east, west = (control.clusters.things.setdefault(names.provider_config(name), {}) for name in ("east", "west"))
    west[system] = east[system]
    second = observed_cluster("west")
    second["spec"]["nodePools"][0]["name"] = "l4-west"
    control.loop.load([second, *stubs.objects([second])])
    control.loop.settle()
    west_ref = named("InferenceCluster", "west")
    assert ("Deployment", names.OBSERVER) in on_cluster(control)
    assert condition(found(control, EAST), "CapacityObserved") is None

    edit(control, EAST, lambda m: m["spec"].update(capacity={"source": "Observed"}))
    edit(control, west_ref, lambda m: m["spec"].pop("capacity"))
    assert ("Deployment", names.OBSERVER) in on_cluster(control)

    edit(control, EAST, lambda m: m["spec"].pop("capacity"))
    assert on_cluster(control) == set()
