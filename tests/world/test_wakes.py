"""Who is woken by whom, where Crossplane watches what was read: counted, since each wake is a reconcile."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from function.core import Request, Requirement, Result, condition, dig
from function.planning import stubs
from function.planning.control_plane import ControlPlane, in_process
from function.vocabulary import labels, versions
from tests.world.test_fleet_stories import classes, cluster, deployment, named

CLUSTERS = ("east", "west")
_ROOM = 50
"""Nodes of each pool: more than are asked for, so that nobody waits for anybody."""


class _Counting:
    """The function, and what it was asked."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()
        self.read: dict[str, set[str]] = {}
        """By deployment, the names of the requirements that it got answers to."""

    def __call__(self, request: Request) -> Result:
        self.asked[request.xr["kind"], request.identity.name] += 1
        if request.xr["kind"] == "ModelDeployment":
            self.read.setdefault(request.identity.name, set()).update(request.required)
        return in_process(request)


def _called(name: str, manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "name": name}}


def _at(cluster_name: str | None, manifest: dict[str, Any]) -> dict[str, Any]:
    """A deployment that selects a cluster by its name."""
    if cluster_name:
        manifest["spec"]["clusterSelector"] = {"matchLabels": {"at": cluster_name}}
    return manifest


def _roomy(manifest: dict[str, Any]) -> dict[str, Any]:
    manifest["metadata"]["labels"]["at"] = manifest["metadata"]["name"]
    manifest["spec"]["nodePools"][0]["nodeCount"] = _ROOM
    return manifest


def _settled(counting: _Counting, names: list[str], seed: int | None = None) -> ControlPlane:
    """A fleet in which every deployment has one replica that serves, and room for more."""
    control = ControlPlane(function=counting, seed=seed)
    manifests = [
        *classes(),
        *(_roomy(cluster(name)) for name in CLUSTERS),
        *(_at(CLUSTERS[i % 2] if i else None, _called(name, deployment(cached=False))) for i, name in enumerate(names)),
    ]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    counting.asked.clear()
    counting.read.clear()
    return control


def _stands_on(control: ControlPlane, name: str) -> set[str]:
    labelled = Requirement("own", versions.MODELPLANE, "ModelReplica", match_labels={labels.DEPLOYMENT: name})
    replicas = control.store.find(labelled)
    return {replica["spec"]["clusterName"] for replica in replicas}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [None, *range(4)])
@pytest.mark.parametrize("many", [6, 18])
def test_a_placement_wakes_who_stands_on_the_same_cluster_and_nobody_else(many: int, seed: int | None) -> None:
    """However many there are: `allocations` of that cluster changed, and nothing else that they read."""
    counting, names = _Counting(), [f"chat-{index}" for index in range(many)]
    control = _settled(counting, names, seed)
    before = _stands_on(control, names[0])

    control.store.update(named("ModelDeployment", names[0], "ml-team"), lambda m: m["spec"].update(replicas=2))
    control.loop.settle()

    [new] = _stands_on(control, names[0]) - before
    calls = {name: counting.asked["ModelDeployment", name] for name in names[1:]}
    neighbours = {name for name in names[1:] if new in _stands_on(control, name)}
    assert {name for name, count in calls.items() if count} == neighbours
    assert set(calls.values()) <= {0, 1}
    assert 0 < len(neighbours) < many - 1


def test_a_change_of_a_cluster_wakes_who_stands_there() -> None:
    counting, names = _Counting(), [f"chat-{index}" for index in range(6)]
    control = _settled(counting, names)

    control.store.update(named("InferenceCluster", "east", ""), lambda m: m["metadata"]["labels"].update(new="label"))
    control.loop.settle()

    woken = {name for kind, name in counting.asked if kind == "ModelDeployment"}
    assert woken == {name for name in names if "east" in _stands_on(control, name)} != set()


@pytest.mark.slow
def test_a_settled_deployment_reads_its_cluster_and_no_replicas() -> None:
    counting = _Counting()
    control = _settled(counting, ["chat"])
    [place] = _stands_on(control, "chat")

    control.store.update(named("InferenceCluster", place, ""), lambda m: m["metadata"]["labels"].update(new="label"))
    control.loop.settle()

    assert counting.read == {"chat": {f"cluster-{place}"}}


def test_who_waits_is_woken_by_a_node_that_becomes_free() -> None:
    counting = _Counting()
    control = ControlPlane(function=counting)
    names = ["first", "second", "third"]
    manifests = [*classes(), *map(cluster, CLUSTERS), *(_called(n, deployment(cached=False)) for n in names)]
    for manifest in manifests:
        if manifest["kind"] == "InferenceCluster":
            manifest["spec"]["nodePools"][0]["nodeCount"] = 1
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    [waiting] = [name for name in names if not _stands_on(control, name)]
    others = [name for name in names if name != waiting]
    assert _ready(control, waiting) == "False"

    control.store.update(named("ModelDeployment", others[0], "ml-team"), lambda m: m["spec"].update(replicas=0))
    control.loop.settle()

    assert _stands_on(control, waiting)
    assert _ready(control, waiting) == "True"


def _ready(control: ControlPlane, name: str) -> str:
    found = condition(control.store.get(named("ModelDeployment", name, "ml-team")) or {}, "ReplicasReady")
    return str(dig(found, "status"))


def test_a_fleet_at_rest_wakes_nobody() -> None:
    counting = _Counting()
    control = ControlPlane(function=counting)
    manifests = [*classes(), _roomy(cluster("east")), deployment(cached=False)]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    counting.asked.clear()

    control.loop.settle()

    assert counting.asked == Counter()
