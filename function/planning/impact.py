"""The impact of edits on a fleet: which replicas move, which services have fewer endpoints, what capacity is left.

An impact is made of a comparison (comparison.py) and of what only a what-if knows: which clusters were lost or drained,
and how many endpoints a service had at the moment of a loss. It holds what changes, not the fleet: an N-1 report has as
many impacts as there are clusters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from function.core import NamespacedName
from function.planning import comparison, tiers
from function.planning.changes import DeploymentShortfall, ReplicaChange
from function.planning.exit_codes import NOTHING_CHANGES, SOMETHING_CHANGES, SOMETHING_IS_LOST
from function.planning.infrastructure_changes import InfrastructureChange
from function.planning.outcome import DeploymentOutcome, PlanOutcome, PoolOutcome, ServiceOutcome, StagedWeights

IN_PLACE = ("stops", "stays", "updated")
"""Changes of a replica that stays on its cluster."""
_TOLERANT = "the deployment tolerates every taint"


@dataclass(frozen=True, slots=True)
class ReplicaMove:
    """A replica that changes. `what` is moved, updated, new, removed or lost; stops, if it no longer serves; or stays,
    if it is still on a drained cluster."""

    what: str
    deployment: NamespacedName
    replica: str
    source: str
    """The cluster that it was on; empty for a new one."""
    target: str
    """The cluster that it is on; empty for one that is removed or lost."""
    pools: tuple[str, ...]
    serving: bool
    why: str = ""
    """Why it stays or stops."""
    predecessor: str = ""
    """The replica that it replaces, if it moved."""


@dataclass(frozen=True, slots=True)
class ServiceImpact:
    """The serving endpoints of a service: before, at the worst known moment, and after."""

    service: NamespacedName
    before: int
    meanwhile: int
    after: int
    answers: tuple[int | None, int | None, int | None] = (None, None, None)
    """The priorities that answer at these moments, of a service with several; None where no endpoint does."""

    @property
    def falls_short(self) -> bool:
        return self.after < self.before

    @property
    def is_silent(self) -> bool:
        """Whether it loses its last endpoint."""
        return self.after == 0 < self.before

    @property
    def is_dark(self) -> bool:
        """Whether it has no endpoint until replicas have moved."""
        return self.meanwhile == 0 < min(self.before, self.after)

    @property
    def is_taken_over(self) -> bool:
        """Whether another priority answers afterwards."""
        before, _, after = self.answers
        return after is not None and before is not None and after != before

    @property
    def is_bridged(self) -> bool:
        """Whether another priority answers until replicas have moved, but not afterwards."""
        before, meanwhile, after = self.answers
        return meanwhile is not None and meanwhile not in (before, after)


@dataclass(frozen=True, slots=True)
class PoolImpact:
    """A pool before and after; None if it does not exist."""

    cluster: str
    pool: str
    devices: str
    before: PoolOutcome | None
    after: PoolOutcome | None


@dataclass(frozen=True, slots=True)
class Impact:
    """What edits do to a fleet."""

    edits: tuple[str, ...]
    moves: tuple[ReplicaMove, ...]
    kept: int
    """Replicas that run the same on the same cluster."""
    shorts: tuple[DeploymentShortfall, ...]
    """Deployments with fewer serving replicas than they want."""
    staging: tuple[StagedWeights, ...]
    """Weights that are staged on a cluster where they were not before."""
    services: tuple[ServiceImpact, ...]
    infrastructure: tuple[InfrastructureChange, ...]
    """What clouds make and delete for clusters that are not lost."""
    rooms: tuple[PoolImpact, ...]
    """The pools whose nodes change, or what is free on them."""
    free: int
    """Free nodes of the whole fleet afterwards. Of pools whose nodes are shared, the pods that fit and take a whole
    node."""
    code: int
    """The exit code of a plan with the same changes."""

    @property
    def stuck(self) -> tuple[ReplicaMove, ...]:
        """Serving replicas that cannot leave a drained cluster."""
        return tuple(m for m in self.moves if m.what == "stays" and m.serving)

    @property
    def holds(self) -> bool:
        """Whether nothing that serves is lost, and no serving replica is stuck."""
        return self.exit_code != SOMETHING_IS_LOST

    @property
    def exit_code(self) -> int:
        """The exit code of a plan, except that a replica that cannot leave a drained cluster counts as lost."""
        if self.stuck:
            return SOMETHING_IS_LOST
        return self.code or (SOMETHING_CHANGES if self.moves or self.services else NOTHING_CHANGES)


def compare(
    edits: Sequence[str],
    before: PlanOutcome,
    after: PlanOutcome,
    *,
    lost: Collection[str] = (),
    drained: Collection[str] = (),
    meanwhile: Mapping[NamespacedName, Left] | None = None,
) -> Impact:
    """Compare the outcomes before and after some edits.

    Args:
        edits: The edits in words, in order.
        before: The outcome before the first edit.
        after: The outcome after the last edit.
        lost: Clusters that the edits lose.
        drained: Clusters that the edits drain and that still exist.
        meanwhile: By service, what was left of it directly after a loss, where that was least.
    """
    before, after = _unmade(before, lost), _unmade(without(after, lost), lost)
    changes = comparison.compare_changes(before, after, lambda d: any(r.cluster in drained for r in d.replicas))
    unchanged = _replicas(after) - _replicas(changes.outcome)
    return Impact(
        edits=tuple(edits),
        moves=tuple(_moves(changes, before.serving, lost, drained)),
        kept=unchanged + sum(change.what == "kept" for change in changes.changes),
        shorts=changes.shorts,
        staging=changes.staging,
        services=tuple(_service_changes(before, after, meanwhile or {})),
        infrastructure=changes.infrastructure,
        rooms=tuple(_rooms(before, after)),
        free=sum(max(0, pool.free) for pool in after.pools),
        code=changes.exit_code,
    )


def without(outcome: PlanOutcome, lost: Collection[str]) -> PlanOutcome:
    """An outcome without replicas, endpoints and weights on lost clusters.

    A deployment on hold keeps its ModelReplicas there, although nothing is behind them.
    """
    if not lost:
        return outcome
    gone = {e.identity for e in outcome.endpoints if e.cluster in lost}
    return replace(
        outcome,
        deployments=tuple(_staying(d, lost) for d in outcome.deployments),
        endpoints=tuple(e for e in outcome.endpoints if e.cluster not in lost),
        services=tuple(_led(s, gone) for s in outcome.services),
        weights=tuple(w for w in outcome.weights if w.cluster not in lost),
    )


def _unmade(outcome: PlanOutcome, lost: Collection[str]) -> PlanOutcome:
    """An outcome without what clouds make for lost clusters: that is lost with them, and no cloud deletes it."""
    if not lost or not outcome.infrastructure:
        return outcome
    return replace(outcome, infrastructure=tuple(m for m in outcome.infrastructure if m.cluster not in lost))


def _staying(deployment: DeploymentOutcome, lost: Collection[str]) -> DeploymentOutcome:
    """A deployment without its replicas on lost clusters: the same value if it has none there."""
    left = tuple(r for r in deployment.replicas if r.cluster not in lost)
    return deployment if len(left) == len(deployment.replicas) else replace(deployment, replicas=left)


def _led(service: ServiceOutcome, gone: Collection[NamespacedName]) -> ServiceOutcome:
    """A service without the endpoints that are gone: the same value if it leads to none of them."""
    routed = tuple(e for e in service.routed if (service.namespace, e) not in gone)
    fewer = len(service.routed) - len(routed)
    if not fewer:
        return service
    return replace(service, matched=service.matched - fewer, ready=max(0, service.ready - fewer), routed=routed)


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a service at some moment."""

    endpoints: int
    """Endpoints that answer."""
    answers: int | None
    """The priority that answers, of a service with several."""


def left(outcome: PlanOutcome) -> dict[NamespacedName, Left]:
    """What is left of each service."""
    counts, several = tiers.serving_endpoints(outcome), tiers.of(outcome)
    one = {name: Left(count, None) for name, count in counts.items()}
    return {
        **one,
        **{name: Left(sum(t.answering for t in found), tiers.answers(found)) for name, found in several.items()},
    }


def _replicas(outcome: PlanOutcome) -> int:
    return sum(len(d.replicas) for d in outcome.deployments)


# What changed


def _moves(
    changes: comparison.PlanComparison,
    served: Collection[NamespacedName],
    lost: Collection[str],
    drained: Collection[str],
) -> Iterator[ReplicaMove]:
    why = {d.identity: d.why for d in changes.outcome.deployments}
    for change in changes.changes:
        cluster, reason = change.replica.cluster, change.replica.why or why.get(change.deployment, "")
        stops = (
            not change.replica.serving and NamespacedName(change.deployment.namespace, change.replica.name) in served
        )
        if change.what == "gone":
            yield _move("lost" if cluster in lost else "removed", change, source=cluster)
        elif cluster in drained:
            yield _move("stays", change, source=cluster, target=cluster, why=reason or _TOLERANT)
        elif stops:
            yield _move("stops", change, source=cluster, target=cluster, why=reason)
        elif change.what != "kept":
            source = cluster if change.what in IN_PLACE else change.was
            yield _move(change.what, change, source=source, target=cluster)


def _move(what: str, change: ReplicaChange, *, source: str, target: str = "", why: str = "") -> ReplicaMove:
    replica = change.replica
    return ReplicaMove(
        what, change.deployment, replica.name, source, target, replica.pools, replica.serving, why, change.was_name
    )


def _service_changes(
    before: PlanOutcome, after: PlanOutcome, meanwhile: Mapping[NamespacedName, Left]
) -> Iterator[ServiceImpact]:
    old, new = left(before), left(after)
    for service in sorted({*old, *new}):
        was, now = old.get(service, _NOTHING), new.get(service, _NOTHING)
        between = meanwhile.get(service, was)
        least = min(was.endpoints, now.endpoints, between.endpoints)
        answers = was.answers, between.answers, now.answers
        if len({was.endpoints, now.endpoints, least}) > 1 or len({*answers}) > 1:
            yield ServiceImpact(service, was.endpoints, least, now.endpoints, answers)


_NOTHING = Left(0, None)


def _rooms(before: PlanOutcome, after: PlanOutcome) -> Iterator[PoolImpact]:
    first, second = comparison.differing(before.pools, after.pools)
    old = {(p.cluster, p.name): p for p in first}
    new = {(p.cluster, p.name): p for p in second}
    for key in sorted({*old, *new}):
        was, now = old.get(key), new.get(key)
        if _room(was) != _room(now):
            yield PoolImpact(*key, (new.get(key) or old[key]).devices, was, now)


def _room(pool: PoolOutcome | None) -> tuple[object, ...] | None:
    return (pool.nodes, pool.free, pool.shared) if pool else None
