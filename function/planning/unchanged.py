"""What of a plan is listed, and what is only counted because the change does not touch it.

Without an edit, the question is how the fleet is: then whatever has a problem is listed, too. With one, the question is
what the edit does: a problem that is the same before and after is only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

from function.core import NamespacedName, plural
from function.planning.changes import ReplicaChange
from function.planning.comparison import PlanComparison
from function.planning.outcome import DeploymentOutcome, PlanOutcome, ReplicaOutcome

T = TypeVar("T")
_KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Unchanged:
    """How many of each there are that are not listed."""

    deployments: int = 0
    replicas: int = 0
    services: int = 0
    endpoints: int = 0
    clusters: int = 0
    pools: int = 0
    infrastructure: int = 0
    problems: int = 0
    """Deployments that differ from their specs as before, and other objects with the same problem as before."""

    def __str__(self) -> str:
        """Such as `299 deployments, 300 replicas, 12 services`; empty if there is nothing."""
        counts = {name: count for name, count in asdict(self).items() if name not in ("infrastructure", "problems")}
        return ", ".join(plural(count, name.removesuffix("s")) for name, count in counts.items() if count)


@dataclass(frozen=True, slots=True)
class Listing:
    """A plan as it is shown."""

    whole: PlanComparison
    """The complete one: sums are made of it."""
    listed: PlanComparison
    """What is listed of it."""
    unchanged: Unchanged


def everything(shown: PlanComparison) -> Listing:
    """List all of a plan."""
    return Listing(shown, shown, touched(shown).unchanged)


def touched(shown: PlanComparison) -> Listing:
    """List what of a plan is touched, and count the rest."""
    whole, before = shown.outcome, shown.before
    changes = _touched_replicas(shown)
    listed = replace(
        shown,
        changes=changes,
        endpoints=tuple(one for one in shown.endpoints if one[0] != _KEPT),
        services=tuple(one for one in shown.services if one.what != _KEPT or one.is_lost),
        infrastructure=tuple(one for one in shown.infrastructure if one.what != _KEPT),
        outcome=replace(
            whole,
            deployments=_touched_deployments(shown, {change.deployment for change in changes}),
            clusters=_differing(before.clusters, whole.clusters, lambda one: bool(one.why) and not shown.is_edit),
            pools=_differing(before.pools, whole.pools),
            troubles=_differing(before.troubles, whole.troubles, lambda _: not shown.is_edit),
        ),
    )
    return Listing(shown, listed, _unchanged(shown, listed))


def _unchanged(shown: PlanComparison, listed: PlanComparison) -> Unchanged:
    whole, there = shown.outcome, listed.outcome
    return Unchanged(
        deployments=len(whole.deployments) - len(there.deployments),
        replicas=len(shown.changes) - len(listed.changes),
        services=len(shown.services) - len(listed.services),
        endpoints=len(shown.endpoints) - len(listed.endpoints),
        clusters=len(whole.clusters) - len(there.clusters),
        pools=len(whole.pools) - len(there.pools),
        infrastructure=len(shown.infrastructure) - len(listed.infrastructure),
        problems=_problems(whole) - _problems(there),
    )


def _problems(found: PlanOutcome) -> int:
    return sum(bool(d.why or d.troubled) for d in found.deployments) + len(list(found.problems))


def _differing(before: Iterable[T], after: Iterable[T], keep: Callable[[T], bool] = lambda _: False) -> tuple[T, ...]:
    there = set(before)
    return tuple(one for one in after if one not in there or keep(one))


def _touched_replicas(shown: PlanComparison) -> tuple[ReplicaChange, ...]:
    """The replicas that change, and those that stay and serve or fail in another way than before."""
    were = {(d.identity, r.name): _state(r) for d in shown.before.deployments for r in d.replicas}

    def is_touched(change: ReplicaChange) -> bool:
        return change.what != _KEPT or were.get((change.deployment, change.replica.name)) != _state(change.replica)

    return tuple(change for change in shown.changes if is_touched(change))


def _state(replica: ReplicaOutcome) -> Hashable:
    return replica.serving, replica.why


def _touched_deployments(shown: PlanComparison, touched: set[NamespacedName]) -> tuple[DeploymentOutcome, ...]:
    were = {d.identity: (d.wanted, d.why, d.rejections) for d in shown.before.deployments}
    edited = shown.differences.edited

    def is_touched(one: DeploymentOutcome) -> bool:
        is_other = were.get(one.identity) != (one.wanted, one.why, one.rejections)
        is_troubled = not shown.is_edit and bool(one.why or one.troubled)
        is_edited = ("ModelDeployment", one.identity) in edited
        return is_other or is_troubled or is_edited or one.identity in touched

    return tuple(one for one in shown.outcome.deployments if is_touched(one))
