"""Pods of different sizes are kept apart where there is a choice: small ones take away what large ones count on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from function.core import NamespacedName
from function.scheduling import (
    Cluster,
    Engine,
    Fit,
    Fitter,
    Fleet,
    Job,
    Member,
    NodeCapacity,
    PodDemand,
    Pool,
    Replica,
    solve,
)
from function.scheduling.sharing import Room
from tests.support.fleets import GPUS, request

EMPTY = Room(frozenset({(NodeCapacity((8,)), 4)}))


def holding(*sizes: int) -> Room:
    return EMPTY.plus([(frozenset({(PodDemand(((size, (0,)),)), 1)}),) for size in sizes])


def pool(name: str, *, shared: bool = True) -> Pool:
    return Pool(name, 4, GPUS["big"], shared=shared)


def engine(size: int, name: str = "e") -> Engine:
    return Engine(name, 1, (Member("Standalone", 1, (request(count=size),)),))


@pytest.mark.parametrize(
    ("size", "want"),
    [(1, "small"), (8, "large"), (4, "nothing")],
)
def test_a_pod_goes_where_pods_claim_the_same_then_to_an_empty_pool(size: int, want: str) -> None:
    free = {"both": holding(1, 8), "large": holding(8), "nothing": EMPTY, "small": holding(1)}
    cluster = Cluster("c", pools=tuple(map(pool, sorted(free))))
    fit = Fitter((engine(size),)).fit(cluster, free)
    assert isinstance(fit, Fit)
    assert [member.pool for placed in fit.placed(cluster) for member in placed.members] == [want]


def test_a_pool_with_another_size_is_taken_if_it_must_be() -> None:
    cluster = Cluster("c", pools=(pool("large"),))
    fit = Fitter((engine(1),)).fit(cluster, {"large": holding(8)})
    assert isinstance(fit, Fit)
    assert fit.mixed == 4


def test_a_pod_that_takes_a_node_goes_to_a_pool_of_whole_nodes() -> None:
    cluster = Cluster("c", pools=(pool("a"), pool("b", shared=False)))
    fit = Fitter((engine(8),)).fit(cluster, {"a": EMPTY, "b": 4})
    assert isinstance(fit, Fit)
    assert [option.pools for _, option in fit.engines] == [(1,)]
    assert fit.mixed == 0


def placed_on(sizes: Sequence[int], clusters: Sequence[str]) -> list[str]:
    """The clusters of deployments of one replica each, placed one after the other."""
    replicas: list[Replica] = []
    for i, size in enumerate(sizes):
        job = Job(NamespacedName("ns", f"d{i}"), 1, (engine(size),))
        fleet = Fleet({c: Cluster(c, pools=(pool("p"),)) for c in clusters}, tuple(replicas))
        (placement,) = solve(job, fleet).placements
        identity = NamespacedName("ns", f"d{i}-0")
        replicas.append(Replica(identity, job.deployment, placement.cluster, placement.index, placement.engines))
    return [replica.cluster for replica in replicas]


def test_clusters_hold_pods_of_one_size_each() -> None:
    """By their names alone, all would go to the first cluster, which could promise a place to fewer."""
    assert placed_on([1, 8, 1, 8, 8, 1, 8, 1], "ab") == ["a", "b", "a", "b", "b", "a", "b", "a"]


def test_all_clusters_are_filled_before_none_is_left() -> None:
    assert sorted(placed_on([8] * 8, "ab")) == ["a"] * 4 + ["b"] * 4
