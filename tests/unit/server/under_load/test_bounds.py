"""Deployments that take long, and fleets in which nothing fits: no call outlives its caller, and answers are short."""

from __future__ import annotations

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from function.server.runner import Runner
from tests.bench import deployments, fleet
from tests.support import load
from tests.unit.server.under_load.test_memory import loaded, wait_idle

pytestmark = pytest.mark.slow

_CLUSTERS = 20
_AT_ONCE = 0.05
"""Seconds that a caller waits. None of these deployments is decided in them."""
_REJECTIONS = 10_000
_NOWHERE = deployments.deployment([[deployments.request("gpu", 'device.driver == "none"')]])


def test_calls_that_take_long_end_with_their_caller_and_leave_their_workers_to_others() -> None:
    usual = fleet.request(deployments.DEPLOYMENTS["usual"], deployments.clusters(1), [])
    with loaded() as (server, call):
        for xr in deployments.DEPLOYMENTS.values():
            data = fleet.request(xr, deployments.clusters(_CLUSTERS), [])
            ended = {one.code() for one in [call.future(data, timeout=_AT_ONCE) for _ in range(4)]}
            assert ended <= {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.OK}
        assert fnv1.RunFunctionResponse.FromString(call(usual)).conditions
        wait_idle(server)


def rejected(clusters: int) -> bytes:
    """The response to a deployment that every cluster rejects."""
    return Runner().answer(fleet.request(_NOWHERE, [_small(one) for one in deployments.clusters(clusters)], []))


def _small(cluster: fleet.Object) -> fleet.Object:
    """A cluster with one pool of one device."""
    pool = cluster["status"]["gpuPools"][0]
    return {**cluster, "status": {**cluster["status"], "gpuPools": [{**pool, "devices": pool["devices"][:1]}]}}


def test_an_explanation_of_ten_thousand_rejections_is_as_short_as_one_of_a_few() -> None:
    few, many = rejected(_REJECTIONS // 100), rejected(_REJECTIONS)

    said = {one.type: one.message for one in fnv1.RunFunctionResponse.FromString(many).conditions}
    assert f"{_REJECTIONS} clusters: {_REJECTIONS} " in said["ReplicasScheduled"]
    assert len(many) < 1.1 * len(few) < load.MIB
