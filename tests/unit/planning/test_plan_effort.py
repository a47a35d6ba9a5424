"""A plan's work grows with the fleet, not with its square, and that of an edit with what it concerns: counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from function.core import NamespacedName
from function.fleet import clusters as published
from function.planning import differences, edits, infrastructure, parts, stubs
from function.planning.clusters import Clusters
from function.planning.control_plane import ControlPlane
from function.planning.edits import DrainCluster, Edit, LoseCluster, ScaleDeployment
from function.planning.reader import Reader
from function.sandbox.sealed import Sealed
from tests.bench import whole_fleets

_NODES = 4


def clusters_read(size: int) -> int:
    """How often a cluster's status was read while as many deployments as clusters came to rest."""
    published.STATUSES.clear()
    before = published.STATUSES.made
    settled(size)
    return published.STATUSES.made - before


def settled(size: int) -> ControlPlane:
    """As many clusters as deployments, four of which fill a cluster; the others are empty."""
    control = ControlPlane()
    fleet = whole_fleets.manifests(size, size, nodes=_NODES)
    control.loop.load([*fleet, *stubs.objects(fleet)])
    control.loop.settle()
    return control


@pytest.mark.slow
def test_no_deployment_reads_what_another_has_read() -> None:
    small, large = clusters_read(6), clusters_read(12)
    assert small > 0
    assert large <= 2 * small


def test_a_stored_object_tells_its_content() -> None:
    first, second = Sealed({"a": {"x": 1, "y": [True]}, "b": 1}), Sealed({"b": 2, "a": {"y": [True], "x": 1}})
    assert first.digest("a") == second.digest("a")
    assert first.digest("b") != second.digest("b")
    assert first.digest("a", "b") != second.digest("a", "b")
    assert Sealed({"a": True}).digest("a") != Sealed({"a": 1}).digest("a")


def test_a_fleet_without_clouds_reads_no_infrastructure(monkeypatch: pytest.MonkeyPatch) -> None:
    control = settled(4)
    work = Work()
    with monkeypatch.context() as patched:
        work.count(patched, infrastructure, "_part", "_infrastructure", "_owner")
        found = parts.read(control.store)
        assert Reader(control.store).read().infrastructure == found.infrastructure == ()
    objects = len(control.store.refs("kubernetes.m.crossplane.io/v1alpha1", "Object"))
    assert work.keys() <= {"_owner"}
    assert work["_owner"] < 3 * objects


class Work(Counter[str]):
    """What was done, by what did it."""

    def count(self, monkeypatch: pytest.MonkeyPatch, where: object, *names: str) -> None:
        """Count the calls of some functions."""
        for name in names:
            monkeypatch.setattr(where, name, self._counting(name, getattr(where, name)))

    def _counting(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*args: Any, **options: Any) -> Any:
            self[name] += 1
            return function(*args, **options)

        return counting


@pytest.mark.slow
@pytest.mark.parametrize("edit", [LoseCluster("c0"), DrainCluster("c0"), LoseCluster("c7")], ids=str)
def test_an_edit_costs_what_it_concerns(edit: Edit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reconciles, calls, what the provider looks at and what is read anew do not grow with the rest of the fleet."""
    done = []
    for size in (8, 16):
        control = settled(size)
        reader = Reader(control.store)
        reader.read()
        before, work = control.loop.counts, Work()
        with monkeypatch.context() as patched:
            work.count(patched, Clusters, "_provide", "_report", "_guard")
            work.count(patched, parts, "replica", "deployment", "thing")
            edits.apply(control, edit)
            control.loop.settle()
            reader.read()
        counts = control.loop.counts - before
        done.append((work, counts.reconciles, counts.calls))

    assert done[0] == done[1]
    assert sum(done[0][0].values()) > 0


@pytest.mark.slow
def test_differences_cost_what_an_edit_concerns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a fleet twice as large, no more manifests are read: only those that the edit touches."""
    done = []
    for size in (8, 16):
        control = settled(size)
        before, work = control.store.copied(), Work()
        edits.apply(control, ScaleDeployment(NamespacedName(whole_fleets.NAMESPACE, "d1"), 2))
        control.loop.settle()
        with monkeypatch.context() as patched:
            work.count(patched, differences, "content", "masked", "origin")
            found = differences.read(before, control.store, is_settled=True)
        done.append(work)
        assert [str(edit.name) for edit in found.edits] == [f"{whole_fleets.NAMESPACE}/d1"]

    assert done[0] == done[1]
    assert done[0]["content"] > 0
