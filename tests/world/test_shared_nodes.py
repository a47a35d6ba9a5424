"""Deployments on shared nodes, told on the embedded control plane: its nodes refuse what does not fit."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from function.core import condition, dig
from function.planning import edits, parts, stubs
from function.planning.control_plane import ControlPlane
from function.planning.edits import LoseCluster
from function.planning.outcome import PlanOutcome
from function.sandbox.store import Ref
from function.vocabulary import versions

CLASS = {
    "apiVersion": versions.MODELPLANE,
    "kind": "InferenceClass",
    "metadata": {"name": "h100-8x"},
    "spec": {
        "devices": [
            {"name": "gpu", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com", "count": 8},
        ],
        "node": {"cpu": 64},
    },
}


def ref(kind: str, name: str, namespace: str = "") -> Ref:
    return Ref(versions.MODELPLANE, kind, namespace, name)


def cluster(name: str, nodes: int = 1, **pool: Any) -> dict[str, Any]:
    shared = {"name": "h100", "className": "h100-8x", "nodeCount": nodes, "sharing": "Devices", **pool}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name},
        "spec": {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"name": f"{name}-kubeconfig"}}},
            "nodePools": [shared],
        },
    }


def model(name: str, count: int = 1, replicas: int = 1, cpu: int = 1) -> dict[str, Any]:
    container = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "resources": {"requests": {"cpu": cpu}}}
    device = {"name": "gpu", "count": count, "selectors": [{"cel": 'device.driver == "gpu.nvidia.com"'}]}
    member = {"nodeSelector": {"devices": [device]}, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"replicas": replicas, "engines": [{"name": "vllm", "members": [member]}]},
    }


def settled(*manifests: dict[str, Any], seed: int | None = None) -> ControlPlane:
    control = ControlPlane(seed=seed)
    given = [CLASS, *manifests]
    control.loop.load([*given, *stubs.objects(given)])
    control.loop.settle()
    return control


def edited(control: ControlPlane, manifest: dict[str, Any]) -> PlanOutcome:
    """The outcome once an object has another spec."""
    metadata = manifest["metadata"]

    def change(stored: dict[str, Any]) -> None:
        stored["spec"] = manifest["spec"]

    control.store.update(ref(manifest["kind"], metadata["name"], metadata.get("namespace", "")), change)
    control.loop.settle()
    return parts.read(control.store)


def pool(found: PlanOutcome, of: str = "lab") -> tuple[int, int]:
    """The devices of a shared pool, free and in all."""
    [one] = [devices for p in found.pools if p.cluster == of for devices in p.shared]
    return one.free, one.total


def placed(found: PlanOutcome) -> dict[str, list[str]]:
    return {d.name: sorted(r.name for r in d.replicas) for d in found.deployments}


def all_serve(found: PlanOutcome) -> bool:
    return all(replica.serving for d in found.deployments for replica in d.replicas)


def why(control: ControlPlane, name: str) -> str:
    manifest = control.store.get(ref("ModelDeployment", name, "ml"))
    return str(dig(condition(manifest or {}, "ReplicasScheduled"), "message"))


def test_eight_models_run_on_one_node_and_the_ninth_finds_it_full() -> None:
    control = settled(cluster("lab"), *(model(f"m{i}") for i in range(9)))

    found = parts.read(control.store)
    assert (sum(d.serving for d in found.deployments), all_serve(found), pool(found)) == (8, True, (0, 8))
    assert "full (needs 1 gpu, 0 gpu free on h100)" in why(control, "m8")


def test_a_model_on_a_full_node_is_edited_where_it_is() -> None:
    control = settled(cluster("lab"), *(model(f"m{i}", count=2) for i in range(4)))
    before = placed(parts.read(control.store))
    newer = model("m0", count=2)
    newer["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.24.0"

    after = edited(control, newer)

    assert (placed(after), all_serve(after), pool(after)) == (before, True, (0, 8))


def test_cpu_runs_out_before_the_devices() -> None:
    control = settled(cluster("lab"), *(model(f"m{i}", cpu=20) for i in range(4)))

    found = parts.read(control.store)
    assert (sum(d.serving for d in found.deployments), all_serve(found)) == (3, True)
    assert "full (needs 20 cpu, 4 cpu free on h100)" in why(control, "m3")


def test_a_pool_is_shared_under_its_replicas_and_whole_again() -> None:
    """Nothing moves either way."""
    control = settled(cluster("lab", sharing="Nodes"), model("a"), model("b"))
    whole = parts.read(control.store)

    shared = edited(control, cluster("lab"))
    again = edited(control, cluster("lab", sharing="Nodes"))

    assert placed(whole)["b"] == []
    assert (pool(shared), all_serve(shared)) == ((6, 8), True)
    assert placed(shared)["a"] == placed(whole)["a"]
    assert (placed(again), all_serve(again)) == (placed(shared), True)
    assert [p.free for p in again.pools] == [-1]


def test_what_is_lost_with_a_cluster_is_placed_on_shared_nodes_of_another() -> None:
    control = settled(cluster("east"), cluster("west"), *(model(f"m{i}", count=2) for i in range(4)))
    before = parts.read(control.store)

    edits.apply(control, LoseCluster("east"))
    control.loop.settle()

    found = parts.read(control.store)
    assert (pool(before, "east"), pool(before, "west")) == ((0, 8), (8, 8))
    assert ({r.cluster for d in found.deployments for r in d.replicas}, pool(found, "west")) == ({"west"}, (0, 8))
    assert all_serve(found)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_placed_serves_in_any_order_of_arrival(seed: int) -> None:
    """The nodes spread pods, and refuse what does not fit: a promise that is not kept shows as a replica that waits."""
    random = Random(seed)
    models = [
        model(f"m{i}", random.choice((1, 1, 2, 3, 4, 8)), random.randint(1, 3), cpu=random.choice((1, 6, 20)))
        for i in range(8)
    ]
    random.shuffle(models)
    control = settled(cluster("lab", random.randint(1, 4)), *models, seed=seed)

    assert all_serve(parts.read(control.store))
