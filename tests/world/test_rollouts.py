"""A bad image over gRPC, as Crossplane plays it: what is remembered comes back with the status."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import json_format

from function.core import Manifest
from tests.support.serving import Crossplane, created, desired, running
from tests.unit.server.test_server import FLEET, READY, deployment

STARTING = [{"type": "Ready", "status": "False"}, {"type": "ModelReady", "status": "False"}]


@pytest.fixture(scope="module")
def crossplane() -> Iterator[Crossplane]:
    with running() as server, grpc.insecure_channel(server.address) as channel:
        yield Crossplane(channel)


def edited(replicas: int, image: str, after: fnv1.RunFunctionResponse) -> Manifest:
    """The deployment with another image, and the status that the last pass said."""
    xr: dict[str, Any] = dict(deployment(replicas))
    xr["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] = image
    return {**xr, "status": json_format.MessageToDict(after.desired.composite.resource)["status"]}


def images(rsp: fnv1.RunFunctionResponse) -> list[str]:
    specs = [m["spec"]["engines"][0]["members"][0] for m in desired(rsp, "ModelReplica").values()]
    return sorted(member["template"]["spec"]["containers"][0]["image"].rpartition(":")[2] for member in specs)


@pytest.mark.slow
def test_a_bad_image_that_is_scaled_away_is_not_given_to_the_next(crossplane: Crossplane) -> None:
    fleet = FLEET[:2]
    first = crossplane.reconcile(deployment(2), fleet)
    serving = created(desired(first, "ModelReplica"), conditions=READY, served=True)
    settled = crossplane.reconcile(deployment(2), [*fleet, *serving.values()], serving)

    tried = crossplane.reconcile(edited(2, "vllm:bad", settled), [*fleet, *serving.values()], serving)
    assert images(tried) == ["bad", "v0.23.0"]
    now = created(desired(tried, "ModelReplica"), conditions=READY, served=True)
    [sick] = [k for k in now if "bad" in str(now[k])]
    now[sick] = {**now[sick], "status": {"conditions": STARTING, "served": True}}
    stuck = crossplane.reconcile(edited(2, "vllm:bad", tried), [*fleet, *now.values()], now)
    assert images(stuck) == ["bad", "v0.23.0"]

    # Its cluster is full by now, the sick replica is gone, and one replica is wanted.
    left = {k: m for k, m in now.items() if k != sick}
    alone = [c for c in fleet if c["metadata"]["name"] == left[min(left)]["spec"]["clusterName"]]
    rsp = crossplane.reconcile(edited(1, "vllm:bad", stuck), [*alone, *left.values()], left)
    assert images(rsp) == ["v0.23.0"]
    [why] = [c.message for c in rsp.conditions if c.type == "ReplicasReady"]
    assert "was tried and has not served" in why
