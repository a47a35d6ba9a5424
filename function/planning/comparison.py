"""What changed between two outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from function.core import NamespacedName
from function.planning.outcome import Deployment, Endpoint, Outcome, Rejection, Replica, Service, Weights

NOTHING_CHANGES, SOMETHING_IS_LOST, SOMETHING_CHANGES = 0, 2, 3


@dataclass(frozen=True, slots=True)
class Change:
    """A replica before and after. `what` is new, kept, updated (its spec is another), moved or gone."""

    what: str
    deployment: NamespacedName
    replica: Replica
    was: str = ""
    """The cluster that it was on, if it moved."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A deployment of which less serves than before, and less than it wants."""

    deployment: NamespacedName
    before: int
    after: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Answering:
    """A service before and after. `what` is new, kept, changed or gone."""

    what: str
    service: Service
    was_ready: int
    """Endpoints that were."""

    @property
    def identity(self) -> NamespacedName:
        return self.service.identity

    @property
    def is_lost(self) -> bool:
        """Whether it answered, and would not."""
        return self.was_ready > 0 and (self.what == "gone" or self.service.ready == 0)


@dataclass(frozen=True, slots=True)
class Short:
    """A deployment of which less serves than it wants, where it wanted or served another number before."""

    deployment: NamespacedName
    before: int
    after: int
    wanted: int
    why: str
    rejections: tuple[Rejection, ...]


@dataclass(frozen=True, slots=True)
class Report:
    outcome: Outcome
    changes: tuple[Change, ...]
    losses: tuple[Loss, ...]
    shorts: tuple[Short, ...]
    endpoints: tuple[tuple[str, str, str], ...]
    """What, name and URL."""
    services: tuple[Answering, ...]
    staging: tuple[Weights, ...]
    """Weights that go where they were not before."""

    @property
    def silenced(self) -> tuple[Answering, ...]:
        """Services that answered, and would not."""
        return tuple(service for service in self.services if service.is_lost)

    @property
    def exit_code(self) -> int:
        if self.losses or self.silenced:
            return SOMETHING_IS_LOST
        whats = (*(c.what for c in self.changes), *(e[0] for e in self.endpoints), *(s.what for s in self.services))
        changed = self.shorts or self.staging or any(what != "kept" for what in whats)
        return SOMETHING_CHANGES if changed else NOTHING_CHANGES


def compare(before: Outcome, after: Outcome) -> Report:
    return Report(
        outcome=after,
        changes=tuple(_changes(before, after)),
        losses=tuple(_losses(before, after)),
        shorts=tuple(_shorts(before, after)),
        endpoints=tuple(_endpoints(before, after)),
        services=tuple(_services(before, after)),
        staging=tuple(_staging(before, after)),
    )


def _changes(before: Outcome, after: Outcome) -> Iterator[Change]:
    old = {d.identity: d for d in before.deployments}
    new = {d.identity: d for d in after.deployments}
    for name in sorted({*old, *new}):
        yield from _replica_changes(name, _replicas(old.get(name)), _replicas(new.get(name)))


def _replicas(deployment: Deployment | None) -> dict[str, Replica]:
    return {r.name: r for r in deployment.replicas} if deployment else {}


def _replica_changes(name: NamespacedName, old: dict[str, Replica], new: dict[str, Replica]) -> Iterator[Change]:
    """A replica that is on another cluster has another name: one that went and one that came are one that moved."""
    went = [old[n] for n in sorted(old.keys() - new.keys())]
    came = [new[n] for n in sorted(new.keys() - old.keys())]
    for was, replica in ((old[n], new[n]) for n in sorted(new.keys() & old.keys())):
        yield Change("kept" if was.revision == replica.revision else "updated", name, replica)
    for was, replica in zip(went, came, strict=False):
        yield Change("moved", name, replica, was.cluster)
    for replica in came[len(went) :]:
        yield Change("new", name, replica)
    for replica in went[len(came) :]:
        yield Change("gone", name, replica)


def _losses(before: Outcome, after: Outcome) -> Iterator[Loss]:
    now = {d.identity: d for d in after.deployments}
    for old in before.deployments:
        new = now.get(old.identity)
        serving, wanted = (new.serving, new.wanted) if new else (0, old.wanted)
        if serving < min(old.serving, wanted):
            yield Loss(old.identity, old.serving, serving, wanted)


def _shorts(before: Outcome, after: Outcome) -> Iterator[Short]:
    old = {d.identity: (d.serving, d.wanted) for d in before.deployments}
    for deployment in after.deployments:
        counts = deployment.serving, deployment.wanted
        was = old.get(deployment.identity, (0, 0))
        if deployment.serving < deployment.wanted and counts != was:
            yield Short(deployment.identity, was[0], *counts, deployment.why, deployment.rejections)


def _staging(before: Outcome, after: Outcome) -> Iterator[Weights]:
    there = {(w.namespace, w.name, w.cluster) for w in before.weights}
    return (w for w in after.weights if (w.namespace, w.name, w.cluster) not in there)


def _implied(before: Outcome, after: Outcome) -> Iterator[Endpoint]:
    """A dump of replicas alone says nothing of endpoints: those of the replicas that served were there."""
    served = {NamespacedName(d.namespace, r.name) for d in before.deployments for r in d.replicas if r.serving}
    return (e for e in after.endpoints if e.identity in served)


def _endpoints(before: Outcome, after: Outcome) -> Iterator[tuple[str, str, str]]:
    old = {e.identity: e.url for e in before.endpoints or _implied(before, after)}
    new = {e.identity: e.url for e in after.endpoints}
    for name in sorted({*old, *new}):
        yield _what(old.get(name), new.get(name)), str(name), new.get(name) or old[name]


def _services(before: Outcome, after: Outcome) -> Iterator[Answering]:
    """One that has no address yet is not there yet, to those who ask it."""
    old = {s.identity: s for s in before.services}
    new = {s.identity: s for s in after.services}
    for name in sorted({*old, *new}):
        was, service = old.get(name), new.get(name)
        what = _what(was if was and (was.address or was == service) else None, service)
        yield Answering(what, service or old[name], was.ready if was else 0)


def _what(old: object | None, new: object | None) -> str:
    """What became of something."""
    if old is None or new is None:
        return "new" if new is not None else "gone"
    return "kept" if old == new else "changed"
