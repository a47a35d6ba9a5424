"""What a ModelDeployment's reconcile reads, in fleets of several kinds: a settled one, and one that places replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from tests.bench import fleet, shuffled
from tests.bench.fleet import Object
from tests.bench.processes import Request
from tests.bench.reconciles import Answers, Call, Deployment, Encoded, Index, Reconciled

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


class Made(NamedTuple):
    """A fleet."""

    clusters: list[Object]
    replicas: list[Object]
    encoded: Encoded


def roomy(size: Size, shape: str = SHAPE) -> Made:
    """A fleet in which every cluster has room, and says so."""
    clusters, replicas = fleet.clusters(size.clusters), fleet.replicas(size.replicas, size.clusters, shape)
    fleet.publish(clusters, replicas)
    return Made(clusters, replicas, Encoded())


def nearly_full(size: Size, shape: str = SHAPE) -> Made:
    """A fleet in which the last clusters by name have room, and all say what they have."""
    clusters, replicas = _filled(size, shape)
    fleet.publish(clusters, replicas)
    return Made(clusters, replicas, Encoded())


def misleading(size: Size, shape: str = SHAPE) -> Made:
    """A fleet that is nearly full, and in which all clusters say that all their nodes are free."""
    clusters, replicas = _filled(size, shape)
    fleet.publish(clusters, [])
    return Made(clusters, replicas, Encoded())


def _filled(size: Size, shape: str) -> tuple[list[Object], list[Object]]:
    clusters, replicas = fleet.clusters(size.clusters), fleet.replicas(size.replicas, size.clusters, shape)
    left = [cluster["metadata"]["name"] for cluster in clusters[-min(_LEFT, size.clusters // 4) :]]
    fleet.fill(clusters, replicas, left=left, nodes=32)
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
    deployment = _deployment(call, made, SHAPE)
    done = deployment.reconcile()
    return Read(_placed(done), _requests(deployment, done.sent))


def settled(call: Call, made: Made, *, seeded: bool) -> Read:
    """A reconcile of a deployment whose replicas have all served."""
    deployment = _deployment(call, made, SHAPE)
    deployment.settle()
    done = deployment.reconcile(seeded=seeded)
    return Read(_placed(done), _requests(deployment, done.sent))


class Whole(NamedTuple):
    """Calls with the whole fleet in the request, and with the answers to all that was ever asked for."""

    fresh: Request
    steady: Request


def whole(call: Call, made: Made, shape: str) -> Whole:
    """The call that places the replicas of a new deployment, and one after all have served.

    In a fleet that misleads, a deployment that reads in stages comes to the last one.
    """
    deployment = _deployment(call, made, shape)
    placing = _placed(deployment.reconcile())
    (fresh,) = _requests(deployment, [{**placing.sent[-1], **_fleet(deployment)}])
    deployment.carry_out(placing)
    asked = [deployment.index.look_up(done.asked) for done in (placing, *deployment.settle())]
    found = {name: answer for answers in asked for name, answer in answers.items()}
    (steady,) = _requests(deployment, [{**found, **_fleet(deployment)}])
    return Whole(fresh, steady)


def _fleet(deployment: Deployment) -> Mapping[str, list[Object]]:
    return {
        "clusters": deployment.index.of_kind("InferenceCluster"),
        "all-replicas": deployment.index.of_kind("ModelReplica"),
    }


def _deployment(call: Call, made: Made, shape: str) -> Deployment:
    index = Index([*made.clusters, *made.replicas])
    return Deployment(call, index, fleet.deployment(shape, WANTED), encoded=made.encoded)


def _placed(done: Reconciled) -> Reconciled:
    placed = sum(manifest["kind"] == "ModelReplica" for manifest in fleet.carried_out(done.response).values())
    assert placed == WANTED, f"{placed} of {WANTED} replicas are placed"
    return done


def _requests(deployment: Deployment, sent: Iterable[Answers]) -> tuple[Request, ...]:
    """Encode calls of a deployment as it is now, when they are needed."""
    xr, observed, encoded = deployment.xr, dict(deployment.observed), deployment.encoded
    return tuple(partial(shuffled.request, xr, observed, answers, "bench", encoded) for answers in sent)
