"""What the scheduler decided: where each replica is, and what happens to it in this reconcile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from function.scheduling.capacity import Ledger
from function.scheduling.fit import Fit
from function.scheduling.fleet import PlacedEngine, PreviousSpec, Replica, exceeds, nodes_of
from function.scheduling.revision import Revision


class Action(Enum):
    """What happens to a replica in this reconcile."""

    KEEP = "keep"
    """It stays as it is."""
    UPDATE = "update"
    """It stays on its cluster and gets the current spec."""
    CREATE = "create"
    """It is new."""
    AWAIT_SUCCESSOR = "await successor"
    """It must leave its cluster, and serves until another replica replaces it."""


@dataclass(frozen=True, slots=True)
class Placement:
    """One replica on a cluster, existing or new."""

    cluster: str
    index: int
    """Number of the replica on its cluster, from 0. It is part of the replica's name."""
    action: Action
    engines: tuple[PlacedEngine, ...]
    """Its engines on their pools, once the plan is carried out."""
    fit: Fit | None = None
    """How the current spec fits on the cluster, if the replica gets the current spec; otherwise None."""
    replica: Replica | None = None
    """The replica as it exists; None if it is new."""
    previous: PreviousSpec | None = None
    """The spec that it returns to if another replica has the nodes that it grows into."""
    rolls_back: bool = False
    """Whether it returns to its previous spec now. Then `replica` is the replica as it was before it grew."""

    @property
    def takes_nodes(self) -> bool:
        """Whether it gets nodes that it does not have yet."""
        had = self.replica.nodes() if self.replica else {}
        return self.fit is not None and bool(exceeds(nodes_of(self.engines), had))

    @property
    def pools(self) -> tuple[str, ...]:
        """The names of its pools, sorted."""
        return tuple(sorted({member.pool for engine in self.engines for member in engine.members}))


class EvictionReason(Enum):
    """Why a replica must leave its cluster. The value is a clause for a condition's message."""

    EVICTED = "its cluster has a NoExecute taint that spec.tolerations does not tolerate"
    CLUSTER_DELETED = "its cluster is being deleted"
    POOLS_MISMATCH = "its pools no longer match the device selectors"
    SELECTOR_EDITED = "spec.clusterSelector no longer selects its cluster"
    PODS_FORBIDDEN = "the Pod Security level of its cluster does not admit the new spec"
    GROWN = "its pools have no room for the new spec"
    SUCCEEDED = "it is replaced once a replica with the current spec serves"


@dataclass(frozen=True, slots=True)
class TooFewServe:
    """Too few other replicas serve to update one that serves."""

    serving: int
    """Other replicas that serve."""
    needed: int
    """Other replicas that must serve."""


@dataclass(frozen=True, slots=True)
class NotProven:
    """The current revision was tried and has not served, so it is given to no replica that serves."""


Wait = TooFewServe | NotProven
"""Why a rollout does not continue by itself."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the replicas of one deployment go."""

    ledger: Ledger = field(compare=False, repr=False)
    """Free nodes once the plan is carried out, and before anything that it drops is gone."""
    sought: bool = field(default=False, compare=False)
    """Whether a place for a new replica was sought, so that all clusters had to be known."""
    further: Callable[[int], list[str]] = field(default=lambda _: [], compare=False, repr=False)
    """Return the clusters that would take up to a number of replicas more, the best first, if places were sought. The
    plan is used up: its ledger is charged."""
    stands_on: frozenset[str] = field(default=frozenset(), compare=False)
    """Clusters whose free nodes decide: those that get new replicas, and those on which a replica may get another spec
    in its place."""
    in_place: frozenset[str] = field(default=frozenset(), compare=False)
    """Those of `stands_on` on which a replica may get another spec in its place."""
    placements: tuple[Placement, ...] = ()
    """All replicas that exist after the plan, sorted by cluster and index."""
    wanted: int = 0
    """Replicas that the deployment wants."""
    departing: tuple[Replica, ...] = ()
    """Replicas that exist and have no placement. They hold their nodes until they are gone."""
    revisions: tuple[Revision, ...] = ()
    """What is known of the deployment's revisions, the current one first."""
    wait: Wait | None = None
    """Why the rollout does not continue by itself; None if it does."""
    leaving: Mapping[Replica, EvictionReason] = field(default_factory=dict)
    """Replicas that must leave their cluster and are still needed."""
    preempted: Mapping[Replica, Replica | None] = field(default_factory=dict)
    """Replicas that are dropped from an overcommitted pool, with the replica that has the nodes."""
    rolled_back: Mapping[Replica, Replica | None] = field(default_factory=dict)
    """Replicas that grew on an overcommitted pool and return to their previous spec, with the replica that has the
    nodes."""
    lost: tuple[Replica, ...] = ()
    """Replicas whose cluster is gone."""
    left_alone: tuple[Replica, ...] = ()
    """Replicas that count as current, although another version of the function composed their workloads."""

    @property
    def placed(self) -> tuple[Placement, ...]:
        """The placements that count as placed: all but those whose successor is placed already."""
        return tuple(p for p in self.placements if p.action is not Action.AWAIT_SUCCESSOR) + self._unreplaced

    @property
    def _unreplaced(self) -> tuple[Placement, ...]:
        """The replicas that must leave and have no successor yet."""
        settled = sum(p.action is not Action.AWAIT_SUCCESSOR for p in self.placements)
        waiting = [p for p in self.placements if p.action is Action.AWAIT_SUCCESSOR]
        return tuple(waiting[: max(0, self.wanted - settled)])

    @property
    def takes_nodes(self) -> bool:
        """Whether any placement gets nodes that it does not have yet."""
        return any(placement.takes_nodes for placement in self.placements)

    def moving_for(self, placement: Placement, spec_hash: str) -> str:
        """Return the hash to note on a replica that makes way for a successor with that spec; empty for any other.

        The next reconcile knows by the note that the replica leaves. Without it, the deployment would seem to have one
        replica too many, and the successor could be dropped before it serves.
        """
        why = self.leaving.get(placement.replica) if placement.replica else None
        return spec_hash if why in (EvictionReason.GROWN, EvictionReason.SUCCEEDED) and not self.missing else ""

    @property
    def missing(self) -> int:
        """Wanted replicas that have no placement, or only one that awaits its successor."""
        settled = sum(p.action is not Action.AWAIT_SUCCESSOR for p in self.placements)
        return max(0, self.wanted - settled)
