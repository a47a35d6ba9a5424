"""Edits of a fleet: drain or lose a cluster, resize a pool, scale a deployment."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from function.core import NamespacedName, closest, dig, dig_list, enumerate_names, identity
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref, Store
from function.vocabulary import labels, names, versions

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class DrainCluster:
    """Move all replicas off a cluster that can move, each as soon as its successor serves. The cluster stays."""

    cluster: str

    def __str__(self) -> str:
        return f"drain {self.cluster}"


@dataclass(frozen=True, slots=True)
class LoseCluster:
    """Remove a cluster permanently, with everything on it."""

    cluster: str

    def __str__(self) -> str:
        return f"lose {self.cluster}"


@dataclass(frozen=True, slots=True)
class ResizePool:
    """Set the number of nodes of a pool."""

    cluster: str
    pool: str
    nodes: int

    def __str__(self) -> str:
        return f"pool {self.cluster}/{self.pool} to {self.nodes}"


@dataclass(frozen=True, slots=True)
class ScaleDeployment:
    """Set the number of replicas of a deployment."""

    deployment: NamespacedName
    replicas: int

    def __str__(self) -> str:
        return f"scale {self.deployment} to {self.replicas}"


Edit: TypeAlias = DrainCluster | LoseCluster | ResizePool | ScaleDeployment


class UnknownName(Exception):
    """A cluster, pool or deployment does not exist. The message suggests the closest name."""


def check(store: Store, edits: Iterable[Edit]) -> None:
    """Check that everything that the edits name exists at the time of its edit.

    Raises:
        UnknownName: Something does not exist, or was lost by an earlier edit.
    """
    fleet = _Known(store)
    for edit in edits:
        fleet.check(edit)


def apply(control: ControlPlane, edit: Edit) -> None:
    """Apply one edit. What it names must exist (see `check`).

    Raises:
        Refused: Admission refuses the edited object.
    """
    match edit:
        case DrainCluster():
            control.store.update(_cluster(edit.cluster), _drained)
        case LoseCluster():
            _lose(control, edit.cluster)
        case ResizePool():
            control.store.update(_cluster(edit.cluster), lambda manifest: _resize(manifest, edit))
        case ScaleDeployment():
            control.store.update(_deployment(edit.deployment), lambda manifest: _scale(manifest, edit.replicas))


def clusters(store: Store) -> list[str]:
    """The names of all InferenceClusters."""
    return [m["metadata"]["name"] for m in store.of_kind(versions.MODELPLANE, "InferenceCluster")]


# Edits


def _drained(manifest: dict[str, Any]) -> None:
    """Add the taint that makes replicas leave. A deployment that tolerates every taint stays."""
    manifest["spec"]["taints"] = [*(manifest["spec"].get("taints") or ()), {"key": labels.DRAIN, "effect": "NoExecute"}]


def _lose(control: ControlPlane, cluster: str) -> None:
    """Remove the InferenceCluster too: as long as it exists, a cluster that does not answer keeps its replicas."""
    control.store.lose(_cluster(cluster))
    control.clusters.lose(names.provider_config(cluster))


def _resize(manifest: dict[str, Any], edit: ResizePool) -> None:
    """Set whichever field counts as the pool's capacity: its nodes, or the maximum of its autoscaler."""
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
    """The names that exist, while clusters are lost one after the other."""

    store: Store
    lost: set[str] = field(default_factory=set)

    def check(self, edit: Edit) -> None:
        if isinstance(edit, ScaleDeployment):
            deployments = self.store.of_kind(versions.MODELPLANE, "ModelDeployment")
            _must_be("ModelDeployment", str(edit.deployment), [str(identity(m)) for m in deployments])
            return
        if edit.cluster in self.lost:
            raise UnknownName(f"InferenceCluster {edit.cluster} is already lost at this point")
        _must_be("InferenceCluster", edit.cluster, clusters(self.store))
        if isinstance(edit, ResizePool):
            found = self.store.get(_cluster(edit.cluster))
            pools = [str(dig(pool, "name")) for pool in dig_list(found, "spec", "nodePools")]
            _must_be("pool", edit.pool, pools, of=f" of InferenceCluster {edit.cluster}")
        if isinstance(edit, LoseCluster):
            self.lost.add(edit.cluster)


def _must_be(kind: str, name: str, known: Collection[str], *, of: str = "") -> None:
    if name in known:
        return
    raise UnknownName(unknown(kind, name, known, of=of))


def unknown(kind: str, name: str, known: Collection[str], *, of: str = "") -> str:
    """The error message for a name that does not exist: suggests the closest one, or lists those that do."""
    meant = closest(name, known)
    hint = f"did you mean {meant}?" if meant else f"known: {enumerate_names(sorted(known), _MOST_NAMED) or 'none'}"
    return f"{kind} {name}{of} not found; {hint}"
