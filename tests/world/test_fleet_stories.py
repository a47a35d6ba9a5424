"""Clusters and weights, told on the embedded control plane: brought along, lost, drained, removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from function.core import condition, dig, is_ready, serves
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import labels, names, versions

Change = Callable[[dict[str, Any]], None]

CLASSES = Path(__file__).parents[2] / "examples" / "classes"
CLUSTERS = ("east", "west")


def named(kind: str, name: str, namespace: str = "") -> Ref:
    return Ref(versions.MODELPLANE, kind, namespace, name)


def cluster(name: str, *, storage: str | None = "nfs") -> dict[str, Any]:
    existing: dict[str, Any] = {"secretRef": {"name": f"{name}-kubeconfig"}}
    if storage:
        existing["cache"] = {"storageClassName": storage}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "labels": {"tier": "gpu"}},
        "spec": {
            "cluster": {"source": "Existing", "existing": existing},
            "nodePools": [{"name": "l4", "className": "gke-l4-1x-g2", "nodeCount": 2}],
        },
    }


def cache(revision: str = "main") -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelCache",
        "metadata": {"name": "qwen", "namespace": "ml-team"},
        "spec": {
            "source": "HuggingFace",
            "huggingFace": {"repo": "Qwen/Qwen3-8B", "revision": revision, "sizeGiB": 50},
            "clusterSelector": {"matchLabels": {"tier": "gpu"}},
        },
    }


def classes() -> list[dict[str, Any]]:
    return [m for m in yaml.safe_load_all((CLASSES / "gke.yaml").read_text()) if m]


@pytest.fixture
def control() -> ControlPlane:
    return made()


def made(*more: dict[str, Any], seed: int | None = None) -> ControlPlane:
    """A fleet of two, at rest."""
    plane = ControlPlane(seed=seed)
    manifests = [*classes(), *map(cluster, CLUSTERS), *more]
    plane.loop.load([*manifests, *stubs.objects(manifests)])
    plane.loop.settle()
    return plane


def edit(control: ControlPlane, ref: Ref, change: Change) -> None:
    control.store.update(ref, change)
    control.loop.settle()


def delete(control: ControlPlane, ref: Ref) -> None:
    control.store.delete(ref)
    control.loop.settle()


def found(control: ControlPlane, ref: Ref) -> dict[str, Any]:
    manifest = control.store.get(ref)
    assert manifest is not None, ref
    return dict(manifest)


def says(control: ControlPlane, ref: Ref, type_: str) -> str:
    return str(dig(condition(found(control, ref), type_), "reason"))


def remote(control: ControlPlane, name: str) -> set[tuple[str, str]]:
    """What stands on a cluster in the tenant's namespace, by kind and name."""
    things = control.clusters.things.get(names.provider_config(name), {})
    return {(ref.kind, ref.name) for ref in things if ref.namespace == "ml-team"}


def phases(control: ControlPlane) -> dict[str, str]:
    stated = dig(found(control, named("ModelCache", "qwen", "ml-team")), "status", "clusters") or ()
    return {s["name"]: s["phase"] for s in stated}


def test_a_cluster_that_is_brought_along_becomes_ready(control: ControlPlane) -> None:
    east = found(control, named("InferenceCluster", "east"))

    assert is_ready(east)
    assert says(control, named("InferenceCluster", "east"), "ClusterReady") == "ClusterRunning"
    assert says(control, named("InferenceCluster", "east"), "BackendReady") == "BackendHealthy"
    assert dig(east, "status", "allocations") == [{"pool": "l4", "nodes": 2, "free": 2}]


def test_its_serving_stack_is_all_there(control: ControlPlane) -> None:
    (stack,) = [
        m
        for m in control.store.of_kind(versions.INFRASTRUCTURE, "ServingStack")
        if dig(m, "spec", "clusterName") == "east"
    ]

    releases = {m["metadata"]["name"] for m in control.store.of_kind(versions.PROVIDER_HELM, "Release")}
    assert is_ready(stack)
    assert len(releases) == 8 * len(CLUSTERS)


def test_a_class_that_is_deleted_changes_nothing_but_a_condition(control: ControlPlane) -> None:
    ref = named("InferenceCluster", "east")
    before = dig(found(control, ref), "status", "gpuPools"), remote(control, "east")

    delete(control, named("InferenceClass", "gke-l4-1x-g2"))

    assert (dig(found(control, ref), "status", "gpuPools"), remote(control, "east")) == before
    cluster = found(control, ref)
    assert (says(control, ref, "ClusterReady"), is_ready(cluster)) == ("WaitingForClasses", False)
    assert serves(cluster, "BackendReady")


def test_a_lost_cluster_is_no_place_for_more_and_comes_back(control: ControlPlane) -> None:
    ref = named("InferenceCluster", "east")
    before = dig(found(control, ref), "status")

    control.faults.unreachable.add("east")
    edit(control, ref, lambda m: m["metadata"]["labels"].update(touched="1"))
    lost = is_ready(found(control, ref)), dig(found(control, ref), "status", "gateway")
    control.faults.unreachable.clear()
    edit(control, ref, lambda m: m["metadata"]["labels"].update(touched="2"))

    assert lost == (False, before["gateway"])
    assert is_ready(found(control, ref))


def test_an_unused_cluster_is_deleted_at_once(control: ControlPlane) -> None:
    delete(control, named("InferenceCluster", "east"))

    left = [
        m["metadata"]["name"]
        for api, kind in ((versions.PROVIDER_KUBERNETES, "Object"), (versions.PROVIDER_HELM, "Release"))
        for m in control.store.of_kind(api, kind)
        if dig(m, "metadata", "labels", labels.CLUSTER) == "east"
    ]
    assert (control.store.get(named("InferenceCluster", "east")), left) == (None, [])


def test_weights_are_staged_on_every_cluster() -> None:
    control = made(cache())

    assert phases(control) == {"east": "Ready", "west": "Ready"}
    assert is_ready(found(control, named("ModelCache", "qwen", "ml-team")))
    assert {kind for kind, _ in remote(control, "east")} == {"PersistentVolumeClaim"}


def test_a_cluster_that_leaves_takes_its_weights_along_and_no_others() -> None:
    """The delete is refused while they are there, and replayed when they have left."""
    control = made(cache())

    delete(control, named("InferenceCluster", "east"))

    assert control.store.get(named("InferenceCluster", "east")) is None
    assert (phases(control), remote(control, "east")) == ({"west": "Ready"}, set())
    assert {kind for kind, _ in remote(control, "west")} == {"PersistentVolumeClaim"}


@pytest.mark.slow
def test_a_relabelled_cluster_keeps_its_weights_until_the_cache_is_edited() -> None:
    control = made(cache())
    edit(control, named("InferenceCluster", "east"), lambda m: m["metadata"]["labels"].update(tier="spare"))
    relabelled = phases(control)

    edit(
        control,
        named("ModelCache", "qwen", "ml-team"),
        lambda m: m["spec"].update(clusterSelector={"matchLabels": {"tier": "gpu", "labelled": "yes"}}),
    )

    assert relabelled == {"east": "Ready", "west": "Ready"}
    assert (phases(control), remote(control, "east"), remote(control, "west")) == ({}, set(), set())


def test_a_new_revision_is_staged_and_a_failed_one_leaves_the_old() -> None:
    control = made(cache())
    ref = named("ModelCache", "qwen", "ml-team")

    control.faults.failed_hydrations["east"] = 12
    edit(control, ref, lambda m: m["spec"]["huggingFace"].update(revision="v2"))

    stated = {s["name"]: (s["phase"], s["staged"]) for s in dig(found(control, ref), "status", "clusters")}
    want = {
        "east": ("Failed", names.staged("Qwen/Qwen3-8B", "main")),
        "west": ("Ready", names.staged("Qwen/Qwen3-8B", "v2")),
    }
    assert (stated, says(control, ref, "ArtifactReady")) == (want, "Partial")


def test_a_removed_cache_leaves_nothing_but_the_namespace() -> None:
    control = made(cache())

    delete(control, named("ModelCache", "qwen", "ml-team"))

    assert [remote(control, name) for name in CLUSTERS] == [set(), set()]
    namespace = Ref("v1", "Namespace", "", "ml-team")
    assert namespace in control.clusters.things[names.provider_config("east")]


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_reconciles_ends_the_same(seed: int) -> None:
    control = made(cache(), seed=seed)

    assert phases(control) == {"east": "Ready", "west": "Ready"}
    assert control.clusters.shared == set()


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_deletes_ends_with_nothing_left(seed: int) -> None:
    """Clusters, cache and classes, all at once, in an order that the seed shuffles."""
    control = made(cache(), seed=seed)
    everything = [
        named("ModelCache", "qwen", "ml-team"),
        *(named("InferenceCluster", name) for name in CLUSTERS),
        named("InferenceClass", "gke-l4-1x-g2"),
    ]

    for ref in everything[seed % 4 :] + everything[: seed % 4]:
        control.store.delete(ref)
    control.loop.settle()

    left = [
        (kind, m["metadata"]["name"])
        for api, kind in (
            (versions.MODELPLANE, "InferenceCluster"),
            (versions.MODELPLANE, "ModelCache"),
            (versions.INFRASTRUCTURE, "ServingStack"),
            (versions.PROVIDER_KUBERNETES, "Object"),
            (versions.PROVIDER_HELM, "Release"),
            (versions.PROTECTION, "Usage"),
            (versions.PROTECTION, "ClusterUsage"),
        )
        for m in control.store.of_kind(api, kind)
    ]
    assert left == []
    assert [remote(control, name) for name in CLUSTERS] == [set(), set()]


def deployment(replicas: int = 1, *, cached: bool = True) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.33.0"}]}}
    devices = [{"name": "gpu", "selectors": [{"cel": "device.driver == 'gpu.nvidia.com'"}]}]
    member = {"nodeSelector": {"devices": devices}, "template": template}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelDeployment",
        "metadata": {"name": "chat", "namespace": "ml-team"},
        "spec": {
            "replicas": replicas,
            "engines": [{"name": "main", "members": [member]}],
            **({"modelCacheRef": {"name": "qwen"}} if cached else {}),
        },
    }


def serving(control: ControlPlane) -> list[str]:
    """The clusters of the endpoints that there are."""
    endpoints = control.store.of_kind(versions.MODELPLANE, "ModelEndpoint")
    return sorted(str(dig(m, "metadata", "labels", labels.CLUSTER)) for m in endpoints)


def settled_while_serving(control: ControlPlane) -> list[int]:
    """Let the world come to rest; how many endpoints there were after each round."""
    counts = []
    for count in range(1, 60):
        before = control.store.version
        reconciled = control.loop.round(count)
        counts.append(len(serving(control)))
        if not reconciled and control.store.version == before:
            return counts
    raise AssertionError("the world did not come to rest")


def test_a_deployment_serves_from_staged_weights() -> None:
    control = made(cache(), deployment())

    (replica,) = control.store.of_kind(versions.MODELPLANE, "ModelReplica")
    (workload,) = [
        thing.manifest
        for things in control.clusters.things.values()
        for ref, thing in things.items()
        if ref.kind == "Deployment" and ref.namespace == "ml-team"
    ]
    (mount,) = [
        m
        for m in dig(workload, "spec", "template", "spec", "containers", 0, "volumeMounts")
        if m["mountPath"] == "/mnt/models"
    ]
    assert is_ready(replica)
    assert (mount["subPath"], mount["readOnly"]) == (names.staged("Qwen/Qwen3-8B", "main"), True)


@pytest.mark.parametrize("seed", range(4))
def test_a_cluster_that_is_deleted_drains_first_then_its_weights_leave_then_it_goes(seed: int) -> None:
    """Nothing is ever cut: there is an endpoint after every round."""
    control = made(cache(), deployment(), seed=seed)
    (home,) = serving(control)
    (other,) = set(CLUSTERS) - {home}

    control.store.delete(named("InferenceCluster", home))
    counts = settled_while_serving(control)

    assert min(counts) >= 1
    assert control.store.get(named("InferenceCluster", home)) is None
    assert (serving(control), phases(control), remote(control, home)) == ([other], {other: "Ready"}, set())


def test_a_cluster_with_nowhere_to_drain_to_stays_and_says_for_whom() -> None:
    control = made(cache(), deployment(replicas=4))
    ref = named("InferenceCluster", "east")
    before = serving(control)

    control.store.delete(ref)
    counts = settled_while_serving(control)

    told = str(dig(condition(found(control, ref), "ClusterReady"), "message"))
    assert (min(counts), serving(control)) == (len(before), before)
    assert "to be deleted once these have left: ModelReplica ml-team/chat-" in told


def test_a_cache_that_is_mounted_is_not_deleted_until_it_is_not() -> None:
    control = made(cache(), deployment())
    ref = named("ModelCache", "qwen", "ml-team")

    delete(control, ref)
    kept = control.store.get(ref) is not None, len(serving(control))
    edit(control, named("ModelDeployment", "chat", "ml-team"), lambda m: m["spec"].update(replicas=0))

    assert kept == (True, 1)
    assert control.store.get(ref) is None
    assert [remote(control, name) for name in CLUSTERS] == [set(), set()]


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_deletes_under_a_deployment_ends_with_nothing_orphaned(seed: int) -> None:
    """Its owner deletes the deployment too: until that, something serves."""
    control = made(cache(), deployment(), seed=seed)
    (home,) = serving(control)
    doomed = [named("ModelCache", "qwen", "ml-team"), named("InferenceCluster", home)]

    for ref in doomed if seed % 2 else reversed(doomed):
        control.store.delete(ref)
    counts = settled_while_serving(control)
    delete(control, named("ModelDeployment", "chat", "ml-team"))

    assert min(counts) >= 1
    assert [control.store.get(ref) for ref in doomed] == [None, None]
    assert [remote(control, name) for name in CLUSTERS] == [set(), set()]
