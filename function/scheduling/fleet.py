"""The fleet as the scheduler sees it: clusters, pools, devices, and the replicas that stand on them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from function.core import NamespacedName


@dataclass(frozen=True, slots=True)
class Device:
    """An entry of a class: `count` like devices on every node of a pool."""

    name: str
    count: int
    device_class: str | None
    """DRA's DeviceClass. None for a Synthetic device, which can be matched and never claimed."""
    published: Hashable
    """What selectors are judged on: equal content, equal verdict."""
    memory: int | None = None
    """Bytes of one device, where it publishes them. Tells small devices from big ones."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class NodeShape:
    """The devices of one node. Whoever builds a fleet gives like nodes the same shape: it is compared by identity."""

    devices: tuple[Device, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    name: str
    nodes: int
    """Whole nodes that it can have; never negative."""
    shape: NodeShape


@dataclass(frozen=True, slots=True, order=True)
class Taint:
    """A taint of a cluster, for the fleet scheduler. Pods never see it."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Cluster:
    name: str
    ready: bool = True
    has_address: bool = True
    """Whether its gateway can be reached, without which a replica could not serve."""
    deleting: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    pools: tuple[Pool, ...] = ()

    def pool(self, name: str) -> Pool | None:
        return next((pool for pool in self.pools if pool.name == name), None)


@dataclass(frozen=True, slots=True)
class PlacedMember:
    role: str
    pods: int
    pool: str
    claims: bool
    """Whether its pods claim devices, and so take whole nodes."""


@dataclass(frozen=True, slots=True)
class PlacedEngine:
    name: str
    copies: int
    members: tuple[PlacedMember, ...]


@dataclass(frozen=True, slots=True)
class PreviousSpec:
    """What a replica had before it was given more where it stands."""

    engines: tuple[PlacedEngine, ...]
    spec_hash: str
    noted: str = ""
    """As it was noted on the replica; empty until then."""


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica that exists, and the nodes that it was given: by its own spec, whatever its deployment says now."""

    identity: NamespacedName
    deployment: NamespacedName
    cluster: str
    index: int
    engines: tuple[PlacedEngine, ...] = ()
    ready: bool = False
    """All of it runs the current spec."""
    serving: bool = False
    """It answers requests."""
    served: bool = False
    """It did, once. Such a replica is never moved for capacity."""
    deleting: bool = False
    """It is being deleted: it is nobody's any more, and holds its nodes until it is gone."""
    created: str = ""
    """RFC 3339, which sorts as text. Empty where the server has not said."""
    spec_hash: str = ""
    """Of the deployment's spec that it was last given."""
    moving_for: str = ""
    """The spec that it makes way for: one that its pools have no room for, and a successor elsewhere has."""
    placed_under: str | None = None
    """The deployment's selector when it was placed; None where that was not noted."""
    previous: PreviousSpec | None = None
    """What it goes back to if others took the nodes that it grew into. None once all of it runs what it was given."""

    def nodes(self) -> dict[str, int]:
        """Whole nodes that it takes of each pool."""
        return nodes_of(self.engines)

    @property
    def has_served(self) -> bool:
        return self.served or self.serving

    @property
    def is_growing(self) -> bool:
        return self.previous is not None and self.has_served and not self.ready

    @property
    def proven(self) -> PreviousSpec:
        """What it served with, or has: while it grows, that is what it had before."""
        return self.previous if self.previous and self.is_growing else PreviousSpec(self.engines, self.spec_hash)


class ForeignReplica(NamedTuple):
    """A replica of another deployment on pools that have room for all: only what it takes matters."""

    nodes: Mapping[str, int]
    named: Callable[[], NamespacedName]
    """Its deployment; asked only where somebody wants to know who holds a pool."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """In any order: nothing that is decided depends on it."""

    clusters: Mapping[str, Cluster]
    replicas: tuple[Replica, ...] = ()
    others: Mapping[str, Sequence[ForeignReplica]] = field(default_factory=dict)
    """By cluster, those that are not among `replicas`: nothing is asked of them but what they take."""


def exceeds(nodes: Mapping[str, int], before: Mapping[str, int]) -> set[str]:
    """The pools of which more is taken than before."""
    return {pool for pool, count in nodes.items() if count > before.get(pool, 0)}


def nodes_of(engines: tuple[PlacedEngine, ...]) -> dict[str, int]:
    """Whole nodes by pool: a member that claims devices takes one for each of its pods, the others ride along."""
    taken: dict[str, int] = {}
    for engine in engines:
        for member in engine.members:
            if member.claims:
                taken[member.pool] = taken.get(member.pool, 0) + member.pods * engine.copies
    return taken
