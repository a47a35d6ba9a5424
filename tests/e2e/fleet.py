"""The hardware of the tests: nodes and devices on the inference cluster, classes and clusters on ours."""

from dataclasses import dataclass, field
from typing import Any

POOL = "modelplane.ai/pool"
DRIVER = "gpu.nvidia.com"
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """A kind of node, with the attributes that NVIDIA's DRA driver publishes."""

    name: str  # of the InferenceClass
    gpus: int
    product: str
    architecture: str
    compute: str
    memory: str

    @property
    def attributes(self) -> dict[str, Any]:
        return {
            "productName": {"string": self.product},
            "architecture": {"string": self.architecture},
            "cudaComputeCapability": {"version": self.compute},
        }

    @property
    def capacity(self) -> dict[str, Any]:
        return {"memory": {"value": self.memory}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    name: str
    hardware: Hardware
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """An inference cluster as its owner describes it."""

    name: str
    pools: tuple[Pool, ...]
    labels: dict[str, str] = field(default_factory=dict)


L4 = Hardware(name="l4", gpus=1, product="NVIDIA L4", architecture="Ada Lovelace", compute="8.9.0", memory="23034Mi")
H100 = Hardware(
    name="h100", gpus=8, product="NVIDIA H100 80GB HBM3", architecture="Hopper", compute="9.0.0", memory="81559Mi"
)
HARDWARE = (L4, H100)

# All stand on the one inference API server, each with node pools of its own.
WEST = Cluster(
    name="west",
    pools=(Pool(name="west-l4", hardware=L4, nodes=6), Pool(name="west-h100", hardware=H100, nodes=4)),
    labels={"modelplane.ai/region": "us-west"},
)
EAST = Cluster(
    name="east",
    pools=(Pool(name="east-l4", hardware=L4, nodes=4),),
    labels={"modelplane.ai/region": "us-east"},
)
NORTH = Cluster(  # published by the story that takes it away again
    name="north",
    pools=(Pool(name="north-l4", hardware=L4, nodes=2),),
    labels={"modelplane.ai/region": "us-north"},
)
CLUSTERS = (WEST, EAST, NORTH)


def nodes(cluster: Cluster) -> list[dict[str, Any]]:
    """A cluster's nodes, and the slices in which the driver publishes their devices."""
    return [
        manifest
        for pool in cluster.pools
        for index in range(pool.nodes)
        for manifest in (node(pool, f"{pool.name}-{index}"), devices(pool.hardware, f"{pool.name}-{index}"))
    ]


def node(pool: Pool, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {POOL: pool.name, "kubernetes.io/hostname": name},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "spec": {"taints": [GPU_TAINT]},
    }


def room() -> dict[str, Any]:
    """What a kubelet would report: it goes to the node's status, which an apply does not touch."""
    size = {"cpu": "64", "memory": "512Gi", "pods": "110"}
    return {"status": {"allocatable": size, "capacity": size}}


def devices(hardware: Hardware, node: str) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{DRIVER}"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {"name": f"gpu-{index}", "attributes": hardware.attributes, "capacity": hardware.capacity}
                for index in range(hardware.gpus)
            ],
        },
    }


def device_class() -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": DRIVER},
        "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]},
    }


def system_node() -> dict[str, Any]:
    """Where what needs no GPU runs."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "system-0",
            "labels": {"kubernetes.io/hostname": "system-0"},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
    }
