"""What the observer keeps of the objects of a cluster. `reading` makes these records, and everything else trusts them.

An object of Kubernetes is large, and a cluster has a hundred thousand pods. A record holds only what an observation
needs, so that the objects of 5,000 nodes fit in the memory of a small pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from function.observe.amounts import Amounts
from function.observe.troubles import Stage, Trouble

Key = tuple[str, str]
"""Namespace and name."""
Value = str | int | bool


class NodeTaint(NamedTuple):
    """A taint of a node."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}{f'={self.value}' if self.value else ''}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    labels: Mapping[str, str]
    is_ready: bool
    is_cordoned: bool
    taints: tuple[NodeTaint, ...]
    """Taints that keep pods away, sorted."""
    allocatable: Amounts


class Fact(NamedTuple):
    """An attribute or a capacity that a driver publishes of a device."""

    kind: str
    """`attribute` or `capacity`."""
    name: str
    """Without the driver's own domain."""
    type: str
    """Type of an attribute: string, version, bool or int. A capacity is a quantity."""
    value: Value

    @property
    def label(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Published:
    """A device in a ResourceSlice."""

    name: str
    facts: tuple[Fact, ...]
    is_tainted: bool
    """Whether the driver keeps new claims off it, for example because it is broken."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A ResourceSlice of one node."""

    name: str
    driver: str
    pool: str
    """The driver's pool, which is usually named like the node. It is not a pool of nodes."""
    generation: int
    slices: int
    """Number of slices of the driver's pool in this generation."""
    node: str
    devices: tuple[Published, ...]


class Device(NamedTuple):
    """The identity of a device: what allocations name."""

    driver: str
    pool: str
    name: str


@dataclass(frozen=True, slots=True)
class DeviceClass:
    name: str
    selectors: tuple[str, ...]
    """Expressions in CEL that a device of the class satisfies."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An allocated ResourceClaim."""

    key: Key
    devices: tuple[Device, ...]
    """Devices that it holds. Devices that it merely administers are left out."""
    pods: tuple[str, ...]
    """Names of the pods that use it, and of the pod that owns it. They are in its namespace."""


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that has not ended, or an engine's pod that failed."""

    key: Key
    uid: str
    node: str
    """Empty until it is bound."""
    workload: str
    """The workload of an engine's pod. Empty for pods that are not ours."""
    pool: str
    """The pool of nodes that it asks for, if any."""
    is_daemon: bool
    """Whether a DaemonSet controls it."""
    is_leaving: bool
    """Whether it is being deleted. It holds what it has until it is gone."""
    requests: Amounts
    trouble: Trouble | None
    """Why an engine's pod does not run; None if it is ready, and for pods that are not ours."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and holds nothing."""
        return self.trouble is not None and self.trouble.stage is Stage.OVER


@dataclass(frozen=True, slots=True)
class Owner:
    """A ReplicaSet, StatefulSet or LeaderWorkerSet of an engine: what makes its pods."""

    kind: str
    key: Key
    workload: str
    is_short: bool
    """Whether it has fewer pods than it should have."""
    failure: str
    """Why it cannot make pods, where its status tells."""


@dataclass(frozen=True, slots=True)
class Event:
    """The newest occurrence of an event."""

    kind: str
    """Of the object that the event is about."""
    key: Key
    """Namespace and name of that object."""
    uid: str
    container: str
    reason: str
    message: str
    """Cut, and not cleaned: it can hold text of a container."""
    at: str
    """The time of its last occurrence. It orders events, and is never told."""


class Group(NamedTuple):
    """A node group of the autoscaler."""

    name: str
    failure: str
    """Why it could not be scaled up; empty if it can be."""
