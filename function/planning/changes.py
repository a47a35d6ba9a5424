"""What changes between two outcomes, as plain data: replicas, deployments, services and pools."""

from __future__ import annotations

from dataclasses import dataclass

from function.core import NamespacedName
from function.planning import tiers
from function.planning.outcome import ClusterRejection, ReplicaOutcome, ServiceOutcome
from function.planning.tiers import Tiers
from function.planning.traffic import ShareChange


@dataclass(frozen=True, slots=True)
class ReplicaChange:
    """A replica before and after. `what` is new, kept, updated (its spec differs), moved or gone."""

    what: str
    deployment: NamespacedName
    replica: ReplicaOutcome
    was: str = ""
    """The cluster that it was on, if it moved."""
    was_name: str = ""
    """The name that it had there."""

    @property
    def state(self) -> str:
        """Whether it serves afterwards, in a word; empty if it is gone."""
        return "" if self.what == "gone" else "serves" if self.replica.serving else "starting"


@dataclass(frozen=True, slots=True)
class DeploymentLoss:
    """A deployment with fewer serving replicas than before, and fewer than it wants."""

    deployment: NamespacedName
    before: int
    after: int
    wanted: int


@dataclass(frozen=True, slots=True)
class ServiceChange:
    """A service before and after. `what` is new, kept, changed or gone."""

    what: str
    service: ServiceOutcome
    was_ready: int
    """Endpoints that were ready before."""
    tiers: Tiers = ()
    """Its priorities afterwards, if there are several."""
    was_tiers: Tiers = ()
    shares: tuple[ShareChange, ...] = ()
    """What its endpoints get of the requests, before and after."""
    has_other_entries: bool = False

    @property
    def is_shifted(self) -> bool:
        """Whether requests are split over its entries in another way, rather than over the endpoints of an entry."""
        sides = ([change.before for change in self.shares], [change.after for change in self.shares])
        was, now = ({share.entry for share in side if share} for side in sides)
        return self.what == "changed" and (self.has_other_entries or was != now)

    @property
    def identity(self) -> NamespacedName:
        return self.service.identity

    @property
    def is_lost(self) -> bool:
        """Whether it had a ready endpoint, and has none afterwards."""
        return self.was_ready > 0 and (self.what == "gone" or self.service.ready == 0)

    @property
    def state(self) -> str:
        """Its ready endpoints afterwards, in words; empty if it is gone."""
        return "" if self.what == "gone" else f"{self.service.ready} of {self.service.matched} ready"

    @property
    def answers(self) -> int | None:
        """The priority that answers afterwards; None if it has one priority only, or no endpoint answers."""
        return tiers.answers(self.tiers)

    @property
    def answered(self) -> int | None:
        """The priority that answered before."""
        return tiers.answers(self.was_tiers)

    @property
    def is_taken_over(self) -> bool:
        """Whether another priority answers than before."""
        return self.answers is not None and self.answered is not None and self.answers != self.answered


@dataclass(frozen=True, slots=True)
class DeploymentShortfall:
    """A deployment with fewer serving replicas than it wants, unless both numbers were the same before."""

    deployment: NamespacedName
    before: int
    after: int
    wanted: int
    why: str
    rejections: tuple[ClusterRejection, ...]


@dataclass(frozen=True, slots=True)
class RemovedPool:
    """A node pool that a cloud made, that its InferenceCluster does not have any more, and that replicas were on."""

    cluster: str
    pool: str
    replicas: int
    """Replicas that were on it."""
    left: int
    """Replicas that are still on it. While there are some, the cloud keeps the pool."""
