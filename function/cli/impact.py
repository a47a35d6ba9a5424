"""What would come of an edit: who moves where, which services fall short, and the room that is left."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from function.core import NamespacedName
from function.planning import comparison
from function.planning.comparison import NOTHING_CHANGES, SOMETHING_CHANGES, SOMETHING_IS_LOST, Short
from function.planning.outcome import Outcome, Pool, Service

IN_PLACE = ("stops", "stays", "updated")
"""What happens to a replica where it is."""
_TOLERANT = "the deployment tolerates every taint"


@dataclass(frozen=True, slots=True)
class Move:
    """A replica that does not go on as before. `what` is moved, updated, new, removed or lost; stops, where it serves
    no more; stays, on a cluster that is drained."""

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


@dataclass(frozen=True, slots=True)
class ServiceChange:
    """The endpoints that answer for a service: before, at the worst moment that is certain, and after."""

    service: NamespacedName
    before: int
    meanwhile: int
    after: int

    @property
    def falls_short(self) -> bool:
        return self.after < self.before

    @property
    def is_silent(self) -> bool:
        """Whether nobody answers any more."""
        return self.after == 0 < self.before

    @property
    def is_dark(self) -> bool:
        """Whether nobody answers until replicas have moved."""
        return self.meanwhile == 0 < min(self.before, self.after)


@dataclass(frozen=True, slots=True)
class Room:
    """Nodes of a pool, all and free. None where the pool is not there."""

    cluster: str
    pool: str
    devices: str
    before: tuple[int, int] | None
    after: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Outlook:
    edits: tuple[str, ...]
    changes: comparison.Report
    """As a plan has them."""
    moves: tuple[Move, ...]
    services: tuple[ServiceChange, ...]
    rooms: tuple[Room, ...]
    """Of the pools that have other nodes, or other nodes free."""
    free: int
    """Nodes that are free afterwards, in the whole fleet."""

    @property
    def shorts(self) -> tuple[Short, ...]:
        return self.changes.shorts

    @property
    def stuck(self) -> tuple[Move, ...]:
        """What serves on a drained cluster and would go with it."""
        return tuple(m for m in self.moves if m.what == "stays" and m.serving)

    @property
    def holds(self) -> bool:
        """Whether as much serves as before, and nothing stays where it should not."""
        return self.exit_code != SOMETHING_IS_LOST

    @property
    def exit_code(self) -> int:
        """A plan's, but that what cannot leave a drained cluster counts as lost with it."""
        if self.stuck:
            return SOMETHING_IS_LOST
        return self.changes.exit_code or (SOMETHING_CHANGES if self.moves or self.services else NOTHING_CHANGES)


def compare(
    edits: Sequence[str],
    before: Outcome,
    after: Outcome,
    *,
    lost: Collection[str] = (),
    drained: Collection[str] = (),
    meanwhile: Mapping[NamespacedName, int] | None = None,
) -> Outlook:
    """`meanwhile` has the endpoints that were left of each service when a cluster was lost."""
    after = without(after, lost)
    changes = comparison.compare(before, after)
    return Outlook(
        edits=tuple(edits),
        changes=changes,
        moves=tuple(_moves(changes, _serving(before), lost, drained)),
        services=tuple(_service_changes(before, after, meanwhile or {})),
        rooms=tuple(_rooms(before, after)),
        free=sum(max(0, pool.free) for pool in after.pools),
    )


def without(outcome: Outcome, lost: Collection[str]) -> Outcome:
    """An outcome without what is on lost clusters: a deployment that is on hold keeps its replicas there in name."""
    if not lost:
        return outcome
    gone = {e.identity for e in outcome.endpoints if e.cluster in lost}
    return replace(
        outcome,
        deployments=tuple(
            replace(d, replicas=tuple(r for r in d.replicas if r.cluster not in lost)) for d in outcome.deployments
        ),
        endpoints=tuple(e for e in outcome.endpoints if e.cluster not in lost),
        services=tuple(
            _led(s, frozenset(e for e in s.routed if NamespacedName(s.namespace, e) not in gone))
            for s in outcome.services
        ),
        weights=tuple(w for w in outcome.weights if w.cluster not in lost),
    )


def _led(service: Service, left: frozenset[str]) -> Service:
    """A service of whose endpoints some are left."""
    gone = len(service.routed) - len(left)
    routed = tuple(e for e in service.routed if e in left)
    return replace(service, matched=service.matched - gone, ready=max(0, service.ready - gone), routed=routed)


def answering(outcome: Outcome) -> dict[NamespacedName, int]:
    """By service, how many of the endpoints that get its traffic have somebody behind them."""
    silent = {
        NamespacedName(d.namespace, r.name) for d in outcome.deployments for r in d.replicas if not r.serving
    }  # fmt: skip
    return {s.identity: sum(NamespacedName(s.namespace, e) not in silent for e in s.routed) for s in outcome.services}


# What changed


def _serving(outcome: Outcome) -> frozenset[NamespacedName]:
    return frozenset(NamespacedName(d.namespace, r.name) for d in outcome.deployments for r in d.replicas if r.serving)


def _moves(
    changes: comparison.Report, served: Collection[NamespacedName], lost: Collection[str], drained: Collection[str]
) -> Iterator[Move]:
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


def _move(what: str, change: comparison.Change, *, source: str, target: str = "", why: str = "") -> Move:
    replica = change.replica
    return Move(what, change.deployment, replica.name, source, target, replica.pools, replica.serving, why)


def _service_changes(
    before: Outcome, after: Outcome, meanwhile: Mapping[NamespacedName, int]
) -> Iterator[ServiceChange]:
    old, new = answering(before), answering(after)
    for service in sorted({*old, *new}):
        counts = old.get(service, 0), new.get(service, 0)
        least = min(*counts, meanwhile.get(service, counts[0]))
        if len({*counts, least}) > 1:
            yield ServiceChange(service, counts[0], least, counts[1])


def _rooms(before: Outcome, after: Outcome) -> Iterator[Room]:
    old = {(p.cluster, p.name): p for p in before.pools}
    new = {(p.cluster, p.name): p for p in after.pools}
    for key in sorted({*old, *new}):
        was, now = _nodes(old.get(key)), _nodes(new.get(key))
        if was != now:
            yield Room(*key, (new.get(key) or old[key]).devices, was, now)


def _nodes(pool: Pool | None) -> tuple[int, int] | None:
    return (pool.nodes, pool.free) if pool else None
