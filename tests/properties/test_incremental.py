"""Whoever looks only at what changed comes to what is found by looking at everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from function.cli import files
from function.core import Manifest, NamespacedName, dig
from function.planning import edits, impact, parts, stubs
from function.planning.clusters import Clusters
from function.planning.control_plane import ControlPlane
from function.planning.edits import DrainCluster, Edit, LoseCluster, ResizePool, ScaleDeployment
from function.planning.outcome import PlanOutcome
from function.planning.reader import Reader
from function.planning.seen import Seen
from function.sandbox.store import Store
from function.vocabulary import versions
from tests.bench import whole_fleets

EXAMPLES = Path(__file__).parents[2] / "examples"
DAYS = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))


class Forgetful(Clusters):
    """Clusters that look at everything, each time."""

    def __call__(self, store: Store) -> None:
        self.seen = Seen()
        super().__call__(store)


def settled(manifests: list[Manifest], clusters: Clusters | None = None) -> ControlPlane:
    control = ControlPlane(clusters=clusters or Clusters())
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    return control


def possible(store: Store, pick: st.DataObject) -> Edit:
    """An edit of something that exists."""
    clusters = store.of_kind(versions.MODELPLANE, "InferenceCluster")
    deployments = store.of_kind(versions.MODELPLANE, "ModelDeployment")
    kind = pick.draw(st.sampled_from((DrainCluster, LoseCluster, ResizePool, ScaleDeployment)))
    if kind is ScaleDeployment or not clusters:
        metadata = pick.draw(st.sampled_from(deployments))["metadata"]
        return ScaleDeployment(NamespacedName(metadata["namespace"], metadata["name"]), pick.draw(st.integers(0, 4)))
    cluster = pick.draw(st.sampled_from(clusters))
    name = cluster["metadata"]["name"]
    if kind is ResizePool:
        pools = [pool["name"] for pool in dig(cluster, "spec", "nodePools")]
        return ResizePool(name, pick.draw(st.sampled_from(pools)), pick.draw(st.integers(1, 4)))
    return LoseCluster(name) if kind is LoseCluster else DrainCluster(name)


def whole(found: PlanOutcome) -> tuple[object, ...]:
    """Also what services do not compare."""
    return found, [service.routed for service in found.services]


def play(manifests: list[Manifest], pick: st.DataObject) -> None:
    control, other = settled(manifests), settled(manifests, Forgetful())
    reader = Reader(control.store)
    read = reader.read()
    assert whole(read) == whole(parts.read(control.store)) == whole(parts.read(other.store))
    for _ in range(pick.draw(st.integers(1, 3))):
        edit = possible(control.store, pick)
        lost, drained = ({edit.cluster} if isinstance(edit, kind) else set() for kind in (LoseCluster, DrainCluster))
        before, from_scratch = read, parts.read(control.store)
        for each in (control, other):
            edits.apply(each, edit)
            each.loop.settle()
        copy = reader.copied(control.store)
        read = reader.read()

        assert whole(read) == whole(copy.read()) == whole(parts.read(control.store))
        assert whole(read) == whole(parts.read(other.store))
        assert impact.compare([], before, read, lost=lost, drained=drained) == impact.compare(
            [], from_scratch, parts.read(control.store), lost=lost, drained=drained
        )
    nobody_was_forgotten(control)


def nobody_was_forgotten(control: ControlPlane) -> None:
    """Whoever had no news has nothing to do either."""
    version = control.store.version
    control.loop.resync()
    control.loop.settle()
    assert control.store.version == version


@pytest.mark.slow
@pytest.mark.parametrize("example", ["explain", "spare", "tour", "weights"])
@DAYS
@given(pick=st.data())
def test_days_of_the_examples(example: str, pick: st.DataObject) -> None:
    play([one.manifest for one in files.load([str(EXAMPLES / example)])], pick)


@pytest.mark.slow
@DAYS
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.data())
def test_days_of_random_fleets(clusters: int, deployments: int, nodes: int, replicas: int, pick: st.DataObject) -> None:
    fleet = whole_fleets.manifests(clusters, deployments, nodes=nodes, replicas=replicas, services=deployments)
    play(list(fleet), pick)
