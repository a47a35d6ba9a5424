"""The difference between two outcomes: which replicas, endpoints and services change, and what serves less.

A replica on another cluster has another name. `_replica_changes` therefore pairs, per deployment, replicas that
disappeared with replicas that appeared, in order of names, and reports each pair as moved. The pairs are arbitrary if
several move at once; the counts are not.

`compare_changes` leaves out of both outcomes what is the same value in both: of a large fleet, an edit concerns
little. What clouds make is compared in infrastructure_changes.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from function.core import NamespacedName
from function.planning import infrastructure_changes, tiers, traffic
from function.planning.changes import DeploymentLoss, DeploymentShortfall, RemovedPool, ReplicaChange, ServiceChange
from function.planning.differences import Differences
from function.planning.exit_codes import NOTHING_CHANGES, SOMETHING_CHANGES, SOMETHING_IS_LOST
from function.planning.infrastructure_changes import InfrastructureChange
from function.planning.outcome import (
    DeploymentOutcome,
    EndpointOutcome,
    PlanOutcome,
    ReplicaOutcome,
    ServiceEntry,
    ServiceOutcome,
    StagedWeights,
)
from function.planning.tiers import TiersByService
from function.planning.traffic import ShareChange, SharesByService

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlanComparison:
    """What changes between two outcomes."""

    before: PlanOutcome
    outcome: PlanOutcome
    """The one afterwards."""
    changes: tuple[ReplicaChange, ...]
    losses: tuple[DeploymentLoss, ...]
    shorts: tuple[DeploymentShortfall, ...]
    endpoints: tuple[tuple[str, str, str], ...]
    """Change (new, kept, changed or gone), name and URL."""
    services: tuple[ServiceChange, ...]
    staging: tuple[StagedWeights, ...]
    """Weights that are staged on a cluster where they were not before."""
    infrastructure: tuple[InfrastructureChange, ...]
    removed_pools: tuple[RemovedPool, ...]
    differences: Differences = field(default_factory=Differences)
    """What was edited, and the manifests that this changes."""
    is_edit: bool = False
    """Whether the outcomes are those before and after edits, of a fleet that had settled."""

    @property
    def silenced(self) -> tuple[ServiceChange, ...]:
        """Services that lose their last ready endpoint."""
        return tuple(service for service in self.services if service.is_lost)

    @property
    def taken_over(self) -> tuple[ServiceChange, ...]:
        """Services that another priority answers than before."""
        return tuple(service for service in self.services if service.is_taken_over)

    @property
    def exit_code(self) -> int:
        if self.losses or self.silenced:
            return SOMETHING_IS_LOST
        whats = (
            *(c.what for c in self.changes),
            *(s.what for s in self.services),
            *(i.what for i in self.infrastructure),
            *(e[0] for e in self.endpoints),
        )
        changed = self.shorts or self.staging or self.differences.manifests or any(what != "kept" for what in whats)
        return SOMETHING_CHANGES if changed else NOTHING_CHANGES


def compare(
    before: PlanOutcome, after: PlanOutcome, differences: Differences | None = None, *, is_edit: bool = False
) -> PlanComparison:
    """Compare two outcomes of the same fleet.

    Args:
        before: An outcome.
        after: A later one.
        differences: The differences between the objects of both.
        is_edit: Whether the first one had settled, and was edited.
    """
    before = _with_infrastructure(before, after)
    several = tiers.of(before), tiers.of(after)
    endpoints = _endpoints_of(before, after)
    found = _compared(before, after, endpoints, _removed_pools(before, after), several=several)
    shares = traffic.of(before.services, endpoints), traffic.of(after.services, after.endpoints)
    services = tuple(replace(s, shares=_share_changes(s, *shares)) for s in found.services)
    return replace(found, services=services, differences=differences or Differences(), is_edit=is_edit)


def _share_changes(service: ServiceChange, before: SharesByService, after: SharesByService) -> tuple[ShareChange, ...]:
    return traffic.changes(*(shares.get(service.identity, ()) for shares in (before, after)))


def compare_changes(
    before: PlanOutcome, after: PlanOutcome, keep: Callable[[DeploymentOutcome], bool]
) -> PlanComparison:
    """Compare two outcomes without what is the same value in both: deployments, endpoints, services, weights,
    infrastructure.

    Args:
        before: An outcome.
        after: A later one, which may share parts with it.
        keep: Whether a deployment must be compared although it is the same.
    """
    endpoints = differing(_endpoints_of(before, after), after.endpoints)
    deployments = differing(before.deployments, after.deployments, keep)
    services = differing(before.services, after.services)
    weights = differing(before.weights, after.weights)
    made = differing(before.infrastructure, after.infrastructure)
    first, second = (
        PlanOutcome(d, (), (), e, s, w, (), m)
        for d, e, s, w, m in zip(deployments, endpoints, services, weights, made, strict=True)
    )
    return _compared(first, second, first.endpoints)


def _compared(
    before: PlanOutcome,
    after: PlanOutcome,
    endpoints: Iterable[EndpointOutcome],
    removed: Iterable[RemovedPool] = (),
    *,
    several: tuple[TiersByService, TiersByService] = ({}, {}),
) -> PlanComparison:
    return PlanComparison(
        before=before,
        outcome=after,
        changes=tuple(_changes(before, after)),
        losses=tuple(_losses(before, after)),
        shorts=tuple(_shorts(before, after)),
        endpoints=tuple(_endpoints(endpoints, after.endpoints)),
        services=tuple(_services(before, after, *several)),
        staging=tuple(_staging(before, after)),
        infrastructure=tuple(infrastructure_changes.changes(before.infrastructure, after.infrastructure)),
        removed_pools=tuple(removed),
    )


def differing(
    before: tuple[T, ...], after: tuple[T, ...], keep: Callable[[T], bool] = lambda _: False
) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """What is not the same value in both."""
    same = {id(one) for one in before} & {id(one) for one in after}
    first, second = (tuple(one for one in ones if id(one) not in same or keep(one)) for ones in (before, after))
    return first, second


def _changes(before: PlanOutcome, after: PlanOutcome) -> Iterator[ReplicaChange]:
    old = {d.identity: d for d in before.deployments}
    new = {d.identity: d for d in after.deployments}
    for name in sorted({*old, *new}):
        yield from _replica_changes(name, _replicas(old.get(name)), _replicas(new.get(name)))


def _replicas(deployment: DeploymentOutcome | None) -> dict[str, ReplicaOutcome]:
    return {r.name: r for r in deployment.replicas} if deployment else {}


def _replica_changes(
    name: NamespacedName, old: dict[str, ReplicaOutcome], new: dict[str, ReplicaOutcome]
) -> Iterator[ReplicaChange]:
    went = [old[n] for n in sorted(old.keys() - new.keys())]
    came = [new[n] for n in sorted(new.keys() - old.keys())]
    for was, replica in ((old[n], new[n]) for n in sorted(new.keys() & old.keys())):
        yield ReplicaChange("kept" if was.revision == replica.revision else "updated", name, replica)
    for was, replica in zip(went, came, strict=False):
        yield ReplicaChange("moved", name, replica, was.cluster, was.name)
    for replica in came[len(went) :]:
        yield ReplicaChange("new", name, replica)
    for replica in went[len(came) :]:
        yield ReplicaChange("gone", name, replica)


def _losses(before: PlanOutcome, after: PlanOutcome) -> Iterator[DeploymentLoss]:
    now = {d.identity: d for d in after.deployments}
    for old in before.deployments:
        new = now.get(old.identity)
        serving, wanted = (new.serving, new.wanted) if new else (0, old.wanted)
        if serving < min(old.serving, wanted):
            yield DeploymentLoss(old.identity, old.serving, serving, wanted)


def _shorts(before: PlanOutcome, after: PlanOutcome) -> Iterator[DeploymentShortfall]:
    old = {d.identity: (d.serving, d.wanted) for d in before.deployments}
    for deployment in after.deployments:
        counts = deployment.serving, deployment.wanted
        was = old.get(deployment.identity, (0, 0))
        if deployment.serving < deployment.wanted and counts != was:
            yield DeploymentShortfall(deployment.identity, was[0], *counts, deployment.why, deployment.rejections)


def _staging(before: PlanOutcome, after: PlanOutcome) -> Iterator[StagedWeights]:
    there = {(w.namespace, w.name, w.cluster) for w in before.weights}
    return (w for w in after.weights if (w.namespace, w.name, w.cluster) not in there)


def _with_infrastructure(before: PlanOutcome, after: PlanOutcome) -> PlanOutcome:
    """The outcome before, with what clouds had made already although it does not show.

    A dump of our kinds alone has no infrastructure. But a cluster that has published its pools was made.
    """
    published = {pool.cluster for pool in before.pools} - {made.cluster for made in before.infrastructure}
    made = tuple(made for made in after.infrastructure if made.cluster in published)
    return replace(before, infrastructure=(*before.infrastructure, *made)) if made else before


def _removed_pools(before: PlanOutcome, after: PlanOutcome) -> Iterator[RemovedPool]:
    """The pools that were removed under replicas. Those of a cluster that is gone are not removed by themselves."""
    there = {made.cluster for made in after.infrastructure}
    had = {(made.cluster, pool) for made in before.infrastructure if made.cluster in there for pool in made.pools}
    removed = had - {(pool.cluster, pool.name) for pool in after.pools}
    was, left = (_on_pools(outcome) if removed else Counter() for outcome in (before, after))
    return (RemovedPool(*at, was[at], left[at]) for at in sorted(removed) if was[at] or left[at])


def _on_pools(outcome: PlanOutcome) -> Counter[tuple[str, str]]:
    """The number of replicas on each pool, by the names of its cluster and itself."""
    return Counter((r.cluster, pool) for d in outcome.deployments for r in d.replicas for pool in r.pools)


def _endpoints_of(before: PlanOutcome, after: PlanOutcome) -> tuple[EndpointOutcome, ...]:
    """The endpoints before. Those of replicas that served, for an outcome that has none, such as a dump of replicas
    alone."""
    if before.endpoints:
        return before.endpoints
    served = before.serving
    return tuple(e for e in after.endpoints if e.identity in served)


def _endpoints(before: Iterable[EndpointOutcome], after: Iterable[EndpointOutcome]) -> Iterator[tuple[str, str, str]]:
    old = {e.identity: e.url for e in before}
    new = {e.identity: e.url for e in after}
    for name in sorted({*old, *new}):
        yield _what(old.get(name), new.get(name)), str(name), new.get(name) or old[name]


def _services(
    before: PlanOutcome, after: PlanOutcome, first: TiersByService, then: TiersByService
) -> Iterator[ServiceChange]:
    """A service without an address does not exist yet for its clients, so it counts as new."""
    old = {s.identity: s for s in before.services}
    new = {s.identity: s for s in after.services}
    for name in sorted({*old, *new}):
        was, service = old.get(name), new.get(name)
        what = _what(was if was and (was.address or was == service) else None, service)
        has_other_entries = bool(was and service) and _entries(was) != _entries(service)
        is_other = has_other_entries or first.get(name) != then.get(name)
        yield ServiceChange(
            what="changed" if what == "kept" and is_other else what,
            service=service or old[name],
            was_ready=was.ready if was else 0,
            tiers=then.get(name, ()),
            was_tiers=first.get(name, ()),
            has_other_entries=has_other_entries,
        )


def _entries(service: ServiceOutcome | None) -> tuple[ServiceEntry, ...]:
    return service.entries if service else ()


def _what(old: object | None, new: object | None) -> str:
    """The change between two values, of which None does not exist."""
    if old is None or new is None:
        return "new" if new is not None else "gone"
    return "kept" if old == new else "changed"
