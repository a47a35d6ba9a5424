"""What a ModelDeployment's reconcile reads, in fleets of several kinds: a settled one, and one that places replicas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from tests.bench import fleet
from tests.bench.fleet import Object
from tests.bench.processes import Request
from tests.bench.reconciles import Call, Deployment, Index, Reconciled

SHAPE = "prefill-decode"
WANTED = 10
_LEFT = 20
"""Clusters with room in a nearly full fleet, at most."""


class Size(NamedTuple):
    """The size of a fleet."""

    clusters: int
    replicas: int

    def __str__(self) -> str:
        return f"{self.clusters:,}, {self.replicas:,}"


Made = tuple[list[Object], list[Object]]
"""Clusters and replicas."""


def roomy(size: Size) -> Made:
    """A fleet in which every cluster has room, and says so."""
    clusters, replicas = fleet.clusters(size.clusters), fleet.replicas(size.replicas, size.clusters, SHAPE)
    fleet.publish(clusters, replicas)
    return clusters, replicas


def nearly_full(size: Size) -> Made:
    """A fleet in which the last clusters by name have room, and all say what they have."""
    clusters, replicas = _filled(size)
    fleet.publish(clusters, replicas)
    return clusters, replicas


def misleading(size: Size) -> Made:
    """A fleet that is nearly full, and in which all clusters say that all their nodes are free."""
    clusters, replicas = _filled(size)
    fleet.publish(clusters, [])
    return clusters, replicas


def _filled(size: Size) -> Made:
    clusters, replicas = fleet.clusters(size.clusters), fleet.replicas(size.replicas, size.clusters, SHAPE)
    left = [cluster["metadata"]["name"] for cluster in clusters[-min(_LEFT, size.clusters // 4) :]]
    fleet.fill(clusters, replicas, left=left)
    return clusters, replicas


FLEETS: Mapping[str, Callable[[Size], Made]] = {
    "room everywhere": roomy,
    "nearly full": nearly_full,
    "nearly full, all published as free": misleading,
}


class Read(NamedTuple):
    """A reconcile, and the requests that its calls were."""

    done: Reconciled
    requests: tuple[Request, ...]


def placement(call: Call, made: Made) -> Read:
    """A new deployment's first reconcile, which places all replicas."""
    deployment = _deployment(call, made)
    return _read(deployment, deployment.reconcile())


def settled(call: Call, made: Made, *, seeded: bool) -> Read:
    """A reconcile of a deployment whose replicas have all served."""
    deployment = _deployment(call, made)
    deployment.settle()
    return _read(deployment, deployment.reconcile(seeded=seeded))


def _deployment(call: Call, made: Made) -> Deployment:
    clusters, replicas = made
    return Deployment(call, Index([*clusters, *replicas]), fleet.deployment(SHAPE, WANTED))


def _read(deployment: Deployment, done: Reconciled) -> Read:
    placed = sum(manifest["kind"] == "ModelReplica" for manifest in fleet.carried_out(done.response).values())
    assert placed == WANTED, f"{placed} of {WANTED} replicas are placed"
    return Read(done, tuple(partial(deployment.request, answers) for answers in done.sent))
