"""A fleet of nodes with any devices, pools of them on a few clusters, and deployments that want them.

Names carry the fleet's name, so that many fleets can share one inference cluster. `drawing.py` draws fleets at random.

In a *whole* fleet every pod that claims devices claims all GPUs of its node. There, a node that Modelplane counts as
taken has nothing left for kube-scheduler either: what Modelplane calls full must be unschedulable. In other fleets a
refused pod may be lucky, for Modelplane counts whole nodes, or makes sure on shared ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.e2e import fleet, objects
from tests.e2e.kube import Object

FLEET = "modelplane.ai/fleet"  # a label of clusters, by which the deployments of a fleet keep to their own
NIC_DRIVER = "dra.net"
NIC = f'device.driver == "{NIC_DRIVER}" && device.attributes["{NIC_DRIVER}"].rdma'
PRODUCTS = {  # architecture, compute capability, memory in GiB
    "L4": ("Ada Lovelace", "8.9.0", 23),
    "A10": ("Ampere", "8.6.0", 24),
    "A100-40": ("Ampere", "8.0.0", 40),
    "L40S": ("Ada Lovelace", "8.9.0", 46),
    "A100-80": ("Ampere", "8.0.0", 80),
    "H100": ("Hopper", "9.0.0", 80),
    "H200": ("Hopper", "9.0.0", 141),
    "B200": ("Blackwell", "10.0.0", 180),
}
MEMORIES = (20, 40, 80, 140)  # that selectors ask for


@dataclass(frozen=True, slots=True)
class Entry:
    """Like devices of a node: GPUs of a product, or NICs, which have none."""

    name: str
    count: int
    product: str = ""

    @property
    def driver(self) -> str:
        return fleet.DRIVER if self.product else NIC_DRIVER

    @property
    def attributes(self) -> Object:
        if not self.product:
            return {"rdma": {"bool": True}}
        architecture, compute, _ = PRODUCTS[self.product]
        return {
            "productName": {"string": self.product},
            "architecture": {"string": architecture},
            "cudaComputeCapability": {"version": compute},
        }

    @property
    def capacity(self) -> Object:
        return {"memory": {"value": f"{PRODUCTS[self.product][2]}Gi"}} if self.product else {}


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for devices, with one of the selectors below."""

    name: str
    count: int
    cel: str

    @property
    def request(self) -> Object:
        return {"name": self.name, "count": self.count, "selectors": [{"cel": self.cel}]}

    def takes(self, entry: Entry) -> bool:
        """Whether the selector is true of a device, as this file understands it."""
        if not entry.product or self.cel == NIC:
            return not entry.product and self.cel == NIC
        architecture, _, memory = PRODUCTS[entry.product]
        least = (size for size in MEMORIES if at_least(size) == self.cel)
        return self.cel in (product(entry.product), of_architecture(architecture)) or any(memory >= x for x in least)


def product(name: str) -> str:
    return f'device.attributes["{fleet.DRIVER}"].productName == "{name}"'


def of_architecture(name: str) -> str:
    return f'device.attributes["{fleet.DRIVER}"].architecture == "{name}"'


def at_least(gibibytes: int) -> str:
    return f'device.capacity["{fleet.DRIVER}"].memory.compareTo(quantity("{gibibytes}Gi")) >= 0'


def asks(member: Object) -> list[Ask]:
    """The requests of a deployment's member."""
    requests = member.get("nodeSelector", {}).get("devices", ())
    return [Ask(one["name"], one["count"], one["selectors"][0]["cel"]) for one in requests]


@dataclass(frozen=True, slots=True)
class Hardware:
    """A kind of node."""

    name: str
    entries: tuple[Entry, ...]
    cpu: int
    memory: int  # in GiB
    sized: bool  # whether its class says what cpu and memory there are

    @property
    def resources(self) -> Object:
        return {"cpu": str(self.cpu), "memory": f"{self.memory}Gi"}

    @property
    def gpus(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.product)

    def has(self, wanted: Sequence[Ask]) -> bool:
        """Whether one node satisfies all requests, by trying every way."""
        return _has({entry: entry.count for entry in self.entries}, wanted)


def _has(left: dict[Entry, int], wanted: Sequence[Ask]) -> bool:
    if not wanted:
        return True
    first, *rest = wanted
    ways = _ways(first.count, [entry for entry in left if first.takes(entry)], left)
    return any(_has({entry: count - way.get(entry, 0) for entry, count in left.items()}, rest) for way in ways)


def _ways(missing: int, entries: Sequence[Entry], left: dict[Entry, int]) -> Iterator[dict[Entry, int]]:
    """The ways to draw devices from entries."""
    if not missing:
        yield {}
    elif entries:
        head, *rest = entries
        for taken in range(min(missing, left[head]) + 1):
            for way in _ways(missing - taken, rest, left):
                yield {head: taken, **way}


@dataclass(frozen=True, slots=True)
class Pool:
    name: str
    hardware: Hardware
    nodes: int
    shared: bool = False

    @property
    def node_names(self) -> list[str]:
        return [f"{self.name}-{index}" for index in range(self.nodes)]

    @property
    def written(self) -> Object:
        """As its InferenceCluster has it."""
        sharing = {"sharing": "Devices"} if self.shared else {}
        return {"name": self.name, "className": self.hardware.name, "nodeCount": self.nodes, **sharing}


@dataclass(frozen=True, slots=True)
class Cluster:
    name: str
    pools: tuple[Pool, ...]
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def written(self) -> Object:
        return objects.cluster(self, nodePools=[pool.written for pool in self.pools])


@dataclass(frozen=True, slots=True)
class RandomFleet:
    name: str
    seed: str
    whole: bool
    hardware: tuple[Hardware, ...]
    clusters: tuple[Cluster, ...]
    deployments: tuple[Object, ...]
    """ModelDeployments, in the order in which they arrive."""

    @property
    def pools(self) -> dict[str, Pool]:
        return {pool.name: pool for cluster in self.clusters for pool in cluster.pools}

    @property
    def classes(self) -> list[Object]:
        return [inference_class(one) for one in self.hardware]

    @property
    def nodes(self) -> list[Object]:
        """As a kubelet registers them, with what they have room for."""
        return [node(pool, name) for pool in self.pools.values() for name in pool.node_names]

    @property
    def slices(self) -> list[Object]:
        pools = self.pools.values()
        return [one for pool in pools for name in pool.node_names for one in slices(pool.hardware, name)]


def inference_class(hardware: Hardware) -> Object:
    devices = [
        {
            "name": entry.name,
            "driver": entry.driver,
            "deviceClassName": entry.driver,
            "count": entry.count,
            "attributes": entry.attributes,
            **({"capacity": entry.capacity} if entry.capacity else {}),
        }
        for entry in hardware.entries
    ]
    sized = {"node": hardware.resources} if hardware.sized else {}
    return objects.of("InferenceClass", hardware.name, description="Drawn at random", devices=devices, **sized)


def device_classes() -> list[Object]:
    return [device_class(driver) for driver in (fleet.DRIVER, NIC_DRIVER)]


def device_class(driver: str) -> Object:
    selector = {"cel": {"expression": f"device.driver == '{driver}'"}}
    return fleet.device_class() | {"metadata": {"name": driver}, "spec": {"selectors": [selector]}}


def node(pool: Pool, name: str) -> Object:
    manifest = fleet.node(pool, name)
    manifest["metadata"]["labels"][FLEET] = "random"
    room = pool.hardware.resources | {"pods": "110"}
    return manifest | {"status": {"allocatable": room, "capacity": room}}


def slices(hardware: Hardware, node: str) -> list[Object]:
    """What the drivers of a node publish: one slice each."""
    return [_slice(driver, node, hardware) for driver in sorted({entry.driver for entry in hardware.entries})]


def _slice(driver: str, node: str, hardware: Hardware) -> Object:
    devices: list[dict[str, Any]] = [
        {"name": f"{entry.name}-{index}", "attributes": entry.attributes, "capacity": entry.capacity}
        for entry in hardware.entries
        for index in range(entry.count)
        if entry.driver == driver
    ]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{driver}", "labels": {FLEET: "random"}},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }
