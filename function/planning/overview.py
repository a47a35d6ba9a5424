"""A fleet at a glance, from the statuses of its objects: capacity, who waits and why, what is degraded.

Nothing is decided or simulated here. Computed are sums, and which objects belong under which heading:

- A deployment *waits* if fewer replicas serve than it wants.
- Any other object is *degraded* if its `status.reason` is set, or is a cluster that is not ready.
  ModelReplicas are not listed, because their deployment tells what is wrong with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from function.core import (
    Manifest,
    NamespacedName,
    condition,
    dig,
    dig_fields,
    dig_number,
    dig_objects,
    identity,
    serves,
)
from function.planning import parts
from function.planning.outcome import PoolOutcome
from function.sandbox.invented import Invented
from function.vocabulary import labels, versions

_CLUSTER, _DEPLOYMENT, _REPLICA = "InferenceCluster", "ModelDeployment", "ModelReplica"


@dataclass(frozen=True, slots=True)
class Why:
    """A condition that says what is wrong."""

    reason: str
    message: str
    since: str
    """When it became so, as Kubernetes writes times; empty if it is not known."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}".strip(": ")


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """An InferenceCluster."""

    name: str
    region: str
    """Its label modelplane.ai/region; empty if it has none."""
    ready: bool
    pools: tuple[PoolOutcome, ...]
    why: Why | None

    @property
    def nodes(self) -> int:
        return sum(pool.nodes for pool in self.pools)

    @property
    def free(self) -> int:
        """Nodes that no replica takes. Of a pool whose nodes are shared, those that are free as a whole."""
        return sum(pool.free for pool in self.pools)


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A ModelDeployment of which fewer replicas serve than it wants."""

    name: NamespacedName
    wanted: int
    placed: int
    serving: int
    why: Why


@dataclass(frozen=True, slots=True)
class DegradedRow:
    """An object of another kind that reports a problem."""

    kind: str
    name: NamespacedName
    why: Why


@dataclass(frozen=True, slots=True)
class Overview:
    """A fleet at a glance, in order of names."""

    clusters: tuple[ClusterRow, ...]
    waiting: tuple[WaitingRow, ...]
    degraded: tuple[DegradedRow, ...]
    deployments: int
    wanted: int
    serving: int
    """Replicas that serve, of those that are wanted."""
    is_reconciled: bool
    """Whether any object has a status."""


def read(objects: Iterable[Manifest]) -> Overview:
    """Read the overview of a fleet from its objects."""
    ours = [one for one in objects if str(one["apiVersion"]).partition("/")[0].endswith(_GROUP)]
    ours.sort(key=lambda one: (one["kind"], identity(one)))
    replicas = _replicas(ours) if any(one["kind"] == _REPLICA for one in ours) else None
    deployments = [_deployment(one, replicas) for one in ours if one["kind"] == _DEPLOYMENT]
    return Overview(
        clusters=tuple(_cluster(one) for one in ours if one["kind"] == _CLUSTER),
        waiting=tuple(one for one in deployments if one.serving < one.wanted),
        degraded=tuple(row for one in ours for row in _degraded(one)),
        deployments=len(deployments),
        wanted=sum(one.wanted for one in deployments),
        serving=sum(min(one.serving, one.wanted) for one in deployments),
        is_reconciled=any("status" in one for one in ours),
    )


def ordered(shown: Overview, by: str) -> Overview:
    """The same with clusters by `name`, by `free` nodes, or with those first that are not `ready`. Who waits longest is
    first."""
    keys: dict[str, Callable[[ClusterRow], Any]] = {
        "name": lambda one: one.name,
        "free": lambda one: (-one.free, one.name),
        "ready": lambda one: (one.ready and one.why is None, one.name),
    }
    waiting = sorted(shown.waiting, key=lambda one: (one.why.since or "~", one.name))
    return replace(shown, clusters=tuple(sorted(shown.clusters, key=keys[by])), waiting=tuple(waiting))


_GROUP = versions.MODELPLANE.partition("/")[0]


def _replicas(ours: Iterable[Manifest]) -> Counter[NamespacedName]:
    """How many replicas of each deployment serve."""
    return Counter(parts.owner(one) for one in ours if one["kind"] == _REPLICA and serves(one, "ModelReady"))


def _cluster(cluster: Manifest) -> ClusterRow:
    return ClusterRow(
        name=identity(cluster).name,
        region=str(dig(cluster, "metadata", "labels", labels.REGION) or ""),
        ready=serves(cluster, "Ready"),
        pools=parts.pools(cluster, Invented()),
        why=_of_cluster(cluster),
    )


def _deployment(deployment: Manifest, serving: Counter[NamespacedName] | None) -> WaitingRow:
    """A deployment, whether it waits or not. Its own count is taken if its replicas are not among the objects."""
    name, counted = identity(deployment), dig_fields(deployment, "status", "replicas")
    wanted = dig(deployment, "spec", "replicas")
    return WaitingRow(
        name=name,
        wanted=wanted if isinstance(wanted, int) else 1,
        placed=int(dig_number(counted, "total")),
        serving=serving[name] if serving is not None else int(dig_number(counted, "ready")),
        why=_why(deployment) or _unexplained(deployment),
    )


def _degraded(one: Manifest) -> Iterator[DegradedRow]:
    if one["kind"] in (_DEPLOYMENT, _REPLICA):
        return
    why = _of_cluster(one) if one["kind"] == _CLUSTER else _why(one)
    if why:
        yield DegradedRow(one["kind"], identity(one), why)


def _of_cluster(cluster: Manifest) -> Why | None:
    """What is wrong with a cluster. One that is not ready always has a reason."""
    if (found := _why(cluster)) or serves(cluster, "Ready"):
        return found
    ready = condition(cluster, "Ready")
    return _told(ready) if ready is not None else _unexplained(cluster)


def _unexplained(one: Manifest) -> Why:
    """What is wrong with an object that does not say it, as one that has just been written or edited."""
    return Why("", "no condition says why" if one.get("status") else "it has not been reconciled yet", "")


def _why(one: Manifest) -> Why | None:
    """What the function says in `status.reason`; without it, what Crossplane says."""
    if reason := dig(one, "status", "reason"):
        why = str(reason), str(dig(one, "status", "message") or "")
        told = (_told(found) for found in dig_objects(one, "status", "conditions"))
        return next((found for found in told if (found.reason, found.message) == why), Why(*why, since=""))
    synced = condition(one, "Synced")
    return _told(synced) if synced is not None and synced.get("status") == "False" else None


def _told(found: Manifest) -> Why:
    return Why(*(str(found.get(name) or "") for name in ("reason", "message", "lastTransitionTime")))
