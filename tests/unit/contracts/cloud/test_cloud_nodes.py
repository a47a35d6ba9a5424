"""Labels and taints of the nodes of every cloud."""

from __future__ import annotations

import pytest

from function.contracts.cloud import nodes
from function.contracts.cloud.nodepool import NodePool, Taint

NVIDIA, AMD = "gpu.nvidia.com", "gpu.amd.com"


def pool(*taints: tuple[str, str | None, str]) -> NodePool:
    given = [{"key": key, "value": value, "effect": effect} for key, value, effect in taints]
    given = [{field: value for field, value in taint.items() if value is not None} for taint in given]
    return NodePool.model_validate({"name": "a", "className": "c", "taints": given})


def texts(found: tuple[Taint, ...]) -> list[str]:
    return [f"{taint.key}={taint.value}:{taint.effect}" for taint in found]


def test_nodes_are_found_by_their_pool() -> None:
    assert nodes.node_labels("a") == {"modelplane.ai/pool": "a"}


def test_each_vendors_devices_have_a_taint_and_other_devices_none() -> None:
    assert nodes.device_taint_keys([NVIDIA, AMD, "dra.net", NVIDIA]) == ("amd.com/gpu", "nvidia.com/gpu")
    assert nodes.device_taint_keys(["dra.net"]) == ()
    assert set(nodes.device_taint_keys(nodes.DEVICE_DRIVERS)) == {"amd.com/gpu", "nvidia.com/gpu"}


def test_the_taints_of_devices_come_first_with_the_clouds_value() -> None:
    user = pool(("team", "x", "NoExecute"), ("plain", None, "NoSchedule"))

    assert texts(nodes.taints(user, [NVIDIA])) == [
        "nvidia.com/gpu=true:NoSchedule",
        "team=x:NoExecute",
        "plain=None:NoSchedule",
    ]
    assert texts(nodes.taints(pool(), [NVIDIA, AMD], gpu_value="present")) == [
        "amd.com/gpu=present:NoSchedule",
        "nvidia.com/gpu=present:NoSchedule",
    ]
    assert texts(nodes.taints(pool(), ["dra.net"])) == []


def test_of_two_taints_with_one_key_and_effect_the_devices_is_kept() -> None:
    user = pool(("nvidia.com/gpu", "mine", "NoSchedule"), ("nvidia.com/gpu", "mine", "NoExecute"))

    assert texts(nodes.taints(user, [NVIDIA])) == ["nvidia.com/gpu=true:NoSchedule", "nvidia.com/gpu=mine:NoExecute"]
    assert texts(nodes.taints(user, [AMD])) == [
        "amd.com/gpu=true:NoSchedule",
        "nvidia.com/gpu=mine:NoSchedule",
        "nvidia.com/gpu=mine:NoExecute",
    ]


# Sizes


def sized(**sizes: int) -> NodePool:
    return NodePool.model_validate({"name": "a", "className": "c", **sizes})


def test_a_pool_can_have_the_nodes_that_it_grows_to_else_those_that_it_has() -> None:
    assert [sized().most_nodes, sized(nodeCount=3).most_nodes, sized(nodeCount=3, maxNodeCount=2).most_nodes] == [
        1,
        3,
        2,
    ]


def test_a_pool_without_a_maximum_is_not_scaled() -> None:
    assert nodes.scale(sized(nodeCount=3), least=0) is None


@pytest.mark.parametrize(
    ("sizes", "want"),
    [
        ({"nodeCount": 3, "maxNodeCount": 5}, (1, 5, 3)),
        ({"nodeCount": 9, "maxNodeCount": 5}, (1, 5, 5)),
        ({"nodeCount": 0, "maxNodeCount": 5}, (1, 5, 1)),
        ({"nodeCount": 1, "minNodeCount": 2, "maxNodeCount": 5}, (2, 5, 2)),
        ({"nodeCount": 1, "minNodeCount": 0, "maxNodeCount": 5}, (0, 5, 1)),
        ({"nodeCount": 1, "maxNodeCount": 0}, (0, 0, 0)),
    ],
)
def test_the_initial_size_is_within_the_bounds(sizes: dict[str, int], want: tuple[int, int, int]) -> None:
    assert nodes.scale(sized(**sizes), least=1) == nodes.Scale(*want)
