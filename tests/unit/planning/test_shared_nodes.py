"""Simulated nodes that pods share: what does not fit is refused, so that a wrong promise shows in a plan."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from function.core import dig
from function.manifests import claims, workloads
from function.planning.clusters import Clusters
from function.planning.shared_nodes import SharedNodes
from function.sandbox.store import Store
from function.scheduling import Device, NodeShape, PodDemand
from function.scheduling.packing import fits_empty
from function.scheduling.sharing import capacity
from tests.unit.planning.test_clusters import DEVICE, answered, fleet, object_, remote


def shape(*counts: int, cpu: int | None = None) -> NodeShape:
    return NodeShape(tuple(Device(f"d{i}", n, "gpu.nvidia.com", i) for i, n in enumerate(counts)), (cpu, None, None))


def pod(*requests: tuple[int, tuple[int, ...]], cpu: int = 0) -> PodDemand:
    return PodDemand(tuple(sorted(requests)), (cpu, 0, 0))


ONE, TWO, FOUR = (pod((n, (0,))) for n in (1, 2, 4))


def test_pods_are_spread_and_refused_once_none_fits() -> None:
    nodes = SharedNodes.empty(shape(4), 2)

    assert [nodes.take(TWO) for _ in range(5)] == [0, 1, 0, 1, None]


def test_a_large_pod_finds_no_node_between_small_ones() -> None:
    nodes = SharedNodes.empty(shape(4), 2)

    assert [nodes.take(one) for one in (ONE, ONE, FOUR)] == [0, 1, None]


def test_a_pod_that_runs_stays_on_its_node() -> None:
    nodes = SharedNodes.empty(shape(4), 2)

    assert [nodes.take(ONE, at=1), nodes.take(ONE, at=1), nodes.take(FOUR)] == [1, 1, 0]


def test_a_pod_stays_though_its_node_is_published_with_less() -> None:
    nodes = SharedNodes.empty(shape(1), 1)

    assert [nodes.take(FOUR, at=0), nodes.take(ONE)] == [0, None]


def test_a_pod_whose_node_is_gone_looks_for_another() -> None:
    nodes = SharedNodes.empty(shape(4), 1)

    assert [nodes.take(FOUR, at=3), nodes.take(FOUR, at=2)] == [0, None]


def test_cpu_runs_out_before_devices() -> None:
    nodes = SharedNodes.empty(shape(8, cpu=4_000), 1)

    assert [nodes.take(pod((1, (0,)), cpu=3_000)) for _ in range(2)] == [0, None]


def test_a_claim_leaves_to_others_of_the_pod_what_only_they_can_take() -> None:
    nodes = SharedNodes.empty(shape(1, 1), 1)

    assert nodes.take(pod((1, (0,)), (1, (0, 1)))) == 0
    assert nodes.left[0].devices == (0, 0)


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[NodeShape, list[PodDemand]]:
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    entries = st.sets(st.sampled_from(range(len(counts))), min_size=1).map(lambda some: tuple(sorted(some)))
    demands = st.lists(st.tuples(st.integers(1, 3), entries), min_size=1, max_size=2).map(lambda r: pod(*r))
    return shape(*counts), draw(st.lists(demands, max_size=6))


@given(arrivals(), st.integers(0, 3))
def test_each_pod_gets_all_that_it_claims_and_only_one_that_fits_nowhere_is_refused(
    case: tuple[NodeShape, list[PodDemand]], count: int
) -> None:
    nodes = SharedNodes.empty(case[0], count)
    for demand in case[1]:
        before = list(nodes.left)
        at = nodes.take(demand)
        if at is None:
            assert not any(fits_empty(node, demand) for node in before)
        else:
            assert fits_empty(before[at], demand)
            taken = [a - b for a, b in zip(before[at].devices, nodes.left[at].devices, strict=True)]
            assert sum(taken) == sum(n for n, _ in demand.devices)
            assert min(taken) >= 0
            assert fits_empty(capacity(NodeShape(tuple(_limited(case[0], taken)))), demand)


def _limited(of: NodeShape, counts: list[int]) -> list[Device]:
    return [Device(d.name, n, d.device_class, d.published) for d, n in zip(of.devices, counts, strict=True)]


# Through the simulated cluster


def shared(nodes: int = 1, **node: str) -> Store:
    store = fleet(nodes)
    [cluster] = store.of_kind("modelplane.ai/v1alpha1", "InferenceCluster")
    pool = {
        "name": "a100",
        "nodes": nodes,
        "devices": [DEVICE],
        "sharing": "Devices",
        **({"node": node} if node else {}),
    }
    store.load({**cluster, "status": {"gpuPools": [pool]}})
    return store


def model(name: str, count: int = 1, copies: int = 1, cpu: str = "") -> list[dict[str, Any]]:
    asked = claims.device_request(name="gpu", device_class="gpu.nvidia.com", count=count, selectors=["true"])
    claim = claims.resource_claim_template(name=f"{name}-claim", namespace="team", requests=[asked])
    spec = {
        "nodeSelector": {"modelplane.ai/pool": "a100"},
        "containers": [{"name": "e", "image": "e", **({"resources": {"requests": {"cpu": cpu}}} if cpu else {})}],
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": f"{name}-claim"}],
    }
    workload = workloads.deployment(
        name=name, namespace="team", copies=copies, selector={}, strategy=workloads.RECREATE, pod={"spec": spec}
    )
    return [remote(f"{name}-claim", claim), remote(name, workload)]


def problem(store: Store, name: str) -> str:
    """What keeps a workload from being available; empty when it is."""
    conditions = dig(object_(store, name), "status", "atProvider", "manifest", "status", "conditions")
    return str(conditions[0].get("message") or "")


def test_two_workloads_share_a_node_and_a_third_finds_none() -> None:
    store = answered(shared(), Clusters(), *model("a"), *model("b"), *model("c"))

    assert (problem(store, "a"), problem(store, "b")) == ("", "")
    assert "no node of pool a100 has enough left for the pod" in problem(store, "c")


def test_what_runs_keeps_its_node_though_an_older_workload_grows() -> None:
    store, clusters = shared(), Clusters()
    answered(store, clusters, *model("a"), *model("b"))

    answered(store, clusters, *model("a", copies=2))

    assert problem(store, "b") == ""
    assert "has enough left" in problem(store, "a")


def test_requests_of_cpu_are_counted_where_the_class_says_what_a_node_has() -> None:
    store = answered(shared(cpu="4"), Clusters(), *model("a", cpu="3"), *model("b", cpu="3"))

    assert problem(store, "a") == ""
    assert "has enough left" in problem(store, "b")


def test_a_claim_that_a_node_can_never_meet_is_told_apart() -> None:
    store = answered(shared(), Clusters(), *model("a", count=3))

    assert "has the devices that the pod claims" in problem(store, "a")
