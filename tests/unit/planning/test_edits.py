"""Edits of a fleet that stands, and copies of it that go their own way."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from function.cli import files
from function.core import NamespacedName, dig, plain
from function.planning import edits, parts, stubs
from function.planning.control_plane import ControlPlane
from function.planning.edits import DrainCluster, Edit, LoseCluster, ResizePool, ScaleDeployment
from function.sandbox.store import Ref
from function.vocabulary import versions

SPARE = Path(__file__).parents[3] / "examples/spare"
MODEL = NamespacedName("ml-team", "qwen3-8b")
EDITS: tuple[Edit, ...] = (
    DrainCluster("iowa"),
    LoseCluster("iowa"),
    ResizePool("oregon", "l4", 0),
    ScaleDeployment(MODEL, 1),
)


@cache
def fleet() -> ControlPlane:
    """At rest; to be copied."""
    control = ControlPlane()
    manifests = [one.manifest for one in files.load([SPARE])]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    return control


def everything(control: ControlPlane) -> tuple[Any, ...]:
    """All that stands, on the control cluster and beyond it."""
    beyond = {config: {r: t.manifest for r, t in there.items()} for config, there in control.clusters.things.items()}
    return [plain(m) for m in control.store.all()], plain(beyond), control.store.version


def spec(control: ControlPlane, kind: str, name: str, namespace: str = "") -> Mapping[str, Any]:
    found = control.store.get(Ref(versions.MODELPLANE, kind, namespace, name))
    assert found is not None
    return dict(found["spec"])


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_what_becomes_of_a_copy_leaves_the_fleet_alone(edit: Edit) -> None:
    before = everything(fleet())

    copy = fleet().copied()
    edits.apply(copy, edit)
    copy.loop.settle()

    assert everything(fleet()) == before
    assert parts.read(copy.store) != parts.read(fleet().store)


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_a_copy_goes_the_way_that_the_fleet_itself_would_go(edit: Edit) -> None:
    """Object by object: a copy of a copy, and a fleet that was never copied."""
    alone = ControlPlane()
    manifests = [one.manifest for one in files.load([SPARE])]
    alone.loop.load([*manifests, *stubs.objects(manifests)])
    alone.loop.settle()
    copy = fleet().copied().copied()

    for control in (alone, copy):
        edits.apply(control, edit)
        control.loop.settle()

    assert everything(copy) == everything(alone)


def test_a_loss_is_not_a_fleet_settled_anew() -> None:
    """Counted in calls of the function, of which a cluster without replicas costs the fewest."""
    copy, empty = fleet().copied(), fleet().copied()
    edits.apply(empty, ScaleDeployment(MODEL, 0))
    empty.loop.settle()
    start = empty.loop.reconciler.calls

    for control, cluster in ((copy, "iowa"), (empty, "taiwan")):
        edits.apply(control, LoseCluster(cluster))
        control.loop.settle()

    settled = fleet().loop.reconciler.calls
    assert copy.loop.reconciler.calls - settled < settled * 2 / 3
    assert empty.loop.reconciler.calls - start <= len(("qwen3-8b", "gemma-3-4b", "its stack")) * 2


def test_a_copy_of_a_fleet_at_rest_is_at_rest() -> None:
    copy = fleet().copied()

    assert (copy.loop.round(), copy.store.version) == (0, fleet().store.version)


def test_a_drain_adds_a_taint_to_those_that_there_are() -> None:
    copy = fleet().copied()
    own = {"key": "maintenance", "effect": "NoSchedule"}
    copy.store.update(
        Ref(versions.MODELPLANE, "InferenceCluster", "", "iowa"), lambda m: m["spec"].update({"taints": [own]})
    )

    edits.apply(copy, DrainCluster("iowa"))

    want = [own, {"key": "modelplane.ai/drain", "effect": "NoExecute"}]
    assert spec(copy, "InferenceCluster", "iowa")["taints"] == want


def test_a_lost_cluster_leaves_nothing_that_waits_for_it() -> None:
    copy = fleet().copied()

    edits.apply(copy, LoseCluster("iowa"))
    copy.loop.settle()

    named = [m for m in copy.store.all() if "iowa" in str(dig(m, "spec", "clusterName")) or "iowa" in _name(m)]
    going = [_name(m) for m in copy.store.all() if dig(m, "metadata", "deletionTimestamp")]
    assert ([m["kind"] for m in named if m["kind"] != "Secret"], going) == ([], [])


def _name(manifest: Mapping[str, Any]) -> str:
    return str(manifest["metadata"]["name"])


@pytest.mark.parametrize(
    ("counts", "want"),
    [
        ({"nodeCount": 2}, {"nodeCount": 5}),
        ({"nodeCount": 2, "maxNodeCount": 9}, {"nodeCount": 5, "maxNodeCount": 5}),
        (
            {"nodeCount": 2, "minNodeCount": 2, "maxNodeCount": 3},
            {"nodeCount": 5, "minNodeCount": 2, "maxNodeCount": 5},
        ),
        (
            {"nodeCount": 9, "minNodeCount": 8, "maxNodeCount": 9},
            {"nodeCount": 5, "minNodeCount": 5, "maxNodeCount": 5},
        ),
    ],
)
def test_a_pool_has_the_nodes_that_are_asked_for_however_it_counts_them(
    counts: dict[str, int], want: dict[str, int]
) -> None:
    copy = fleet().copied()
    ref = Ref(versions.MODELPLANE, "InferenceCluster", "", "iowa")
    copy.store.update(ref, lambda m: m["spec"]["nodePools"][0].update(counts))

    edits.apply(copy, ResizePool("iowa", "l4", 5))
    copy.loop.settle()

    (pool,) = spec(copy, "InferenceCluster", "iowa")["nodePools"]
    assert {k: v for k, v in pool.items() if k.endswith("Count")} == want
    assert next(p.nodes for p in parts.read(copy.store).pools if p.cluster == "iowa") == 5


@pytest.mark.parametrize(
    ("names", "want"),
    [
        ([], "InferenceCluster x not found; known: none"),
        (["east"], "InferenceCluster x not found; known: east"),
        ([f"c{i}" for i in range(10)], "known: c0, c1, c2, c3, c4, c5, c6, c7 and 2 more"),
    ],
)
def test_who_names_nobody_is_told_who_there_is(names: list[str], want: str) -> None:
    store = ControlPlane().store
    for name in names:
        cluster = plain(files.load([SPARE / "fleet.yaml"])[1].manifest)
        store.load({**cluster, "metadata": {"name": name}})

    with pytest.raises(edits.UnknownName) as unknown:
        edits.check(store, [LoseCluster("x")])

    assert want in str(unknown.value)


def test_a_store_tells_what_changed_since_a_version() -> None:
    store = ControlPlane().store
    one, other = (Ref("v1", "ConfigMap", namespace, name) for namespace, name in (("n", "a"), ("m", "b")))
    for ref in (one, other):
        metadata = {"name": ref.name, "namespace": ref.namespace, "labels": {"app": "y"}}
        store.load({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    left = store.version

    store.update(other, lambda m: m["metadata"].update({"labels": {"app": "z"}}), status=True)
    store.lose(one)

    assert store.since(left) == [one, other]
