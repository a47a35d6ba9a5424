"""What EKS refuses, and how it says so."""

from __future__ import annotations

from typing import Any

import pytest

from function.clouds.eks import faults, instances
from function.clouds.eks.blocks import Cluster, Machine
from function.clouds.eks.model import Pool

P5 = {"instanceType": "p5.48xlarge"}
EFA = {"type": "EFA"}
BLOCK = {"capacityReservationId": "cr-0123456789abcdef0"}


def block(**fields: Any) -> Cluster:
    return Cluster.model_validate({"region": "us-east-1", **fields})


def pool(machine: dict[str, Any] | None = None, **fields: Any) -> Pool:
    made = {"instanceType": "g6.2xlarge", **(machine or {})}
    return Pool.model_validate({"name": "gpu", "className": "some", "machine": made, **fields})


def of_cluster(*pools: Pool, **fields: Any) -> list[str]:
    return [f"{field} {problem}" for field, problem in faults.of_cluster(block(**fields), pools or (pool(),))]


def of_pool(made: Pool) -> list[str]:
    return [f"{field} {problem}" for field, problem in faults.of_pool(block(), made, made.machine)]


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ({"region": "us-east-1a"}, "region must be the code of a region, such as us-east-1, not us-east-1a"),
        (
            {"zones": ["us-east-1a", "us-east-2b"]},
            "zones must have availability zones of us-east-1: us-east-1a to us-east-1g, not us-east-2b",
        ),
        (
            {"zones": ["us-east-1a", "us-east-1-bos-1a"]},
            "zones must have availability zones of us-east-1: us-east-1a to us-east-1g, not us-east-1-bos-1a",
        ),
        ({"zones": ["us-east-1a"]}, "zones must name at least 2 zones, not only us-east-1a: EKS needs them"),
        (
            {"kubernetesVersion": "1.33"},
            "kubernetesVersion must be 1.34 or newer, not 1.33: devices are claimed by resource.k8s.io/v1",
        ),
        (
            {"kubernetesVersion": "v1.36.1"},
            "kubernetesVersion must be a version such as 1.36, not v1.36.1",
        ),
        (
            {"systemPool": {"instanceType": "m7g.xlarge"}},
            "systemPool.instanceType must have x86_64 processors, such as m6i.xlarge, not m7g.xlarge",
        ),
        (
            {"apiServer": {"allowedSources": ["198.51.100.0/24", "fd00::/8"]}},
            "apiServer.allowedSources[1] must be an IPv4 network, not fd00::/8",
        ),
        (
            {"apiServer": {"allowedSources": ["10.1.0.0/16"]}},
            (
                "apiServer.allowedSources[0] must be a public network, not 10.1.0.0/16: nodes reach the API server "
                "inside of the VPC"
            ),
        ),
        (
            {"region": "us-iso-east-1"},
            "region must be of partition aws, aws-us-gov or aws-cn, not us-iso-east-1: policies of others are unknown",
        ),
        ({"network": {"cidr": "fd00::/8"}}, "network.cidr must be an IPv4 network, not fd00::/8"),
        (
            {"network": {"cidr": "10.0.0.0/15"}},
            (
                "network.cidr must be a network from /16 to /22, not 10.0.0.0/15: AWS makes no larger VPC, and a "
                "smaller one has no room for subnets in every zone"
            ),
        ),
        (
            {"network": {"cidr": "169.254.0.0/20"}},
            "network.cidr must be outside of 169.254.0.0/16, not 169.254.0.0/20: AWS makes no VPC there",
        ),
        ({"network": {"serviceCidr": "fd00::/112"}}, "network.serviceCidr must be an IPv4 network, not fd00::/112"),
        (
            {"network": {"serviceCidr": "172.20.0.0/25"}},
            "network.serviceCidr must be a network from /12 to /24, not 172.20.0.0/25",
        ),
        (
            {"network": {"serviceCidr": "100.64.0.0/16"}},
            "network.serviceCidr must be part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, not 100.64.0.0/16",
        ),
        (
            {"network": {"cidr": "172.20.64.0/20"}},
            "network.serviceCidr must not overlap network.cidr, 172.20.64.0/20, as 172.20.0.0/16 does",
        ),
    ],
)
def test_a_cluster_is_refused_by_the_field_that_is_wrong(fields: dict[str, Any], want: str) -> None:
    assert of_cluster(**fields) == [want]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"region": "us-gov-west-1", "zones": ["us-gov-west-1b", "us-gov-west-1c"]},
        {"region": "cn-north-1", "kubernetesVersion": "1.34"},
        {"network": {"cidr": "100.64.0.0/16", "serviceCidr": "10.0.0.0/12"}},
        {"systemPool": {"instanceType": "m7i-flex.2xlarge"}, "apiServer": {"allowedSources": ["198.51.100.0/24"]}},
    ],
)
def test_what_aws_takes_is_taken(fields: dict[str, Any]) -> None:
    assert of_cluster(**fields) == []


def test_a_network_without_room_names_need_and_have_and_what_has_room() -> None:
    found = of_cluster(pool(maxNodeCount=40, zones=["us-east-1a"]), network={"cidr": "10.0.0.0/21"})

    assert found == [
        (
            "network.cidr must be a /18 or larger, not 10.0.0.0/21: zone us-east-1a needs 1490 addresses for the most "
            "nodes that it can have and their pods, and its subnet 10.0.0.0/24 has 256; or ask for fewer nodes, or for "
            "more zones"
        )
    ]


def test_more_nodes_than_any_network_takes_are_refused() -> None:
    [found] = of_cluster(pool(nodeCount=600))

    assert "is too small, as any is: zone" in found


def test_seven_zones_are_too_many() -> None:
    every = [pool(zones=[f"us-east-1{letter}"], name=f"p{letter}") for letter in "cdefg"]

    assert of_cluster(*every, zones=["us-east-1a", "us-east-1b"]) == [
        (
            "zones and those of the pools must be at most 6, not 7: us-east-1a, us-east-1b, us-east-1c, us-east-1d, "
            "us-east-1e, us-east-1f, us-east-1g"
        )
    ]


@pytest.mark.parametrize(
    ("made", "want"),
    [
        (
            pool(maxNodeCount=0),
            "maxNodeCount must be at least 1, not 0: EKS makes no group without room for a node",
        ),
        (
            pool(zones=["us-east-1x"]),
            "zones must have availability zones of us-east-1: us-east-1a to us-east-1g, not us-east-1x",
        ),
        (pool(P5, capacityBlock=BLOCK), "zones must have exactly one zone, not none: a capacity block is in one"),
        (
            pool(P5, fabric=EFA, zones=["us-east-1a", "us-east-1b"]),
            "zones must have exactly one zone, not us-east-1a, us-east-1b: EFA connects nodes in one",
        ),
        (
            pool({"amiType": "AL2023_x86_64_STANDARD"}),
            (
                "className InferenceClass some has amiType AL2023_x86_64_STANDARD for instance type g6.2xlarge, whose "
                "GPUs need images with NVIDIA's driver, such as AL2023_x86_64_NVIDIA"
            ),
        ),
        (
            pool({"instanceType": "p6e-gb200.36xlarge"}),
            (
                "className InferenceClass some has amiType AL2023_x86_64_NVIDIA for instance type p6e-gb200.36xlarge, "
                "whose processors need images for arm64: AL2023_ARM_64_NVIDIA or BOTTLEROCKET_ARM_64_NVIDIA"
            ),
        ),
        (
            pool({"amiType": "BOTTLEROCKET_ARM_64_NVIDIA"}),
            (
                "className InferenceClass some has amiType BOTTLEROCKET_ARM_64_NVIDIA for instance type g6.2xlarge, "
                "whose processors need images for x86_64"
            ),
        ),
        (
            pool({"instanceType": "m7i.large"}, drivers=["gpu.nvidia.com"]),
            (
                "className InferenceClass some has devices of gpu.nvidia.com, and instance type m7i.large has none; "
                "types of families p and g do, such as g6.2xlarge"
            ),
        ),
        (
            pool(drivers=["gpu.amd.com"]),
            "className InferenceClass some has devices of gpu.amd.com; EKS has no nodes with a driver for them",
        ),
    ],
)
def test_a_pool_is_refused_by_the_field_that_is_wrong(made: Pool, want: str) -> None:
    assert of_pool(made) == [want]


def test_efa_is_for_instance_types_that_have_it() -> None:
    [found] = of_pool(pool(fabric=EFA, zones=["us-east-1a"]))

    assert found.startswith("fabric.type must be None for instance type g6.2xlarge: types with EFA are g4dn.12xlarge, ")
    assert all(type_ in found for type_ in instances.EFA)


@pytest.mark.parametrize(
    ("machine", "fields"),
    [
        ({}, {}),
        (
            P5,
            {"fabric": EFA, "capacityBlock": BLOCK, "zones": ["us-east-1c"], "drivers": ["dra.net", "gpu.nvidia.com"]},
        ),
        ({"instanceType": "p6e-gb200.36xlarge", "amiType": "AL2023_ARM_64_NVIDIA"}, {"drivers": ["gpu.nvidia.com"]}),
        ({"instanceType": "c7i.8xlarge", "amiType": "AL2023_x86_64_STANDARD"}, {"nodeCount": 0}),
        (P5, {"drivers": ["dra.net", "gpu.nvidia.com"]}),
        ({"amiType": "BOTTLEROCKET_x86_64_NVIDIA"}, {"minNodeCount": 1, "maxNodeCount": 450}),
    ],
)
def test_what_eks_can_do_is_taken(machine: dict[str, Any], fields: dict[str, Any]) -> None:
    assert of_pool(pool(machine, **fields)) == []


@pytest.mark.parametrize(
    ("type_", "arm", "nvidia"),
    [
        ("m6i.xlarge", False, False),
        ("m7g.xlarge", True, False),
        ("im4gn.large", True, False),
        ("g5g.xlarge", True, True),
        ("g6e.48xlarge", False, True),
        ("gr6.8xlarge", False, True),
        ("g4ad.xlarge", False, False),
        ("p5en.48xlarge", False, True),
        ("p6-b200.48xlarge", False, True),
        ("p6e-gb200.36xlarge", True, True),
        ("trn2.48xlarge", False, False),
    ],
)
def test_instance_types_tell_their_processors_and_accelerators(type_: str, arm: bool, nvidia: bool) -> None:
    assert (instances.is_arm(type_), instances.has_nvidia_gpus(type_)) == (arm, nvidia)


@pytest.mark.parametrize("type_", sorted(instances.EFA))
def test_a_template_has_as_many_efa_interfaces_as_the_type(type_: str) -> None:
    found = instances.interfaces(type_, ["sg-1", "sg-2"])

    efa = [each for each in found if each["interfaceType"] != "interface"]
    assert len(efa) == instances.EFA[type_]
    assert [each["networkCardIndex"] for each in found] == [*range(len(found))]
    assert found[0]["deviceIndex"] == 0
    assert {each["deviceIndex"] for each in found[1:]} <= ({0} if type_.startswith("p6-b300.") else {1})
    assert all(each["securityGroups"] == ["sg-1", "sg-2"] for each in found)


def test_the_first_card_of_a_b300_has_no_efa() -> None:
    found = instances.interfaces("p6-b300.48xlarge", [])
    kinds = [each["interfaceType"] for each in found]

    assert kinds == ["interface", *["efa-only"] * 16]
    assert {each["deviceIndex"] for each in found} == {0}


def test_a_machine_has_images_for_nvidia_by_default() -> None:
    assert Machine(instanceType="p5.48xlarge").amiType == "AL2023_x86_64_NVIDIA"
