"""What Nebius cannot do is refused at its field, with what is accepted instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from function.api import inferenceclass
from function.clouds.nebius.blocks import Cluster
from function.clouds.nebius.faults import cluster_faults, fabric, pool_faults
from function.clouds.nebius.model import Pool

EXAMPLES = Path(__file__).parents[4] / "examples/classes/nebius.yaml"
CLASSES = [document for document in yaml.safe_load_all(EXAMPLES.read_text()) if document]
IN_FABRIC = {"type": "InfiniBand", "infiniband": {"fabric": "fabric-7"}}


def pool(platform: str = "gpu-h100-sxm", preset: str = "8gpu-128vcpu-1600gb", **more: Any) -> Pool:
    machine = {"platform": platform, "preset": preset}
    return Pool.model_validate({"name": "a", "className": "h100", "machine": machine} | more)


def with_disk(size: int) -> Pool:
    machine = {"platform": "gpu-h100-sxm", "preset": "1gpu-16vcpu-200gb", "diskSizeGb": size}
    return Pool.model_validate({"name": "a", "className": "h100", "machine": machine})


def of(asked: Pool) -> list[str]:
    return [f"{field}: {problem}" for field, problem in pool_faults(Cluster(), asked, asked.machine)]


@pytest.mark.parametrize("manifest", CLASSES, ids=lambda m: m["metadata"]["name"])
def test_every_class_of_the_examples_is_accepted_and_joins_a_fabric_with_all_gpus_of_a_host(manifest: Any) -> None:
    spec = inferenceclass.parse(manifest)
    machine = manifest["spec"]["provisioning"]["nebius"]
    gpus = sum(device.count for device in spec.devices if device.driver == "gpu.nvidia.com")

    alone, joined = (pool(**machine, drivers=sorted(spec.drivers), **more) for more in ({}, {"fabric": IN_FABRIC}))
    assert machine["preset"].startswith(f"{gpus}gpu-")
    assert of(alone) == []
    assert (of(joined) == []) == (gpus == 8)


def test_a_node_has_a_disk_from_which_it_boots() -> None:
    assert of(with_disk(64)) == []
    assert of(with_disk(63)) == [
        "className: InferenceClass h100 has diskSizeGb 63, and nodes with less than 64 do not start on Nebius"
    ]


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        (
            pool(maxNodeCount=0),
            "maxNodeCount: must be at least 1, not 0; for a pool without nodes, give nodeCount 0 alone",
        ),
        (
            pool(preset="1gpu-16vcpu-200gb", fabric=IN_FABRIC),
            (
                "fabric.type: InfiniBand needs a preset of 8 GPUs, such as 8gpu-128vcpu-1600gb, and InferenceClass"
                " h100 has 1gpu-16vcpu-200gb"
            ),
        ),
        (
            pool(fabric={"type": "InfiniBand"}),
            (
                "fabric.infiniband.fabric: is required with InfiniBand: the name of the fabric that has the GPUs,"
                " such as fabric-7"
            ),
        ),
        (
            pool(fabric={"type": "InfiniBand", "infiniband": {}}),
            (
                "fabric.infiniband.fabric: is required with InfiniBand: the name of the fabric that has the GPUs,"
                " such as fabric-7"
            ),
        ),
        (
            pool(platform="gpu-gb200-nvl72", preset="4gpu-128vcpu-800gb"),
            (
                "className: InferenceClass h100 has platform gpu-gb200-nvl72, whose nodes need an NVLink group;"
                " Modelplane makes none on Nebius"
            ),
        ),
        (
            pool(platform="cpu-d3", preset="4vcpu-16gb", drivers=["gpu.nvidia.com"]),
            "className: InferenceClass h100 has devices of gpu.nvidia.com, which no node of platform cpu-d3 has",
        ),
        (
            pool(drivers=["gpu.amd.com"]),
            "className: InferenceClass h100 has devices of gpu.amd.com; Nebius has those of gpu.nvidia.com",
        ),
    ],
    ids=["no-node", "one-gpu", "no-fabric", "no-name", "nvlink", "no-gpu", "amd"],
)
def test_a_pool_that_nebius_cannot_make_is_refused(asked: Pool, want: str) -> None:
    assert of(asked) == [want]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (pool(fabric=IN_FABRIC), "fabric-7"),
        (pool(fabric={"type": "None"}), None),
        (pool(), None),
        (pool(platform="cpu-d3", preset="4vcpu-16gb"), None),
        (pool(drivers=["dra.net", "gpu.nvidia.com"]), None),
    ],
)
def test_a_pool_that_nebius_can_make_is_accepted(asked: Pool, name: str | None) -> None:
    assert (of(asked), fabric(asked)) == ([], name)


@pytest.mark.parametrize(
    ("block", "want"),
    [
        ({"kubernetesVersion": "1.34"}, []),
        ({"kubernetesVersion": "1.100"}, []),
        (
            {"kubernetesVersion": "1.33"},
            ["kubernetesVersion: must be 1.34 or newer, not 1.33: devices are claimed by resource.k8s.io/v1"],
        ),
        (
            {"kubernetesVersion": "1.35.2"},
            ["kubernetesVersion: must be a version such as 1.34, not 1.35.2"],
        ),
        (
            {"systemPool": {"platform": "gpu-l40s-a", "preset": "1gpu-8vcpu-32gb"}},
            ["systemPool.platform: must be a platform without GPUs, such as cpu-d3, not gpu-l40s-a"],
        ),
        ({"apiServer": {"allowedSources": ["192.0.2.0/24"]}}, []),
        (
            {"apiServer": {"allowedSources": ["192.0.2.0/24", "2001:db8::/32"]}},
            ["apiServer.allowedSources[1]: must be an IPv4 network, not 2001:db8::/32"],
        ),
    ],
)
def test_a_cluster_is_accepted_or_refused(block: dict[str, Any], want: list[str]) -> None:
    got = cluster_faults(Cluster.model_validate(block), [pool()])

    assert [f"{field}: {problem}" for field, problem in got] == want
