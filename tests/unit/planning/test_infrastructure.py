"""What clouds make is read piece by piece as it is read at once, and only where something changed."""

from __future__ import annotations

import pytest

from function.planning import edits, infrastructure, stubs
from function.planning.control_plane import ControlPlane
from function.planning.edits import LoseCluster, ResizePool
from function.planning.infrastructure import Infrastructure
from function.sandbox.store import Ref
from function.vocabulary import versions
from tests.support.made_clusters import CLASSES, made_cluster


@pytest.fixture
def control() -> ControlPlane:
    fleet = [
        *CLASSES.values(),
        made_cluster("EKS", {"maxNodeCount": 2}, name="east"),
        made_cluster("GKE", {"maxNodeCount": 2}, name="west"),
    ]
    control = ControlPlane()
    control.loop.load([*fleet, *stubs.objects(fleet)])
    control.loop.settle()
    return control


def read_anew(control: ControlPlane, reader: infrastructure.Reader, since: int) -> tuple[Infrastructure, ...]:
    """What a reader reads after the changes since a version. It equals everything, and what its copy reads."""
    news = control.store.since(since)
    copy = reader.copied()
    found = reader.read(control.store, news)
    assert found == copy.read(control.store, news) == infrastructure.read(control.store)
    return found


def test_a_reader_reads_what_changed(control: ControlPlane) -> None:
    reader = infrastructure.Reader()
    first = read_anew(control, reader, -1)
    assert [(made.cluster, made.kind, made.pools, made.ready) for made in first] == [
        ("east", "EKSCluster", ("p0",), True),
        ("west", "GKECluster", ("p0",), True),
    ]

    seen = control.store.version
    edits.apply(control, ResizePool("east", "p0", 3))
    control.loop.settle()
    resized = read_anew(control, reader, seen)
    assert resized[0] != first[0]
    assert resized[1] is first[1]

    seen = control.store.version
    control.store.delete(Ref(versions.MODELPLANE, "InferenceCluster", "", "west"))
    control.loop.settle()
    assert [made.cluster for made in read_anew(control, reader, seen)] == ["east"]


@pytest.mark.slow
def test_a_copy_of_a_reader_changes_independently(control: ControlPlane) -> None:
    reader = infrastructure.Reader()
    first = read_anew(control, reader, -1)
    seen, copy = control.store.version, reader.copied()
    edits.apply(control, LoseCluster("east"))
    control.loop.settle()

    assert copy.read(control.store, control.store.since(seen)) != first
    assert reader.read(control.store, []) == first


def test_usages_are_counted_and_are_no_resources(control: ControlPlane) -> None:
    for made in infrastructure.read(control.store):
        assert made.usages > 0
        assert "Usage" not in {resource.kind for resource in made.resources}
        assert {resource.on_cluster for resource in made.resources} == {True, False}
