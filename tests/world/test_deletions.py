"""Deletes in any order and at any time, on the embedded control plane: nothing is orphaned, and nothing that serves is
cut before its successor serves or its owner deletes it."""

from __future__ import annotations

from functools import cache as once
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from function.core import dig
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import labels, names, versions
from tests.world.test_fleet_stories import CLUSTERS, cache, deployment, found, made, named

pytestmark = pytest.mark.slow

TENANTS = ("ml-team", "search")
STAYS = {"Namespace", "StorageClass", "CustomResourceDefinition"}
"""What may be left on a cluster: none of it runs, and others may have come to need it."""
ENVOY = "gateway-helm"


def of(kind: str, spec: dict[str, Any], name: str, namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": versions.MODELPLANE, "kind": kind, "metadata": metadata, "spec": spec}


def service(namespace: str) -> dict[str, Any]:
    selector = {"matchLabels": {labels.DEPLOYMENT: "chat"}}
    return of("ModelService", {"endpoints": [{"selector": selector}]}, "chat", namespace)


def called(manifest: dict[str, Any], namespace: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}


@once
def fleet() -> ControlPlane:
    """Two clusters, a gateway, and two tenants: one serves from a cache, one without. At rest; to be copied."""
    cached, plain = deployment(), called(deployment(cached=False), "search")
    gateway = of("InferenceGateway", {"backend": "Traefik"}, "default")
    system = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": names.SYSTEM_NAMESPACE}}
    return made(cache(), cached, plain, system, gateway, *map(service, TENANTS))


def stack(control: ControlPlane, cluster: str) -> Ref:
    ref = next(
        Ref(versions.INFRASTRUCTURE, "ServingStack", names.SYSTEM_NAMESPACE, m["metadata"]["name"])
        for m in control.store.of_kind(versions.INFRASTRUCTURE, "ServingStack")
        if dig(m, "spec", "clusterName") == cluster
    )
    found(control, ref)
    return ref


SHARED = (
    *(named("InferenceCluster", name) for name in CLUSTERS),
    named("InferenceClass", "gke-l4-1x-g2"),
    named("ModelCache", "qwen", "ml-team"),
)
"""What others than its deleters stand on."""
OWN = (
    *(named("ModelDeployment", "chat", namespace) for namespace in TENANTS),
    *(named("ModelService", "chat", namespace) for namespace in TENANTS),
    named("InferenceGateway", "default"),
)
pauses = st.integers(0, 3)
"""Rounds of reconciles between two deletes."""


def deletes(refs: tuple[Ref, ...]) -> st.SearchStrategy[list[tuple[Ref, int]]]:
    """Some of them, in some order."""
    chosen = st.lists(st.sampled_from(refs), unique=True, max_size=len(refs))
    return chosen.flatmap(lambda some: st.tuples(*(st.tuples(st.just(ref), pauses) for ref in some)).map(list))


def started(seed: int) -> ControlPlane:
    control = fleet().copied()
    control.loop.seed = seed
    control.loop._random.seed(seed)
    control.loop.reconciler.shuffle = control.loop._random.shuffle
    return control


def play(control: ControlPlane, doomed: list[tuple[Ref, int]]) -> None:
    """Delete one after the other, and let the world come to rest. Looks after every round."""
    alive = {ref for ref in OWN if control.store.get(ref)}
    for ref, rounds in doomed:
        control.store.delete(ref)
        alive.discard(ref)
        for _ in range(rounds):
            control.loop.round()
            look(control, alive)
    for _ in range(100):
        before = control.store.version
        control.loop.round()
        look(control, alive)
        if control.store.version == before:
            return
    raise AssertionError("the world did not come to rest")


def look(control: ControlPlane, alive: set[Ref]) -> None:
    """What must be true at any time."""
    assert control.clusters.shared == set()
    for namespace in TENANTS:
        if named("ModelDeployment", "chat", namespace) in alive:
            assert serving(control, namespace), f"{namespace} does not serve"
    for config in gateways(control) - {names.CONTROL_CONFIG}:
        assert ENVOY in releases(control, config), f"the gateway of {config} has lost its controller"


def gateways(control: ControlPlane) -> set[str]:
    """The clusters on which a gateway of ours is: a GatewayClass has a finalizer that only its controller takes off."""
    return {
        str(dig(m, "spec", "providerConfigRef", "name"))
        for m in control.store.of_kind(versions.PROVIDER_KUBERNETES, "Object")
        if dig(m, "spec", "forProvider", "manifest", "kind") in ("Gateway", "GatewayClass")
        and dig(m, "spec", "managementPolicies") != ["Observe"]
    }


def serving(control: ControlPlane, namespace: str) -> list[str]:
    """The endpoints behind which there is an engine."""
    endpoints = control.store.of_kind(versions.MODELPLANE, "ModelEndpoint")
    own = [m for m in endpoints if m["metadata"]["namespace"] == namespace]
    return [
        m["metadata"]["name"] for m in own if runs(control, dig(m, "metadata", "labels", labels.CLUSTER), namespace)
    ]


def runs(control: ControlPlane, cluster: str, namespace: str) -> bool:
    """Whether there is an engine, and all that it mounts."""
    things = control.clusters.things[names.provider_config(cluster)]
    engines = [
        thing.manifest for ref, thing in things.items() if (ref.kind, ref.namespace) == ("Deployment", namespace)
    ]
    return any(
        all(Ref("v1", "PersistentVolumeClaim", namespace, name) in things for name in mounts(e)) for e in engines
    )


def mounts(engine: dict[str, Any]) -> list[str]:
    volumes = dig(engine, "spec", "template", "spec", "volumes") or ()
    return [name for volume in volumes if (name := dig(volume, "persistentVolumeClaim", "claimName"))]


def releases(control: ControlPlane, config: str) -> set[str]:
    return {
        str(dig(m, "spec", "forProvider", "chart", "name"))
        for m in control.store.of_kind(versions.PROVIDER_HELM, "Release")
        if dig(m, "spec", "providerConfigRef", "name") == config
    }


@settings(max_examples=60)
@given(st.integers(0, 2**16), deletes(SHARED + OWN))
def test_any_deletes_cut_nothing_that_its_owner_keeps(seed: int, doomed: list[tuple[Ref, int]]) -> None:
    play(started(seed), doomed)


@settings(max_examples=60)
@given(st.integers(0, 2**16), st.permutations(SHARED + OWN), st.lists(pauses, min_size=9, max_size=9))
def test_when_all_is_deleted_nothing_is_left(seed: int, order: list[Ref], rounds: list[int]) -> None:
    control = started(seed)

    play(control, list(zip(order, rounds, strict=True)))

    kinds = {m["kind"] for m in control.store.all()}
    remote = {ref.kind for things in control.clusters.things.values() for ref in things}
    assert (kinds - {"InferenceClass", "Namespace", "Secret"}, remote - STAYS) == (set(), set())


@settings(max_examples=25)
@given(st.integers(0, 2**16), st.sampled_from(CLUSTERS), pauses, st.permutations(SHARED + OWN))
def test_a_stack_that_is_deleted_by_hand_comes_back_or_goes_with_its_cluster(
    seed: int, cluster: str, rounds: int, order: list[Ref]
) -> None:
    control = started(seed)
    control.store.delete(stack(control, cluster))
    for _ in range(rounds):
        control.loop.round()

    for ref in order:
        control.store.delete(ref)
    control.loop.settle()

    kinds = {m["kind"] for m in control.store.all()}
    assert kinds - {"InferenceClass", "Namespace", "Secret"} == set()
