"""The fleet as the scheduler sees it: clusters, pools, devices, and the replicas that are placed on them.

Plain values, without Kubernetes in them. `function/fleet` reads them from manifests.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from function.core import NamespacedName
from function.scheduling.packing import Resources
from function.scheduling.selector import Selector
from function.vocabulary import pod_security

if TYPE_CHECKING:
    from function.scheduling.account import Free
    from function.scheduling.seen import Seen

NodeResources = tuple[int | None, int | None, int | None]
"""Millicores of cpu, bytes of memory and bytes of ephemeral storage; None for each that is not known."""


@dataclass(frozen=True, slots=True)
class Device:
    """An entry of an InferenceClass: a number of like devices on every node of a pool."""

    name: str
    count: int
    """Devices on one node. Zero or less counts as none."""
    device_class: str | None
    """The DRA DeviceClass. None for a Synthetic device, which can be matched but not claimed."""
    published: Hashable
    """The device as selectors see it. Equal content gets equal verdicts."""
    memory: int | None = None
    """Bytes of memory of one device; None if it publishes none. Best fit prefers small devices."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class NodeShape:
    """The devices of one node, and what it has for the requests of pods.

    Shapes are compared by identity, which is fast. Code that builds a fleet must give like nodes the same shape.
    """

    devices: tuple[Device, ...] = ()
    node: NodeResources = (None, None, None)
    """Its cpu, memory and ephemeral storage. None: it is not known, and requests for it are not counted."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A node pool: a number of like nodes."""

    name: str
    nodes: int
    """Whole nodes that the pool can have, including those that an autoscaler can add; never negative."""
    shape: NodeShape
    """The devices of each node."""
    shared: bool = False
    """Whether pods share the nodes. Otherwise a pod that claims devices takes a whole node."""
    seen: Seen | None = None
    """What is observed of its nodes, for new pods; None if nothing is, and what is declared counts."""


@dataclass(frozen=True, slots=True, order=True)
class Taint:
    """A taint of a cluster. It keeps replicas off the cluster; it is not a taint of nodes, and pods do not see it."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """An InferenceCluster."""

    name: str
    ready: bool = True
    """Whether it serves: its status.serving is true."""
    has_address: bool = True
    """Whether its gateway has an address. Without one a replica cannot be reached."""
    deleting: bool = False
    """Whether it is being deleted, or somebody tried to delete it and was refused because it is in use."""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    pod_security: pod_security.Level = pod_security.DEFAULT
    """The level of Pod Security that the pods of new replicas must satisfy."""
    pools: tuple[Pool, ...] = ()
    """The pools that it publishes. Empty if it publishes none at the moment."""
    capacity_object: str | None = None
    """What tells what is observed of its nodes; None if nothing is observed."""

    def pool(self, name: str) -> Pool | None:
        """Return the pool with a name, or None."""
        return next((pool for pool in self.pools if pool.name == name), None)


@dataclass(frozen=True, slots=True)
class Claimed:
    """Devices that each pod of a placed member claims."""

    count: int
    device_class: str
    selectors: tuple[Selector, ...] | None
    """None if they cannot be read."""


@dataclass(frozen=True, slots=True)
class PodNeeds:
    """What each pod of a placed member asks of its node."""

    claims: tuple[Claimed, ...] = ()
    resources: Resources = (0, 0, 0)


def no_needs() -> PodNeeds:
    """Return the needs of a pod that asks for nothing."""
    return PodNeeds()


@dataclass(frozen=True, slots=True)
class PlacedMember:
    """A member of an engine, on a pool."""

    role: str
    """Standalone, Leader or Worker."""
    pods: int
    """Pods of one copy of the engine."""
    pool: str
    """The name of the pool."""
    claims: bool
    """Whether its pods claim devices. If so, each takes a whole node, unless nodes are shared; otherwise they take
    none."""
    needs: Callable[[], PodNeeds] = field(default=no_needs, compare=False, repr=False)
    """Return what each pod asks of its node. It is read on demand, for pools whose nodes are shared."""


@dataclass(frozen=True, slots=True)
class PlacedEngine:
    """An engine of a replica, on the pools of a cluster."""

    name: str
    copies: int
    members: tuple[PlacedMember, ...]
    """Sorted by role."""


Specs = tuple[tuple[PlacedEngine, ...], ...]
"""The engines of one spec or more."""


@dataclass(frozen=True, slots=True)
class PreviousSpec:
    """The spec that a replica served with before it was given one that takes more nodes on the same cluster."""

    engines: tuple[PlacedEngine, ...]
    spec_hash: str
    """The revision that it served with."""
    noted: str = ""
    """The text of the annotation that records it; empty until it is written."""
    between: Specs = field(default=(), compare=False)
    """The specs that it was given since, before its own, of which pods may run on shared nodes."""


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica that exists, with the nodes that it was given by its own spec."""

    identity: NamespacedName
    deployment: NamespacedName
    """The deployment that it belongs to. The name is in the form of a label value."""
    cluster: str
    """The name of its cluster, which may be gone."""
    index: int
    """Number of the replica on its cluster, from 0."""
    engines: tuple[PlacedEngine, ...] = ()
    """Its engines on their pools, sorted by name. The pools may be gone."""
    ready: bool = False
    """Whether all of it runs its own spec."""
    answered: bool = True
    """Whether its workloads were composed when its status was written. Otherwise `ready` may be older than its
    revision."""
    serving: bool = False
    """Whether it answers requests, perhaps with the spec before its own."""
    served: bool = False
    """Whether it has ever served. Such a replica is never moved for lack of capacity."""
    deleting: bool = False
    """Whether it is being deleted. It holds its nodes until it is gone."""
    created: str = ""
    """creationTimestamp in RFC 3339, which sorts as text. Empty if the API server has not set it."""
    spec_hash: str = ""
    """The revision of the deployment that it was last given. Empty if none was noted."""
    held_back: bool = False
    """Whether it has the spec of the job, although not its revision: another version of the function composed its
    workloads."""
    awaits_turn: bool = False
    """Whether it says so itself. Until it does, what it says later cannot be told from what it said before its turn."""
    moving_for: str = ""
    """The revision that it makes way for, because a successor gets it; empty if there is none."""
    placed_under: str | None = None
    """The deployment's cluster selector when the replica was placed, as JSON; None if it was not noted."""
    previous: PreviousSpec | None = None
    """The spec that it returns to if another replica has the nodes that it grows into."""

    def nodes(self) -> dict[str, int]:
        """Return the whole nodes that it takes of each pool, by name."""
        return nodes_of(self.engines)

    @property
    def specs(self) -> Specs:
        """The specs of which pods may run, the oldest first: its previous one while it goes over to its own."""
        if self.previous is None or not self.is_growing:
            return (self.engines,)
        return self.previous.engines, *self.previous.between, self.engines

    @property
    def has_served(self) -> bool:
        """Whether it serves or has ever served."""
        return self.served or self.serving

    @property
    def is_growing(self) -> bool:
        """Whether it was given more nodes after it had served, and is not ready with them yet."""
        return self.previous is not None and self.has_served and not self.ready

    @property
    def may_give_way(self) -> bool:
        """Whether other replicas on its cluster matter to it: it has nodes that it may have to give back."""
        return not self.deleting and (not self.has_served or self.is_growing)

    @property
    def proven(self) -> PreviousSpec:
        """The spec that it served with last: its previous one while it grows, otherwise its own."""
        return self.previous if self.previous and self.is_growing else PreviousSpec(self.engines, self.spec_hash)


class Occupant(Protocol):
    """A replica that takes something of a cluster. Its properties may be read from a manifest on demand."""

    @property
    def deployment(self) -> NamespacedName:
        """The deployment that it belongs to."""

    @property
    def identity(self) -> NamespacedName:
        """Its name."""

    @property
    def specs(self) -> Specs:
        """The specs of which its pods may run."""


class ForeignReplica(NamedTuple):
    """A replica of which only what it takes matters: one of another deployment, on a cluster that is not contested."""

    nodes: Mapping[str, int]
    """Whole nodes by the name of the pool."""
    details: Occupant
    """The replica itself. It is read for explanations, and for pools whose nodes are shared or observed."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Everything that a plan is made from, besides the job. The order of its parts does not matter.

    It may be a part of the fleet. Then the plan says what it would have to know of the rest (`Plan.sought`,
    `Plan.stands_on`).
    """

    clusters: Mapping[str, Cluster]
    """All clusters by name, or at least those of the deployment's replicas."""
    replicas: tuple[Replica, ...] = ()
    """All replicas of the deployment, and those of others that share an overcommitted cluster with them."""
    others: Mapping[str, Sequence[ForeignReplica]] = field(default_factory=dict)
    """All other replicas by cluster."""
    published: Mapping[str, Mapping[str, Free] | None] = field(default_factory=dict)
    """Clusters of which the replicas of others are not known, with what is free on each pool as it is published. The
    deployment's own replicas are not free in these numbers. None if nothing usable is published."""
    reserved: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Indices on each cluster that no new replica gets, because replicas of an earlier deployment of the same name have
    the names that follow from them until they are gone."""


def exceeds(nodes: Mapping[str, int], before: Mapping[str, int]) -> set[str]:
    """Return the pools of which `nodes` has more than `before`. Both count nodes by the name of the pool."""
    return {pool for pool, count in nodes.items() if count > before.get(pool, 0)}


def nodes_of(engines: tuple[PlacedEngine, ...]) -> dict[str, int]:
    """Return the whole nodes that engines take, by the name of the pool, as if no pool were shared.

    A member that claims devices takes one node for each of its pods, in each copy of its engine. A member that claims
    none takes none: its pods share the nodes of the others.
    """
    taken: dict[str, int] = {}
    for engine in engines:
        for member in engine.members:
            if member.claims:
                taken[member.pool] = taken.get(member.pool, 0) + member.pods * engine.copies
    return taken
