"""The outcome of a plan as plain data: replicas and their workloads, what is not placed and why, free capacity.

parts.py reads it from a store, and reader.py again and again. Nothing else reads the store behind plan and what-if:
reports and comparisons work on the outcome alone, and on the differences of objects (differences.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from function.core import NamespacedName
from function.planning.infrastructure import Infrastructure


@dataclass(frozen=True, slots=True)
class _Identified:
    """An object with a namespace and a name."""

    namespace: str
    name: str

    @property
    def identity(self) -> NamespacedName:
        return NamespacedName(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class RemoteResource:
    """A resource on an inference cluster."""

    kind: str
    namespace: str
    name: str
    ready: bool


@dataclass(frozen=True, slots=True)
class ReplicaOutcome:
    """A ModelReplica."""

    name: str
    cluster: str
    pools: tuple[str, ...]
    ready: bool
    serving: bool
    why: str
    """Why it is not ready; empty if it is."""
    accepted: str
    """The message of ModelAccepted: what each engine was taken for, its port, and what it is given."""
    revision: str
    """A digest of its spec: replicas with equal revisions run the same."""
    becomes: tuple[RemoteResource, ...]
    """What it composed on its cluster."""


@dataclass(frozen=True, slots=True)
class ClusterRejection:
    """Why a deployment has no further replica on a cluster."""

    cluster: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class DeploymentOutcome(_Identified):
    """A ModelDeployment."""

    wanted: int
    replicas: tuple[ReplicaOutcome, ...]
    why: str
    """Why it differs from its spec; empty if it does not."""
    rejections: tuple[ClusterRejection, ...]

    @property
    def serving(self) -> int:
        return sum(replica.serving for replica in self.replicas)

    @property
    def missing(self) -> int:
        """Replicas that are not placed."""
        return max(0, self.wanted - len(self.replicas))

    @property
    def troubled(self) -> tuple[ReplicaOutcome, ...]:
        """Replicas with a problem that the deployment's own message does not repeat."""
        return tuple(r for r in self.replicas if r.why and f": {r.why.partition(': ')[2]}" not in self.why)


@dataclass(frozen=True, slots=True)
class SharedDevices:
    """Devices of a pool whose nodes are shared."""

    name: str
    total: int
    free: int
    """Devices that no replica claims."""
    guaranteed: tuple[tuple[int, int], ...]
    """Pairs of a number of devices and the pods that claim so many and fit, wherever the other pods are."""


@dataclass(frozen=True, slots=True)
class PoolOutcome:
    """A pool of an InferenceCluster, and its free nodes."""

    cluster: str
    name: str
    devices: str
    nodes: int
    free: int
    """Of a pool whose nodes are shared, the pods that fit and take a whole node."""
    shared: tuple[SharedDevices, ...] = ()
    """The devices, if the nodes are shared."""


@dataclass(frozen=True, slots=True)
class ClusterOutcome:
    """An InferenceCluster."""

    name: str
    ready: bool
    gateway: str
    why: str
    """A problem that it reports; empty if there is none. It may be ready: one of several pools can lack its class."""


@dataclass(frozen=True, slots=True)
class EndpointOutcome(_Identified):
    """A ModelEndpoint."""

    url: str
    cluster: str
    """Empty for an outside provider's."""
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """An entry of a ModelService."""

    priority: int
    selector: tuple[tuple[str, str], ...]
    """The labels that its endpoints have."""
    weight: int = 1
    model: str = ""
    """The name under which requests ask these endpoints for the model, if it is another."""


@dataclass(frozen=True, slots=True)
class ServiceOutcome(_Identified):
    """A ModelService."""

    address: str
    matched: int
    ready: int
    routed: tuple[str, ...] = field(compare=False)
    """Names of the endpoints that get traffic."""
    priority: int | None = None
    """The priority that answers, as the service itself reports it. Only one with a proxy of its own does."""
    entries: tuple[ServiceEntry, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class StagedWeights(_Identified):
    """Weights of a ModelCache that are on a cluster, or are being staged there."""

    cluster: str
    gib: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """A problem that an object of another kind reports. It may be ready: a service can lack room for one endpoint."""

    kind: str
    namespace: str
    name: str
    why: str

    @property
    def identity(self) -> NamespacedName:
        return NamespacedName(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """A whole fleet, in order of names."""

    deployments: tuple[DeploymentOutcome, ...]
    clusters: tuple[ClusterOutcome, ...]
    pools: tuple[PoolOutcome, ...]
    endpoints: tuple[EndpointOutcome, ...]
    services: tuple[ServiceOutcome, ...]
    weights: tuple[StagedWeights, ...]
    troubles: tuple[Trouble, ...]
    infrastructure: tuple[Infrastructure, ...] = ()
    """What clouds make for the clusters."""

    @property
    def serving(self) -> frozenset[NamespacedName]:
        """The replicas that serve."""
        return frozenset(NamespacedName(d.namespace, r.name) for d in self.deployments for r in d.replicas if r.serving)

    @property
    def problems(self) -> Iterator[tuple[str, str, str]]:
        """Kind, name and message of every problem of objects other than deployments and replicas."""
        yield from (("InferenceCluster", cluster.name, cluster.why) for cluster in self.clusters if cluster.why)
        yield from ((trouble.kind, str(trouble.identity), trouble.why) for trouble in self.troubles)


def same(old: Any, new: Any) -> bool:
    """Whether two outcomes are equal in every field. A service's endpoints are no part of its own equality."""
    is_service = isinstance(new, ServiceOutcome)
    return bool(old == new and (not is_service or (old.routed, old.entries) == (new.routed, new.entries)))
