"""Which DRA drivers the serving stack is to install: one leaves only when it is known that nobody needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from function.core import Request
from function.kinds.inferencecluster import cluster_identity, drivers
from function.kinds.inferencecluster.made import Use
from function.kinds.inferencecluster.pools import ClassFault, PoolFault, PublishedPools
from function.vocabulary import labels, versions

AMD, NVIDIA, NETWORK = "gpu.amd.com", "gpu.nvidia.com", "dra.net"
UID = "3a1c2b1e-4444-4a4a-9c9c-000000000001"
STACK = {"spec": {"drivers": [AMD, NVIDIA]}}
INVALID = PoolFault("spec.nodePools[1].zones", "cannot be chosen")
WAITING = ClassFault("l4", "l4", "does not exist")


def device(driver: Any, **more: Any) -> dict[str, Any]:
    return {"name": "gpu", "claim": "DRA", "driver": driver, "deviceClassName": driver, **more}


def pools(*devices: dict[str, Any], **more: Any) -> PublishedPools:
    pool = {"name": "amd", "nodes": 1, "devices": list(devices)}
    return PublishedPools((pool,), **{"invalid": (), "waiting": (), **more})


def observer(name: str, annotations: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": versions.PROVIDER_KUBERNETES,
        "kind": "Object",
        "metadata": {
            "name": name,
            "namespace": "modelplane-system",
            "labels": {labels.CLUSTER: name, labels.CLUSTER_ID: UID},
            "annotations": dict(annotations),
        },
        "status": {"atProvider": {"manifest": {"metadata": {"uid": UID}}}},
    }


def request(*others: dict[str, Any], is_known: bool = True) -> Request:
    """Of an InferenceCluster whose Kubernetes cluster others lead to."""
    own = observer("edge", {})
    xr = {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": "edge"},
        "spec": {},
        "status": {"clusterID": UID},
    }
    found = {"same-cluster": (own, *others)} if is_known else {}
    return Request(xr=xr, observed={cluster_identity.KEY: own}, required=found)


def test_those_of_the_published_devices_are_installed_and_no_others() -> None:
    published = pools(device(NETWORK), device(AMD), device(AMD))
    assert drivers.of_stack(request(), published, {"amd": Use(1, frozenset({AMD}))}, STACK) == [NETWORK, AMD]


def test_a_device_that_no_pod_claims_needs_no_driver() -> None:
    assert drivers.of_pools(pools(device(AMD, claim="Synthetic"))) == frozenset()


def test_a_status_of_an_earlier_release_is_read_as_far_as_it_goes() -> None:
    published = pools({"name": "gpu", "driver": AMD}, device(None), device(7))
    assert drivers.of_pools(published) == {AMD}


@pytest.mark.parametrize(
    ("published", "used", "asked"),
    [
        (pools(device(AMD), invalid=(INVALID,)), {}, request()),
        (pools(device(AMD), waiting=(WAITING,)), {}, request()),
        (pools(device(AMD)), None, request()),
        (pools(device(AMD)), {"l4": Use(1)}, request()),
        (pools(device(AMD)), {"amd": Use(1, frozenset({NVIDIA}))}, request()),
        (pools(device(AMD)), {}, request(is_known=False)),
    ],
    ids=[
        "a pool is invalid",
        "a class is gone",
        "no replicas are known",
        "a pool has left",
        "a class has others",
        "no others are known",
    ],
)
def test_a_driver_stays_while_it_may_be_needed(
    published: PublishedPools, used: Mapping[str, Use] | None, asked: Request
) -> None:
    assert drivers.of_stack(asked, published, used, STACK) == [AMD, NVIDIA]


@pytest.mark.parametrize(
    ("stack", "want"),
    [
        (None, [AMD]),
        ({"spec": {}}, [AMD, NVIDIA]),
        ({"spec": {"drivers": []}}, [AMD]),
        ({"spec": {"drivers": [NETWORK, 7, None]}}, [NETWORK, AMD]),
        ({"spec": {"drivers": "gpu.nvidia.com"}}, [AMD]),
    ],
    ids=["no stack", "of an earlier release", "none", "not only names", "no list"],
)
def test_what_stays_is_what_the_stack_was_told(stack: Any, want: list[str]) -> None:
    assert drivers.of_stack(request(), pools(device(AMD), waiting=(WAITING,)), {}, stack) == want


@pytest.mark.parametrize(
    ("annotations", "want"),
    [
        ({labels.DRIVERS: f"{NETWORK},{NVIDIA}"}, [NETWORK, AMD, NVIDIA]),
        ({labels.DRIVERS: ""}, [AMD]),
        ({}, [AMD, NVIDIA]),
    ],
    ids=["they tell", "they need none", "of an earlier release"],
)
def test_others_that_lead_to_the_cluster_need_theirs_too(annotations: Mapping[str, str], want: list[str]) -> None:
    asked = request(observer("west", annotations))
    assert drivers.of_stack(asked, pools(device(AMD)), {}, None) == want


def test_others_are_told_of_a_driver_as_long_as_replicas_need_it() -> None:
    """The InferenceCluster that has the stack of a cluster knows no replicas but its own."""
    used = {"amd": Use(1, frozenset({NVIDIA}))}
    assert drivers.needed(pools(device(AMD)), used, {NVIDIA}) == {AMD, NVIDIA}
    assert drivers.needed(pools(device(AMD)), {"amd": Use(1, frozenset({AMD}))}, {NVIDIA}) == {AMD}
    assert drivers.needed(pools(device(AMD)), {}, {NVIDIA}) == {AMD}
