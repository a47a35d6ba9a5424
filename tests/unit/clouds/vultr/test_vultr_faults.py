"""What Vultr cannot do is refused at its field, with what is accepted instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from function.clouds.vultr.blocks import Cluster, Machine
from function.clouds.vultr.faults import cluster_faults, pool_faults
from function.clouds.vultr.model import Pool
from function.schema import Api

H100 = "vcg-h100-216c-1914gb-640vram"
NVIDIA, AMD = "gpu.nvidia.com", "gpu.amd.com"

ONE = "must be NoSchedule, not NoExecute: Vultr takes one taint of a key"


def faults(plan: str = H100, drivers: Sequence[str] = (NVIDIA,), **pool: Any) -> list[tuple[str, str]]:
    made = {"name": "a", "className": "c", "machine": {"plan": plan}, "drivers": list(drivers), **pool}
    return list(pool_faults(Cluster(region="mia"), Pool.model_validate(made), Machine(plan=plan)))


def taint(key: str, effect: str = "NoSchedule", **more: Any) -> dict[str, Any]:
    return {"key": key, "effect": effect, **more}


@pytest.mark.parametrize(
    ("pool", "want"),
    [
        ({"nodeCount": 0}, "nodeCount: must be at least 1, not 0: Vultr makes no pool without nodes"),
        ({"maxNodeCount": 0}, "maxNodeCount: must be at least 1, not 0: Vultr makes no pool without nodes"),
        (
            {"taints": [taint("a", value="b"), taint("team")]},
            "taints[1].value: must not be empty: a taint of Vultr has a value, and team has none",
        ),
        (
            {"taints": [taint("team", value="b"), taint("team", "NoExecute", value="b")]},
            f"taints[1].effect: {ONE}, and team has effect NoSchedule already",
        ),
        (
            {"taints": [taint("nvidia.com/gpu", "NoExecute", value="b")]},
            f"taints[0].effect: {ONE}, and nvidia.com/gpu has effect NoSchedule already",
        ),
        (
            {"plan": "vc2-6c-16gb", "drivers": [NVIDIA, "dra.net"]},
            "className: InferenceClass c has devices of gpu.nvidia.com, and plan vc2-6c-16gb has no GPUs",
        ),
        (
            {"drivers": [AMD]},
            f"className: InferenceClass c has devices of gpu.amd.com, and plan {H100} has GPUs of gpu.nvidia.com",
        ),
        (
            {"plan": "vcg-mi3"},
            "className: InferenceClass c has devices of gpu.nvidia.com, and plan vcg-mi3 has GPUs of gpu.amd.com",
        ),
    ],
    ids=["no-nodes", "no-maximum", "no-value", "two-effects", "of-the-devices", "no-gpus", "nvidias", "amds"],
)
def test_a_pool_that_vultr_cannot_make_is_refused(pool: dict[str, Any], want: str) -> None:
    assert [f"{field}: {problem}" for field, problem in faults(**pool)] == [want]


@pytest.mark.parametrize(
    "pool",
    [
        {},
        {"nodeCount": 0, "maxNodeCount": 2},
        {"minNodeCount": 1, "maxNodeCount": 1},
        {"taints": [taint("a", value="1"), taint("b", "NoExecute", value="1")]},
        {"taints": [taint("nvidia.com/gpu", value="mine")]},
        {"taints": [taint("amd.com/gpu", "NoExecute", value="mine")]},
        {"plan": "vcg-mi325x-252c", "drivers": [AMD]},
        {"plan": "vc2-6c-16gb", "drivers": []},
        {"plan": "a-plan-of-tomorrow", "drivers": [AMD, NVIDIA]},
    ],
)
def test_a_pool_that_vultr_can_make_is_accepted(pool: dict[str, Any]) -> None:
    assert faults(**pool) == []


def test_a_version_without_the_api_of_dra_is_refused() -> None:
    def of(version: str | None) -> list[tuple[str, str]]:
        return list(cluster_faults(Cluster(region="mia", kubernetesVersion=version), ()))

    assert (of(None), of("v1.34.0+1"), of("v1.100.0+1")) == ([], [], [])
    problem = "must be 1.34 or newer, not v1.33.9+2: devices are claimed by resource.k8s.io/v1"
    assert of("v1.33.9+2") == [("kubernetesVersion", problem)]


@pytest.mark.parametrize(
    "version", ["1.36", "v1.36", "v1.36.1", "1.36.1+3", "v1.36.1+3.1", "v01.36.1+3", "v2.0.0+1", ""]
)
def test_a_version_that_vultr_does_not_know_is_no_version(version: str) -> None:
    with pytest.raises(ValueError, match=r"a version of Vultr with its build, such as v1\.36\.1\+3|at least 1"):
        Cluster(region="mia", kubernetesVersion=version)


def test_the_blocks_are_plain_values() -> None:
    assert issubclass(Cluster, Api)
    assert Cluster(region="mia").credentials.name == "default"
