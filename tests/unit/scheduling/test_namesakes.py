"""Replicas of an earlier deployment of the same name, which exist until their workloads are gone."""

from __future__ import annotations

from function.scheduling import Cluster, Device, Engine, Fleet, Job, Member, NodeShape, Pool, solve
from tests.support.fleets import GPU, ME, request

SHAPE = NodeShape((Device("gpu", 1, GPU, "gpu big", 80),))


def test_a_new_replica_does_not_get_the_name_of_one_that_is_going() -> None:
    job = Job(ME, 2, (Engine("vllm", 1, (Member("Standalone", 1, (request("gpu", 1),)),)),))
    fleet = Fleet({"east": Cluster("east", pools=(Pool("gpu", 3, SHAPE),))}, reserved={"east": frozenset({0, 2})})

    assert [placement.index for placement in solve(job, fleet).placements] == [1, 3]
