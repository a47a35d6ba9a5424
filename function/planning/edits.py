"""What may happen to a fleet: a cluster is drained or lost, a pool has other nodes, a deployment other replicas."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeAlias

from function.core import NamespacedName, dig, enumerate_names, identity
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref, Store
from function.vocabulary import labels, names, versions

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Drain:
    """Everything leaves a cluster that can, each replica once its successor serves; the cluster stays."""

    cluster: str

    def __str__(self) -> str:
        return f"drain {self.cluster}"


@dataclass(frozen=True, slots=True)
class Lose:
    """A cluster is gone for good, with all that is on it."""

    cluster: str

    def __str__(self) -> str:
        return f"lose {self.cluster}"


@dataclass(frozen=True, slots=True)
class Resize:
    """A pool can have so many nodes."""

    cluster: str
    pool: str
    nodes: int

    def __str__(self) -> str:
        return f"pool {self.cluster}/{self.pool} to {self.nodes}"


@dataclass(frozen=True, slots=True)
class Scale:
    """A deployment wants so many replicas."""

    deployment: NamespacedName
    replicas: int

    def __str__(self) -> str:
        return f"scale {self.deployment} to {self.replicas}"


Edit: TypeAlias = Drain | Lose | Resize | Scale


class Unknown(Exception):
    """There is no such cluster, pool or deployment; the message names the nearest."""


def check(store: Store, edits: Iterable[Edit]) -> None:
    """That all of what the edits name is there, each by the time of its edit. Raises Unknown."""
    fleet = _Known(store)
    for edit in edits:
        fleet.check(edit)


def make(control: ControlPlane, edit: Edit) -> None:
    """Edit a fleet, as a person or an accident would. What it names is there. Raises Refused."""
    match edit:
        case Drain():
            control.store.update(_cluster(edit.cluster), _drained)
        case Lose():
            _lose(control, edit.cluster)
        case Resize():
            control.store.update(_cluster(edit.cluster), lambda manifest: _resize(manifest, edit))
        case Scale():
            control.store.update(_deployment(edit.deployment), lambda manifest: _scale(manifest, edit.replicas))


def clusters(store: Store) -> list[str]:
    return [m["metadata"]["name"] for m in store.of_kind(versions.MODELPLANE, "InferenceCluster")]


# Edits


def _drained(manifest: dict[str, Any]) -> None:
    """By the taint with which replicas are made to leave. It does not touch who tolerates everything."""
    manifest["spec"]["taints"] = [*(manifest["spec"].get("taints") or ()), {"key": labels.DRAIN, "effect": "NoExecute"}]


def _lose(control: ControlPlane, cluster: str) -> None:
    """It is gone from the API as well: as long as it is there, a cluster that does not answer keeps its replicas."""
    control.store.lose(_cluster(cluster))
    control.clusters.things.pop(names.provider_config(cluster), None)


def _resize(manifest: dict[str, Any], edit: Resize) -> None:
    """Whatever the pool's capacity is counted by: its nodes, or the most that an autoscaler makes."""
    pool = next(p for p in manifest["spec"]["nodePools"] if p["name"] == edit.pool)
    pool["nodeCount"] = edit.nodes
    pool |= {"maxNodeCount": edit.nodes} if "maxNodeCount" in pool else {}
    pool |= {"minNodeCount": min(pool["minNodeCount"], edit.nodes)} if "minNodeCount" in pool else {}


def _scale(manifest: dict[str, Any], replicas: int) -> None:
    manifest["spec"]["replicas"] = replicas


def _cluster(name: str) -> Ref:
    return Ref(versions.MODELPLANE, "InferenceCluster", "", name)


def _deployment(name: NamespacedName) -> Ref:
    return Ref(versions.MODELPLANE, "ModelDeployment", *name)


# Names


@dataclass(slots=True)
class _Known:
    """Who there is, while clusters get lost one after the other."""

    store: Store
    lost: set[str] = field(default_factory=set)

    def check(self, edit: Edit) -> None:
        if isinstance(edit, Scale):
            deployments = self.store.of_kind(versions.MODELPLANE, "ModelDeployment")
            _must_be("ModelDeployment", str(edit.deployment), [str(identity(m)) for m in deployments])
            return
        if edit.cluster in self.lost:
            raise Unknown(f"InferenceCluster {edit.cluster} is lost by then")
        _must_be("InferenceCluster", edit.cluster, clusters(self.store))
        if isinstance(edit, Resize):
            found = self.store.get(_cluster(edit.cluster))
            pools = [str(pool["name"]) for pool in dig(found, "spec", "nodePools") or ()]
            _must_be("pool", edit.pool, pools, of=f" of InferenceCluster {edit.cluster}")
        if isinstance(edit, Lose):
            self.lost.add(edit.cluster)


def _must_be(kind: str, name: str, known: Collection[str], *, of: str = "") -> None:
    if name in known:
        return
    nearest = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]}?" if nearest else f"there {_listed(sorted(known))}"
    raise Unknown(f"there is no {kind} {name}{of}; {hint}")


def _listed(known: list[str]) -> str:
    if not known:
        return "is none"
    return f"{'is' if len(known) == 1 else 'are'} {enumerate_names(known, _MOST_NAMED)}"
