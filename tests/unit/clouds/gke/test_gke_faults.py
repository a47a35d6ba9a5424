"""What GKE cannot do is refused at its field, with what is accepted instead."""

from __future__ import annotations

from typing import Any

import pytest

from function.clouds.gke.accelerators import FIXED, SCARCE, accelerator
from function.clouds.gke.blocks import Accelerator, Cluster, Machine
from function.clouds.gke.faults import of_cluster, of_pool
from function.clouds.gke.model import Pool

REGION = "us-central1"
NVIDIA = "gpu.nvidia.com"
L4 = {"machineType": "g2-standard-8"}


def pool(machine: dict[str, Any], **fields: Any) -> Pool:
    return Pool.model_validate({"name": "a", "className": "gpus", "machine": machine, **fields})


def pool_faults(machine: dict[str, Any] | None = None, zones: tuple[str, ...] = (), **fields: Any) -> list[Any]:
    asked = pool(machine or L4, **fields)
    return list(of_pool(Cluster(region=REGION, zones=zones), asked, asked.machine))


def cluster_faults(**block: Any) -> list[Any]:
    return list(of_cluster(Cluster.model_validate({"region": REGION, **block}), [pool(L4)]))


def zones(letters: str) -> list[str]:
    return [f"{REGION}-{letter}" for letter in letters]


@pytest.mark.parametrize("machine_type", sorted(FIXED.keys() - SCARCE.keys()))
def test_the_accelerators_of_a_machine_type_need_not_be_named(machine_type: str) -> None:
    type_, count = FIXED[machine_type]
    machine = {"machineType": machine_type}

    assert accelerator(Machine.model_validate(machine)) == Accelerator(type=type_, count=count)
    assert pool_faults(machine, drivers=[NVIDIA]) == []
    assert pool_faults({**machine, "accelerator": {"type": type_, "count": count}}) == []


@pytest.mark.parametrize(
    ("machine", "drivers"),
    [
        ({"machineType": "n1-standard-8", "accelerator": {"type": "nvidia-tesla-t4", "count": 3}}, [NVIDIA]),
        ({"machineType": "n4-standard-8"}, []),
        ({"machineType": "a9-futuregpu-8g", "accelerator": {"type": "nvidia-z100", "count": 8}}, [NVIDIA]),
    ],
    ids=["attached", "without", "unknown"],
)
def test_other_machines_are_as_the_class_says(machine: dict[str, Any], drivers: list[str]) -> None:
    assert pool_faults(machine, drivers=drivers) == []


@pytest.mark.parametrize(
    ("machine", "drivers", "want"),
    [
        (
            {"machineType": "g2-standard-8", "accelerator": {"type": "nvidia-l4", "count": 2}},
            [NVIDIA],
            (
                "asks for 2 nvidia-l4, but machineType g2-standard-8 has 1 nvidia-l4; leave out "
                "provisioning.gke.accelerator, or give these"
            ),
        ),
        (
            {"machineType": "a3-highgpu-8g", "accelerator": {"type": "nvidia-h100-mega-80gb", "count": 8}},
            [NVIDIA],
            (
                "asks for 8 nvidia-h100-mega-80gb, but machineType a3-highgpu-8g has 8 nvidia-h100-80gb; leave "
                "out provisioning.gke.accelerator, or give these"
            ),
        ),
        (
            {"machineType": "e2-standard-8", "accelerator": {"type": "nvidia-l4", "count": 1}},
            [NVIDIA],
            (
                "asks for 1 nvidia-l4, but machineType e2-standard-8 takes no accelerator; choose a machine type "
                "with some, such as g2-standard-8"
            ),
        ),
        (
            {"machineType": "n1-standard-8"},
            [NVIDIA],
            (
                "has devices of gpu.nvidia.com, but machineType n1-standard-8 has no accelerator of its own; "
                "give provisioning.gke.accelerator"
            ),
        ),
        (L4, ["gpu.amd.com"], "has devices of gpu.amd.com; GKE has those of gpu.nvidia.com"),
        (
            {"machineType": "a4-highgpu-8g"},
            ["dra.net", NVIDIA],
            (
                "has devices of dra.net, but nodes have one network interface, which is their own; give these "
                "devices claim Synthetic, or leave them out"
            ),
        ),
        (
            {"machineType": "a3-highgpu-1g"},
            [NVIDIA],
            (
                "has machineType a3-highgpu-1g, but Google makes that as a Spot or Flex-start VM only, and "
                "Modelplane makes neither; choose a3-highgpu-8g, or another accelerator"
            ),
        ),
        (
            {"machineType": "a4x-highgpu-4g"},
            [NVIDIA],
            (
                "has machineType a4x-highgpu-4g, but its nodes need a placement of whole racks and networks of "
                "their own, which Modelplane cannot ask for; choose a4-highgpu-8g, or another accelerator"
            ),
        ),
    ],
    ids=["count", "type", "none", "missing", "vendor", "network", "spot", "rack"],
)
def test_a_machine_that_google_has_not_is_refused(machine: dict[str, Any], drivers: list[str], want: str) -> None:
    assert pool_faults(machine, drivers=drivers) == [("className", f"InferenceClass gpus {want}")]


@pytest.mark.parametrize("family", ["c2d", "c3", "c4a", "e2", "h3", "m4", "n2", "n2d", "n4", "t2a", "z3"])
def test_families_without_accelerators_take_none(family: str) -> None:
    [(field, _)] = pool_faults(
        {"machineType": f"{family}-standard-8", "accelerator": {"type": "nvidia-l4", "count": 1}}
    )

    assert field == "className"


@pytest.mark.parametrize(("count", "letters", "more"), [(4, "ab", {}), (0, "abc", {}), (3, "ab", {"maxNodeCount": 5})])
def test_a_fixed_pool_has_as_many_nodes_in_every_zone(count: int, letters: str, more: dict[str, Any]) -> None:
    """One that is scaled has any number: its limits are of the whole pool."""
    assert pool_faults(nodeCount=count, zones=(), **more) == []
    asked = pool(L4, nodeCount=count, zones=zones(letters), **more)
    assert list(of_pool(Cluster(region=REGION), asked, asked.machine)) == []


def test_a_fixed_pool_that_its_zones_do_not_divide_is_refused() -> None:
    want = (
        "nodeCount",
        (
            "must be a multiple of 2, not 3: GKE makes the same number of nodes in each zone, and these are 2: "
            "us-central1-a, us-central1-b; name other zones, or give maxNodeCount, so that the pool is "
            "scaled as a whole"
        ),
    )
    asked = pool(L4, nodeCount=3, zones=zones("ab"))

    assert list(of_pool(Cluster(region=REGION), asked, asked.machine)) == [want]
    assert pool_faults(nodeCount=3, zones=tuple(zones("ab"))) == [want]


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (["europe-west4-a"], "must have zones of region us-central1, such as us-central1-a, not europe-west4-a"),
        (["a"], "must have zones of region us-central1, such as us-central1-a, not a"),
    ],
    ids=["region", "letter"],
)
def test_zones_are_those_of_the_region(given: list[str], want: str) -> None:
    asked = pool(L4, nodeCount=6, zones=given)

    assert list(of_pool(Cluster(region=REGION), asked, asked.machine)) == [("zones", want)]
    assert cluster_faults(zones=given) == [("zones", want)]


def test_a_zone_of_a_cluster_is_named_once() -> None:
    problem = "must name each zone once, not us-central1-a, us-central1-b, us-central1-a"

    assert cluster_faults(zones=zones("aba")) == [("zones", problem)]


@pytest.mark.parametrize("region", ["us-central1-a", "us-central", "US-CENTRAL1", "1"])
def test_a_region_is_no_zone(region: str) -> None:
    """In a zone, GKE would make a cluster that is not regional."""
    problem = f"must be a region, such as us-central1, not {region}"

    assert list(of_cluster(Cluster(region=region), ())) == [("region", problem)]


def test_a_pool_that_can_have_no_node_is_not_scaled() -> None:
    problem = "must be at least 1, not 0: GKE scales no pool that can have no node"

    assert pool_faults(nodeCount=0, maxNodeCount=0) == [("maxNodeCount", problem)]


@pytest.mark.parametrize("version", ["1.34", "1.36.2", "1.36.2-gke.1500"])
def test_versions_with_dra_are_accepted(version: str) -> None:
    assert cluster_faults(kubernetesVersion=version) == []


@pytest.mark.parametrize("version", ["v1.35", "2.35", "1.36.1+3", "1.36.1-eks.1"])
def test_a_version_of_another_form_is_refused(version: str) -> None:
    problem = f"must be a version such as 1.35 or 1.35.3-gke.100, not {version}"

    assert cluster_faults(kubernetesVersion=version) == [("kubernetesVersion", problem)]


def test_a_version_without_dra_is_refused() -> None:
    problem = "must be 1.34 or newer, not 1.33.5-gke.1: devices are claimed by resource.k8s.io/v1"

    assert cluster_faults(kubernetesVersion="1.33.5-gke.1") == [("kubernetesVersion", problem)]


def test_a_network_without_room_is_refused_before_anything_is_made() -> None:
    [(field, problem)] = cluster_faults(network={"podCidr": "10.16.0.0/21"})

    assert (field, problem.partition(",")[0]) == ("network.podCidr", "must be a /20 or larger")
