"""What the nodes of a cluster really have, and who holds it, as an observer on the cluster reports.

Plain values. `function/fleet/observations.py` reads them, and believes nothing that is out of bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from function.scheduling.packing import Resources
from function.vocabulary.observation import NodeState

ByDevice = Mapping[str, int]
"""A number of devices, by the name of the entry of the InferenceClass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedNodes:
    """Nodes of a pool that are alike. All but `names` and `count` is of one such node."""

    names: tuple[str, ...] = ()
    """Names of some of the nodes, sorted. There are fewer than `count` where the report is cut."""
    count: int
    state: NodeState = NodeState.READY
    taint: str = ""
    """Of Tainted nodes: the taint that the pods of replicas do not tolerate."""
    devices: ByDevice = field(default_factory=dict)
    """Devices that drivers publish, by the entry that they match or come nearest to."""
    foreign: ByDevice = field(default_factory=dict)
    """Of those, what claims hold that belong to no replica."""
    ours: Mapping[str, ByDevice] = field(default_factory=dict)
    """Of those, what claims of engine pods hold, by `namespace/workload`."""
    pods: Mapping[str, int] = field(default_factory=dict)
    """Engine pods that are bound, by `namespace/workload`."""
    allocatable: Resources = (0, 0, 0)
    """What the node has for pods."""
    requested: Resources = (0, 0, 0)
    """What pods request that are not engine pods."""
    ours_requested: Resources = (0, 0, 0)
    """What engine pods request."""

    def free(self, device: str) -> int:
        """Return the devices of an entry that no claim holds."""
        held = self.foreign.get(device, 0) + sum(held.get(device, 0) for held in self.ours.values())
        return self.devices.get(device, 0) - held


class FactDiffers(NamedTuple):
    """A fact of a device that is published with another value than the class declares."""

    device: str
    fact: str
    """For example `capacity memory`."""
    declared: str
    published: str | None
    """None if no value is published."""
    nodes: int


class CountDiffers(NamedTuple):
    """A device of which nodes have another number than the class declares."""

    device: str
    declared: int
    published: int
    nodes: int


class UnknownDevices(NamedTuple):
    """Published devices that no entry of the class describes."""

    driver: str
    device: str
    """Name of one of them."""
    on_node: int
    """Devices on one node."""
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedPool:
    """The nodes of one pool."""

    nodes: tuple[ObservedNodes, ...] = ()
    left: int = 0
    """Nodes that are not in `nodes`, since the report is cut."""
    out_of_stock: str | None = None
    """The autoscaler's message if it could not add a node."""
    differs: tuple[FactDiffers, ...] = ()
    counts: tuple[CountDiffers, ...] = ()
    unknown: tuple[UnknownDevices, ...] = ()
    published: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Facts of entries with `differs` as most nodes publish them, in the notation of an InferenceClass."""

    @property
    def truncated(self) -> bool:
        """Whether nodes are left out."""
        return self.left > 0

    @property
    def number(self) -> int:
        """How many nodes there are."""
        return self.left + sum(like.count for like in self.nodes)

    def in_state(self, state: NodeState) -> Iterator[ObservedNodes]:
        """Yield the nodes in a state."""
        return (like for like in self.nodes if like.state is state)

    def engine_pods(self) -> Counter[str]:
        """Return the engine pods that are bound to nodes of the pool, by `namespace/workload`."""
        pods: Counter[str] = Counter()
        for like in self.nodes:
            for workload, number in like.pods.items():
                pods[workload] += number * like.count
        return pods


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an observer reports of the pools of an InferenceCluster."""

    cluster: str
    declared: str
    """Hash of the declaration that the nodes were compared with (names.content_hash of its pools)."""
    pools: Mapping[str, ObservedPool] = field(default_factory=dict)
    unassigned: tuple[str, ...] = ()
    """Some nodes that have devices and belong to no pool."""


class Unbelieved(NamedTuple):
    """A report that is not believed."""

    why: str
    """The field, its value and what is accepted."""
    is_blind: bool = False
    """Whether the observer says itself that it cannot read what it needs."""
