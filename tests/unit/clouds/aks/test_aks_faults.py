"""What AKS cannot do, as an InferenceCluster tells it before anything is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from function.clouds.aks import faults, machines
from function.clouds.aks.blocks import Cluster, Machine
from function.clouds.aks.model import Pool

CLASSES = Path(__file__).parents[4] / "examples/classes/aks.yaml"
NVIDIA, AMD = "gpu.nvidia.com", "gpu.amd.com"
CLASS = "InferenceClass h100 has"


def classes() -> list[dict[str, Any]]:
    return [document["spec"] for document in yaml.safe_load_all(CLASSES.read_text()) if document]


def pool(**fields: Any) -> Pool:
    machine = {"vmSize": fields.pop("vmSize", "Standard_ND96isr_H100_v5"), "diskSizeGb": fields.pop("diskSizeGb", 128)}
    return Pool.model_validate({"name": "gpu", "className": "h100", "drivers": [NVIDIA], "machine": machine, **fields})


def of_pool(**fields: Any) -> list[tuple[str, str]]:
    made = pool(**fields)
    return list(faults.pool_faults(Cluster(location="westeurope"), made, made.machine))


def of_cluster(*pools: Pool, **block: Any) -> list[tuple[str, str]]:
    return list(faults.cluster_faults(Cluster.model_validate({"location": "westeurope", **block}), pools))


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ({}, []),
        ({"zones": ["1", "3"]}, []),
        ({"taints": [{"key": "team", "value": "a", "effect": "NoExecute"}]}, []),
        ({"zones": ["westeurope-1"]}, [("zones", "must have 1, 2 or 3, as AKS names zones, not westeurope-1")]),
        (
            {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "c", "effect": "NoSchedule"}]},
            [("taints[1].value", "must be given: AKS takes taints as key=value:effect only")],
        ),
        ({"maxNodeCount": 0}, [("maxNodeCount", "must be at least 1, not 0: a pool that is scaled keeps one node")]),
        ({"nodeCount": 1000}, []),
        ({"nodeCount": 1001}, [("nodeCount", "must be at most 1000, as in every pool of AKS, not 1001")]),
        ({"maxNodeCount": 1200}, [("maxNodeCount", "must be at most 1000, as in every pool of AKS, not 1200")]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_a_pool_cannot_be_is_named(fields: dict[str, Any], want: list[tuple[str, str]]) -> None:
    assert of_pool(**fields) == want


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ({"diskSizeGb": 30}, ""),
        ({"diskSizeGb": 2048}, ""),
        ({"diskSizeGb": 29}, "InferenceClass h100 has diskSizeGb 29; AKS has OS disks of 30 to 2048 GB"),
        ({"diskSizeGb": 2049}, "InferenceClass h100 has diskSizeGb 2049; AKS has OS disks of 30 to 2048 GB"),
        ({"vmSize": "standard_nd96ISR_h100_v5"}, ""),
        ({"vmSize": "Standard_NV36ads_A10_v5"}, ""),
        ({"vmSize": "Standard_D8s_v5", "drivers": []}, ""),
        (
            {"vmSize": "Standard_D8s_v5"},
            (
                f"{CLASS} devices of gpu.nvidia.com, and vmSize Standard_D8s_v5 has none; only sizes that begin with "
                "Standard_N have GPUs"
            ),
        ),
        (
            {"vmSize": "Standard_ND96isr_MI300X_v5"},
            f"{CLASS} devices of gpu.nvidia.com, and vmSize Standard_ND96isr_MI300X_v5 has those of gpu.amd.com",
        ),
        (
            {"drivers": [AMD]},
            f"{CLASS} devices of gpu.amd.com, and vmSize Standard_ND96isr_H100_v5 has those of gpu.nvidia.com",
        ),
        (
            {"vmSize": "Standard_ND128isr_GB300_v6"},
            f"{CLASS} vmSize Standard_ND128isr_GB300_v6, an Arm machine, for which AKS installs no GPU driver",
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_machine_that_cannot_be_is_named_at_the_class(fields: dict[str, Any], want: str) -> None:
    assert of_pool(**fields) == ([("className", want)] if want else [])


@pytest.mark.parametrize("location", ["WestEurope", "west-europe", "West_Europe"])
def test_a_location_is_given_by_its_name(location: str) -> None:
    problem = f"must be the name of a location, such as westeurope, not {location}"

    assert of_cluster(pool(), location=location) == [("location", problem)]


@pytest.mark.parametrize("class_", classes(), ids=lambda spec: str(spec["provisioning"]["aks"]["vmSize"]))
def test_every_class_of_the_examples_is_one_that_aks_makes(class_: dict[str, Any]) -> None:
    machine = Machine.model_validate(class_["provisioning"]["aks"])
    drivers = [device["driver"] for device in class_["devices"]]

    assert of_pool(vmSize=machine.vmSize, drivers=drivers) == []
    assert machines.GPUS[machine.vmSize.lower()] == (drivers[0], class_["devices"][0]["count"])


def test_there_is_a_class_of_every_machine_that_is_known() -> None:
    assert sorted(spec["provisioning"]["aks"]["vmSize"].lower() for spec in classes()) == sorted(machines.GPUS)


@pytest.mark.parametrize(
    ("version", "want"),
    [
        (None, []),
        ("1.34", []),
        ("1.36.2", []),
        ("1.33", [("kubernetesVersion", "must be 1.34 or newer, not 1.33: devices are claimed by resource.k8s.io/v1")]),
        (
            "1.9.1",
            [("kubernetesVersion", "must be 1.34 or newer, not 1.9.1: devices are claimed by resource.k8s.io/v1")],
        ),
        ("v1.36", [("kubernetesVersion", "must be a version such as 1.36 or 1.36.2, not v1.36")]),
        ("1.36.1-gke.1", [("kubernetesVersion", "must be a version such as 1.36 or 1.36.2, not 1.36.1-gke.1")]),
    ],
)
def test_versions_without_dra_and_of_others_are_refused(version: str | None, want: list[tuple[str, str]]) -> None:
    assert of_cluster(pool(), **({"kubernetesVersion": version} if version else {})) == want


def test_a_cluster_has_room_for_its_system_pool_and_every_pool_at_its_largest() -> None:
    """Five nodes of the system pool, one more while it is upgraded, and 2 + 8 of the pools."""
    pools = pool(nodeCount=2), pool(nodeCount=1, maxNodeCount=8)
    small = {"cidr": "10.0.0.0/27", "podCidr": "10.244.0.0/20", "serviceCidr": "10.96.0.0/16"}

    assert of_cluster(*pools, network=small) == [
        ("network.cidr", "must have room for 16 nodes, which takes a /26; 10.0.0.0/27 has room for 10")
    ]
    assert of_cluster(*pools, network={**small, "cidr": "10.0.0.0/26"}) == []
    assert of_cluster(*pools, pool(), network={**small, "cidr": "10.0.0.0/26"}) == [
        (
            "network.podCidr",
            "must have room for 17 nodes with a /24 each, which takes a /19; 10.244.0.0/20 has room for 16",
        )
    ]


def test_a_cluster_has_at_most_5000_nodes() -> None:
    assert of_cluster(*[pool(nodeCount=1000)] * 5) == [
        ("", "must have at most 5000 nodes, system pool included, not 5006: AKS makes no more")
    ]
    assert of_cluster(*[pool(nodeCount=1000)] * 4, pool(nodeCount=994)) == []


def test_nothing_is_computed_of_networks_that_are_not_legal() -> None:
    assert of_cluster(pool(), network={"cidr": "10.0.0.0/30"}) == [
        ("network.cidr", "must be a network from /8 to /28, not 10.0.0.0/30")
    ]


@pytest.mark.parametrize(
    ("vm_size", "drivers", "want"),
    [
        ("Standard_ND96isr_H100_v5", [NVIDIA], "Install"),
        ("Standard_ND96isr_H100_v5", [], "Install"),
        ("Standard_NC4as_T4_v3", [NVIDIA], "Install"),
        ("Standard_ND96isr_MI300X_v5", [AMD], "None"),
        ("Standard_ND96isr_MI300X_v5", [], "None"),
        ("Standard_NG32ads_V620_v1", [AMD, "dra.net"], "None"),
        ("Standard_D8s_v5", [], None),
        ("Standard_NC4as_T4_v3", ["dra.net"], None),
    ],
)
def test_aks_installs_the_driver_of_nvidias_gpus_and_of_no_others(
    vm_size: str, drivers: list[str], want: str | None
) -> None:
    assert machines.gpu_driver(vm_size, drivers) == want
