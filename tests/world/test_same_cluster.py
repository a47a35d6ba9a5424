"""One Kubernetes cluster that is brought along twice, by two kubeconfigs, told on the embedded control plane."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import condition, dig
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import names, versions
from tests.world.test_fleet_stories import classes, cluster, delete, deployment, edit, found, named, says, serving

PAIR = ("east", "west")


def brought_twice(seed: int, *more: dict) -> ControlPlane:
    """West's kubeconfig leads where east's does, and came later."""
    control = ControlPlane(seed=seed)
    publish(control, *classes(), cluster("east"))
    leads_there(control)
    publish(control, cluster("west"), *more)
    return control


def publish(control: ControlPlane, *manifests: dict) -> None:
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()


def leads_there(control: ControlPlane) -> None:
    """From now on west has the kube-system of east: what there is on each is of no matter here."""
    system = Ref("v1", "Namespace", "", "kube-system")
    east, west = (control.clusters.things.setdefault(names.provider_config(name), {}) for name in PAIR)
    west[system] = east[system]


def nodes(control: ControlPlane, name: str) -> int:
    return sum(
        pool["nodes"] for pool in dig(found(control, named("InferenceCluster", name)), "status", "gpuPools") or ()
    )


@pytest.mark.parametrize("seed", range(3))
def test_its_nodes_count_once_and_the_later_one_says_whose_they_are(seed: int) -> None:
    control = brought_twice(seed, deployment(replicas=4, cached=False))

    told = condition(found(control, named("InferenceCluster", "west")), "ClusterReady")
    assert (nodes(control, "east"), nodes(control, "west"), serving(control)) == (2, 0, ["east", "east"])
    assert dig(told, "reason") == "InvalidNodePool"
    assert "InferenceCluster east counts the nodes of pool l4 already" in str(dig(told, "message"))


def test_when_the_earlier_one_goes_the_later_one_counts_them() -> None:
    control = brought_twice(0)

    control.store.delete(named("InferenceCluster", "east"))
    control.loop.settle()

    assert (nodes(control, "west"), says(control, named("InferenceCluster", "west"), "ClusterReady")) == (
        2,
        "ClusterRunning",
    )


def test_pools_that_are_apart_are_two_clusters_to_the_fleet() -> None:
    control = ControlPlane()
    publish(control, *classes(), cluster("east"))
    leads_there(control)
    west = cluster("west")
    west["spec"]["nodePools"][0]["name"] = "l4-west"
    publish(control, west)

    assert [nodes(control, name) for name in PAIR] == [2, 2]


def is_one(control: ControlPlane) -> None:
    """From now on both kubeconfigs lead to the cluster of east, and the provider looks at it anew."""
    control.clusters.redirect(names.provider_config("west"), names.provider_config("east"))


def installed_twice(seed: int) -> ControlPlane:
    """Two clusters with a stack on each; then the kubeconfig of west is changed to that of east."""
    control = ControlPlane(seed=seed)
    publish(control, *classes(), cluster("east"))
    publish(control, cluster("west"))
    assert set(stacks(control)) == set(PAIR)
    is_one(control)
    config = Ref(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", "", names.provider_config("west"))
    edit(control, config, lambda manifest: manifest["metadata"].setdefault("labels", {}).update(kubeconfig="new"))
    return control


def shared(seed: int) -> ControlPlane:
    """West is brought along with a kubeconfig that leads to the cluster of east."""
    control = ControlPlane(seed=seed)
    publish(control, *classes(), cluster("east"))
    is_one(control)
    publish(control, cluster("west"))
    return control


def stacks(control: ControlPlane) -> dict[str, dict[str, Any]]:
    """The serving stacks by the InferenceCluster that owns them."""
    refs = control.store.refs(versions.INFRASTRUCTURE, "ServingStack")
    there = [found(control, ref) for ref in refs]
    return {stack["spec"]["clusterName"]: stack for stack in there}


def uninstalling(control: ControlPlane) -> list[str]:
    """Releases, and Objects of the gateway, whose end would take from the cluster what they made."""
    owned = [
        found(control, ref)
        for api_version, kind in ((versions.PROVIDER_HELM, "Release"), (versions.PROVIDER_KUBERNETES, "Object"))
        for ref in control.store.refs(api_version, kind)
    ]
    of_stacks = [m for m in owned if any(o["kind"] == "ServingStack" for o in m["metadata"].get("ownerReferences", ()))]
    return [
        m["metadata"]["name"]
        for m in of_stacks
        if {"*", "Delete"} & set(dig(m, "spec", "managementPolicies") or ("*",))
    ]


def gateways(control: ControlPlane) -> set[str]:
    """What the stack made on the cluster, by kind."""
    things = control.clusters.things[names.provider_config("east")]
    return {ref.kind for ref in things if ref.kind in ("Gateway", "GatewayClass", "EnvoyProxy")}


ALL = {"Gateway", "GatewayClass", "EnvoyProxy"}
MAKERS = (shared, installed_twice)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(3))
def test_one_of_two_installs_the_stack_and_the_other_says_whose_it_uses(make: Any, seed: int) -> None:
    control = make(seed)

    west = condition(found(control, named("InferenceCluster", "west")), "BackendReady")
    assert (set(stacks(control)), gateways(control)) == ({"east"}, ALL)
    assert dig(west, "status") == "True"
    assert "the serving stack is that of InferenceCluster east" in str(dig(west, "message"))


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(3))
def test_when_its_owner_goes_the_stack_stays_and_passes_over(make: Any, seed: int) -> None:
    control = make(seed)
    assert uninstalling(control) == []

    delete(control, named("InferenceCluster", "east"))

    assert control.store.get(named("InferenceCluster", "east")) is None
    assert (set(stacks(control)), gateways(control)) == ({"west"}, ALL)
    assert says(control, named("InferenceCluster", "west"), "BackendReady") == "BackendHealthy"


@pytest.mark.parametrize("gone", PAIR)
def test_the_last_to_go_uninstalls_it(gone: str) -> None:
    control = shared(0)

    delete(control, named("InferenceCluster", gone))
    assert gateways(control) == ALL
    [left] = set(PAIR) - {gone}
    assert uninstalling(control) != []
    delete(control, named("InferenceCluster", left))

    assert (set(stacks(control)), gateways(control)) == (set(), set())


def switched_off(manifest: dict[str, Any]) -> None:
    components = ("certManager", "envoyGateway", "aiGateway", "inferenceExtension", "leaderWorkerSet")
    more = ("nodeFeatureDiscovery", "nvidiaDraDriver", "prometheus")
    manifest["spec"]["servingStack"] = {"components": {name: {"enabled": False} for name in (*components, *more)}}


def test_an_owner_that_switches_it_off_leaves_it_to_the_other() -> None:
    control = shared(0)

    edit(control, named("InferenceCluster", "east"), switched_off)

    assert (set(stacks(control)), gateways(control)) == ({"west"}, ALL)


def test_a_stack_that_nobody_shares_is_uninstalled_when_it_is_switched_off() -> None:
    control = ControlPlane()
    publish(control, *classes(), cluster("east"))

    edit(control, named("InferenceCluster", "east"), switched_off)

    bring_their_own = {"Gateway"}  # clusters without a stack do, on the embedded control plane
    assert (set(stacks(control)), gateways(control)) == (set(), bring_their_own)
