"""What the scheduler decided: where each replica is, and what happens to it on this pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from function.scheduling.capacity import Ledger
from function.scheduling.fit import Fit
from function.scheduling.fleet import PlacedEngine, PreviousSpec, Replica, exceeds, nodes_of
from function.scheduling.revision import Revision


class Action(Enum):
    KEEP = "keep"
    """It stays as it is."""
    UPDATE = "update"
    """It stays where it is and is given the current spec."""
    CREATE = "create"
    """It is new."""
    AWAIT_SUCCESSOR = "await successor"
    """It must go, and serves until another does in its place."""


@dataclass(frozen=True, slots=True)
class Placement:
    cluster: str
    index: int
    action: Action
    engines: tuple[PlacedEngine, ...]
    """As it stands, or as it will."""
    fit: Fit | None = None
    """What it is given, where it is given the current spec."""
    replica: Replica | None = None
    """The one that exists; None where it is new."""
    previous: PreviousSpec | None = None
    """What it goes back to if others took the nodes that it grows into."""
    rolls_back: bool = False
    """It goes back to it now; `replica` is as it was before."""

    @property
    def takes_nodes(self) -> bool:
        """Whether it is given nodes that it has not."""
        had = self.replica.nodes() if self.replica else {}
        return self.fit is not None and bool(exceeds(nodes_of(self.engines), had))

    @property
    def pools(self) -> tuple[str, ...]:
        return tuple(sorted({member.pool for engine in self.engines for member in engine.members}))


class EvictionReason(Enum):
    """Why a replica must leave where it stands."""

    EVICTED = "its cluster has a taint NoExecute that spec.tolerations do not tolerate"
    CLUSTER_DELETED = "its cluster is being deleted"
    POOLS_MISMATCH = "its pools no longer match the device selectors"
    SELECTOR_EDITED = "spec.clusterSelector no longer selects its cluster"
    GROWN = "its pools have no room for the new spec"
    SUCCEEDED = "a replica with the current spec takes its place once it serves"


@dataclass(frozen=True, slots=True)
class TooFewServe:
    """A serving replica is not updated while fewer than `needed` others serve."""

    serving: int
    """The others that serve."""
    needed: int


@dataclass(frozen=True, slots=True)
class NotProven:
    """The current revision was tried and has not served, so no serving replica is given it."""


Wait = TooFewServe | NotProven
"""Why a rollout does not go on by itself."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Sorted by cluster and index."""

    ledger: Ledger = field(compare=False, repr=False)
    """Nodes that are free once the plan is carried out, and before anything that it drops is gone."""
    placements: tuple[Placement, ...] = ()
    wanted: int = 0
    departing: tuple[Replica, ...] = ()
    """Replicas that exist and have no placement. They hold their nodes until they are gone."""
    revisions: tuple[Revision, ...] = ()
    """What is known of the deployment's revisions, the current one first."""
    wait: Wait | None = None
    leaving: Mapping[Replica, EvictionReason] = field(default_factory=dict)
    """Those that must go and are still there."""
    preempted: Mapping[Replica, Replica | None] = field(default_factory=dict)
    """Those dropped from an overcommitted pool, and for whom."""
    rolled_back: Mapping[Replica, Replica | None] = field(default_factory=dict)
    """Those that grew on an overcommitted pool and go back to what they had, and for whom."""
    lost: tuple[Replica, ...] = ()
    """Those whose cluster is gone."""

    @property
    def placed(self) -> tuple[Placement, ...]:
        """Without those that only wait for a successor which is placed already."""
        return tuple(p for p in self.placements if p.action is not Action.AWAIT_SUCCESSOR) + self._unreplaced

    @property
    def _unreplaced(self) -> tuple[Placement, ...]:
        """Those that must go, as far as no successor is placed for them."""
        settled = sum(p.action is not Action.AWAIT_SUCCESSOR for p in self.placements)
        waiting = [p for p in self.placements if p.action is Action.AWAIT_SUCCESSOR]
        return tuple(waiting[: max(0, self.wanted - settled)])

    @property
    def takes_nodes(self) -> bool:
        return any(placement.takes_nodes for placement in self.placements)

    def moving_for(self, placement: Placement, spec_hash: str) -> str:
        """What to note on a placement: that it makes way for a spec, once a successor is placed. Without that it would
        be taken for one replica too many, and the successor dropped before it serves."""
        why = self.leaving.get(placement.replica) if placement.replica else None
        return spec_hash if why in (EvictionReason.GROWN, EvictionReason.SUCCEEDED) and not self.missing else ""

    @property
    def missing(self) -> int:
        """Replicas that are wanted and not placed in full: absent, or where they must not stay, or of an older spec."""
        settled = sum(p.action is not Action.AWAIT_SUCCESSOR for p in self.placements)
        return max(0, self.wanted - settled)
