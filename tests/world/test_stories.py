"""The life of a fleet, told on the embedded control plane: in process and over real gRPC, with the same end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from function.core import condition, dig, is_ready
from function.planning import parts
from function.planning.control_plane import ControlPlane
from function.planning.outcome import DeploymentOutcome
from function.sandbox.store import Ref
from function.vocabulary import versions

Make = Callable[..., ControlPlane]

FLEET = ("tour/classes.yaml", "tour/clusters.yaml")
TOUR = ("tour",)


def deployment_ref(name: str, namespace: str = "ml-team") -> Ref:
    return Ref(versions.MODELPLANE, "ModelDeployment", namespace, name)


def cluster_ref(name: str) -> Ref:
    return Ref(versions.MODELPLANE, "InferenceCluster", "", name)


def edit(control: ControlPlane, ref: Ref, **spec: Any) -> None:
    """Change fields of a spec, and let the world come to rest."""
    control.store.update(ref, lambda manifest: manifest["spec"].update(spec))
    control.loop.settle()


def deployment(control: ControlPlane, name: str) -> DeploymentOutcome:
    return next(d for d in parts.read(control.store).deployments if d.name == name)


def clusters(control: ControlPlane, name: str) -> Counter[str]:
    """On which clusters a deployment's replicas serve."""
    return Counter(r.cluster for r in deployment(control, name).replicas if r.serving)


def endpoints(control: ControlPlane) -> set[str]:
    return {e.name for e in parts.read(control.store).endpoints}


def images(control: ControlPlane) -> Counter[str]:
    """The tags of the replicas' images."""
    return Counter(
        dig(m, "spec", "engines", 0, "members", 0, "template", "spec", "containers", 0, "image").rpartition(":")[2]
        for m in control.store.of_kind(versions.MODELPLANE, "ModelReplica")
    )


@pytest.mark.slow
def test_the_tour_ends_as_it_is_told(settled: Make) -> None:
    """A small model on the L4, one in two regions, a gang on two nodes, and of two rivals one."""
    control = settled(*TOUR)

    got = {d.name: (dict(clusters(control, d.name)), d.missing) for d in parts.read(control.store).deployments}
    want = {
        "qwen3-8b": ({"starter": 1}, 0),
        "qwen3-32b": ({"europe": 1, "virginia": 1}, 0),
        "qwen3-235b": ({"europe": 1}, 0),
        "gemma-3-12b": ({"starter": 1}, 0),
        "mistral-7b": ({}, 1),
    }
    assert got == want


@pytest.mark.slow
def test_what_a_replica_becomes_on_its_cluster(settled: Make) -> None:
    control = settled(*TOUR)

    things = {
        d.name: Counter(t.kind for t in d.replicas[0].becomes)
        for d in parts.read(control.store).deployments
        if d.name in ("qwen3-8b", "qwen3-235b")
    }
    want = {
        "qwen3-8b": Counter(Deployment=1, ResourceClaimTemplate=1, Service=1, HTTPRoute=1),
        "qwen3-235b": Counter(LeaderWorkerSet=1, ResourceClaimTemplate=2, Service=1, HTTPRoute=1),
    }
    assert things == want


@pytest.mark.slow
def test_every_replica_that_serves_has_an_endpoint(settled: Make) -> None:
    control = settled(*TOUR)

    want = {r.name for d in parts.read(control.store).deployments for r in d.replicas}
    assert endpoints(control) == want


@pytest.mark.slow
def test_nothing_of_two_tenants_shares_a_thing_on_a_cluster(settled: Make) -> None:
    control = settled(*TOUR)

    assert control.clusters.shared == set()


@pytest.mark.slow
def test_scaling_down_keeps_one_and_scaling_to_zero_is_ready(settled: Make) -> None:
    control = settled(*FLEET, "tour/two-regions.yaml")
    edit(control, deployment_ref("qwen3-32b"), replicas=1)
    one = sum(clusters(control, "qwen3-32b").values()), len(endpoints(control))

    edit(control, deployment_ref("qwen3-32b"), replicas=0)

    none = sum(clusters(control, "qwen3-32b").values()), len(endpoints(control))
    found = control.store.get(deployment_ref("qwen3-32b"))
    assert (one, none, found is not None and is_ready(found)) == ((1, 1), (0, 0), True)


@pytest.mark.slow
def test_what_is_scaled_away_leaves_nothing_on_its_cluster(settled: Make) -> None:
    """But the namespace, which no replica's end takes away."""
    control = settled(*FLEET, "tour/two-regions.yaml")

    edit(control, deployment_ref("qwen3-32b"), replicas=0)

    left = {r.kind for things in control.clusters.things.values() for r in things if r.namespace == "ml-team"}
    assert left == set()


@pytest.mark.slow
def test_a_typo_in_a_selector_loses_nothing(settled: Make) -> None:
    control = settled(*FLEET, "tour/two-regions.yaml")
    before = clusters(control, "qwen3-32b"), endpoints(control)

    def break_selector(manifest: dict[str, Any]) -> None:
        (request,) = manifest["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"]
        request["selectors"][0]["cel"] += " &&"

    control.store.update(deployment_ref("qwen3-32b"), break_selector)
    control.loop.settle()

    found = control.store.get(deployment_ref("qwen3-32b"))
    assert found is not None
    said = dig(condition(found, "ReplicasScheduled"), "reason")
    assert ((clusters(control, "qwen3-32b"), endpoints(control)), said) == (before, "InvalidNodeSelector")


@pytest.mark.slow
def test_a_class_that_is_gone_loses_nothing(settled: Make) -> None:
    control = settled(*FLEET, "tour/two-regions.yaml")
    before = clusters(control, "qwen3-32b"), endpoints(control)

    control.store.delete(Ref(versions.MODELPLANE, "InferenceClass", "", "gke-a100-8x-a2"))
    control.loop.settle()

    assert (clusters(control, "qwen3-32b"), endpoints(control)) == before


@pytest.mark.slow
def test_a_cluster_that_does_not_answer_loses_nothing(settled: Make) -> None:
    control = settled(*FLEET, "tour/two-regions.yaml")
    before = endpoints(control)

    control.faults.unreachable.add("virginia")
    control.loop.settle()

    placed = sorted(r.cluster for r in deployment(control, "qwen3-32b").replicas)
    assert (endpoints(control), placed) == (before, ["europe", "virginia"])


@pytest.mark.slow
def test_a_cluster_that_is_not_ready_gets_nothing_new(settled: Make) -> None:
    control = settled(*FLEET, "tour/deployment.yaml")
    control.faults.unreachable.add("europe")
    control.loop.settle()

    edit(control, deployment_ref("qwen3-8b"), replicas=4)

    assert clusters(control, "qwen3-8b") == Counter(starter=2, virginia=2)


@pytest.mark.slow
def test_a_taint_that_drains_moves_who_does_not_bear_it(settled: Make) -> None:
    """Make before break: at the end two serve, none of them there."""
    control = settled(*FLEET, "tour/two-regions.yaml")

    edit(control, cluster_ref("virginia"), taints=[{"key": "maintenance", "effect": "NoExecute"}])

    assert clusters(control, "qwen3-32b") == Counter(europe=2)


@pytest.mark.slow
def test_a_cluster_is_deleted_once_its_replicas_have_left(settled: Make) -> None:
    control = settled(*FLEET, "tour/two-regions.yaml")

    refused = not control.store.delete(cluster_ref("virginia"))
    control.loop.settle()

    gone = control.store.get(cluster_ref("virginia")) is None
    assert (refused, gone, clusters(control, "qwen3-32b")) == (True, True, Counter(europe=2))


@pytest.mark.slow
def test_a_deleted_deployment_takes_everything_along(settled: Make) -> None:
    control = settled(*FLEET, "tour/gang.yaml")

    control.store.delete(deployment_ref("qwen3-235b"))
    control.loop.settle()

    left = [m["metadata"]["name"] for m in control.store.all() if m["metadata"].get("namespace") == "ml-team"]
    there = {r for things in control.clusters.things.values() for r in things if r.namespace == "ml-team"}
    assert (left, there, endpoints(control)) == ([], set(), set())


@pytest.mark.slow
def test_an_image_that_never_starts_stops_at_the_first_replica(settled: Make) -> None:
    """A rollout goes on only when the replica before it is ready."""
    control = settled(*FLEET, "tour/two-regions.yaml")
    before = endpoints(control)
    control.faults.broken_images.add("vllm/vllm-openai:broken")

    def upgrade(manifest: dict[str, Any]) -> None:
        (member,) = manifest["spec"]["engines"][0]["members"]
        member["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:broken"

    control.store.update(deployment_ref("qwen3-32b"), upgrade)
    control.loop.settle()

    serving = sum(clusters(control, "qwen3-32b").values())
    assert (images(control), serving, len(endpoints(control) & before)) == ({"v0.23.0": 1, "broken": 1}, 1, 1)

    for replicas in (1, 2, 1):  # as an autoscaler does
        edit(control, deployment_ref("qwen3-32b"), replicas=replicas)
        serving = sum(clusters(control, "qwen3-32b").values())
        assert (images(control)["v0.23.0"], serving, len(endpoints(control) & before)) == (1, 1, 1)


@pytest.mark.slow
def test_an_upgrade_reaches_every_replica(settled: Make) -> None:
    control = settled(*FLEET, "tour/two-regions.yaml")

    def upgrade(manifest: dict[str, Any]) -> None:
        (member,) = manifest["spec"]["engines"][0]["members"]
        member["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.24.0"

    control.store.update(deployment_ref("qwen3-32b"), upgrade)
    control.loop.settle()

    found = control.store.get(deployment_ref("qwen3-32b"))
    assert found is not None
    assert (found["status"]["replicas"], is_ready(found)) == ({"total": 2, "ready": 2, "updated": 2}, True)


def test_the_bad_edit_changes_nothing(settled: Make) -> None:
    control = settled("bad-edit")

    found = control.store.get(deployment_ref("qwen3-8b"))
    got = (
        clusters(control, "qwen3-8b"),
        len(endpoints(control)),
        dig(condition(found or {}, "ReplicasScheduled"), "reason"),
    )
    assert got == (Counter(starter=2), 2, "InvalidNodeSelector")


@pytest.mark.slow
def test_asked_again_a_fleet_at_rest_asks_nothing(settled: Make) -> None:
    control = settled(*TOUR)
    calls = control.loop.reconciler.calls

    control.loop.settle()

    assert control.loop.reconciler.calls == calls


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_order_of_reconciles_ends_without_overcommit(settled: Make, seed: int) -> None:
    """Who wins a node may differ. That all who are placed serve, and that no pool gives more than it has, may not."""
    control = settled(*TOUR, seed=seed)

    found = parts.read(control.store)
    placed = sum(len(d.replicas) for d in found.deployments)
    serving = sum(d.serving for d in found.deployments)
    assert (serving, min(pool.free for pool in found.pools)) == (placed, 0)
