"""Labels and taints of the nodes of every cloud."""

from __future__ import annotations

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
