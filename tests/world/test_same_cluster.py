"""One Kubernetes cluster that is brought along twice, by two kubeconfigs, told on the embedded control plane."""

from __future__ import annotations

import pytest
from test_fleet_stories import classes, cluster, deployment, found, named, says, serving

from function import names
from function.core import condition, dig
from function.offline import assumed
from function.offline.control_plane import ControlPlane
from function.offline.store import Ref

PAIR = ("east", "west")


def brought_twice(seed: int, *more: dict) -> ControlPlane:
    """West's kubeconfig leads where east's does, and came later."""
    control = ControlPlane(seed=seed)
    publish(control, *classes(), cluster("east"))
    leads_there(control)
    publish(control, cluster("west"), *more)
    return control


def publish(control: ControlPlane, *manifests: dict) -> None:
    control.world.load([*manifests, *assumed.objects(manifests)])
    control.world.settle()


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
    control.world.settle()

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
