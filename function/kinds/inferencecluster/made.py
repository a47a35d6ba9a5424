"""What a cloud has made of the node pools, and what its composite asks for.

Replicas lose nothing by an edit. A pool that is removed stays with the cloud until the replicas on it have moved, and
one that is to shrink keeps its size until then; the scheduler sees the edit at once. A pool that is not made yet has no
nodes for the scheduler.

Why a pool keeps its size. Who lowers the size of a pool does not say which nodes go, and clouds do not ask what runs on
them: GKE "will pick instances to remove at random" (gcloud container clusters resize), an Auto Scaling group of EKS
goes by zones and launch templates (EC2 Auto Scaling user guide, "Default termination policy"), and the others promise
no order. An autoscaler removes the nodes that it has chosen itself, which are free of replicas (manifests/pods.py,
STAYS). Its bounds are in the cloud, however, where a maximum below the number of nodes may remove any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

from pydantic import ValidationError

from function.clouds import NodePool, Provisioner
from function.contracts.cloud import provisioned
from function.core import Manifest, Request, derived, dig, dig_objects, dig_text, dig_texts, plain
from function.fleet.engines import device_classes, sharing_pools
from function.fleet.replicas import TAKEN
from function.fleet.values import mappings
from function.kinds.inferencecluster import inputs
from function.schema import Api


@dataclass(frozen=True, slots=True)
class Use:
    """What replicas need of a pool."""

    nodes: int = 0
    """Nodes that they take: one for each pod that claims devices. Where pods share nodes, they take no more."""
    classes: frozenset[str] = frozenset()
    """Device classes from which they claim."""
    shared: bool = False
    """Whether pods share the nodes of the pool, or some did when they came."""


@dataclass(frozen=True, slots=True)
class Made:
    """The node pools of the observed composite of a cloud."""

    asked: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The pools that its spec asks for, by name."""
    made: frozenset[str] = frozenset()
    """The names of those that the cloud has made."""
    used: Mapping[str, Use] | None = None
    """What replicas need of each pool on which they are; None while the replicas are not known."""


def read(request: Request) -> Made:
    """Return what the cloud has made; empty before there is a composite."""
    composite = inputs.composite(request)
    pools = dig_objects(composite, "spec", "nodePools")
    return Made(
        asked={name: pool for pool in pools if (name := dig_text(pool, "name")) is not None},
        made=frozenset(dig_texts(composite, "status", "pools")),
        used=used(request),
    )


def used(request: Request) -> Mapping[str, Use] | None:
    """Return what replicas need of the pools of the cluster; None while the replicas are not known."""
    replicas = inputs.replicas(request)
    if replicas is None:
        return None
    found: dict[str, Use] = {}
    needs = [derived(replica, "needs", _needs) for replica in replicas]
    shared = _shared(request.xr).union(*(one.shared for one in needs))
    for one in needs:
        for pool, classes in one.classes.items():
            before = found.get(pool, Use())
            found[pool] = Use(before.nodes + one.nodes.get(pool, 0), before.classes | classes, pool in shared)
    return found


class _Needs(NamedTuple):
    """What one replica needs of pools."""

    nodes: Mapping[str, int]
    classes: Mapping[str, frozenset[str]]
    shared: frozenset[str]


def _needs(replica: Manifest) -> _Needs:
    """Read what a replica needs. A call asks several times, for each replica on the cluster."""
    engines = dig(replica, "spec", "engines")
    return _Needs(TAKEN(replica), device_classes(engines), sharing_pools(engines))


def _shared(xr: Manifest) -> frozenset[str]:
    """Return the names of the pools whose nodes are shared, by the spec or as they were published."""
    pools = (*mappings(dig(xr, "spec", "nodePools")), *mappings(dig(xr, "status", "gpuPools")))
    return frozenset(str(pool.get("name")) for pool in pools if pool.get("sharing") == "Devices")


def kept_faults(provisioner: Provisioner, pool: Mapping[str, Any], made: Made) -> Iterator[tuple[str, str]]:
    """Yield the fields of a pool that the cloud has made otherwise, and does not change."""
    before = made.asked.get(pool["name"])
    if before is None:
        return
    was, wanted = _complete(provisioner.model, before), _complete(provisioner.model, pool)
    for kept in provisioner.keeps:
        if was and was.get(kept) != wanted.get(kept):
            at = "className" if kept == "machine" else kept
            yield at, f"the nodes of a pool keep their {kept} ({_shown(was.get(kept))}); add a pool of another name"


def _complete(model: ModuleType, pool: Mapping[str, Any]) -> Mapping[str, Any]:
    """A pool with all defaults; empty for one that an older release stored, and the model does not take any more."""
    try:
        found: dict[str, Any] = model.Pool.model_validate(plain(pool)).model_dump()
    except ValidationError:
        return {}
    return found


def _shown(value: Any) -> str:
    """A value as a user writes it, on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(child)}" for key, child in value.items()) or "not given"
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value)) or "not given"
    return "not given" if value is None else str(value)


def nodes(pool: str, most: int, made: Made, before: int) -> int:
    """Return how many nodes of a pool replicas can have.

    Args:
        pool: Its name.
        most: How many it has, or can grow to, once it is made.
        made: What the cloud has made.
        before: How many were published for it.

    A composite that was restored from a backup has no status at first. Replicas are placed only on pools that are
    made, so a pool with some has their nodes at least: otherwise they would yield to nobody.
    """
    if pool in made.made:
        return most
    if made.used is None:
        return min(before, most)
    return min(made.used[pool].nodes, most) if pool in made.used else 0


def crowd(pools: Sequence[Mapping[str, Any]], made: Made) -> str | None:
    """Return why the composite cannot have the wanted pools besides those that replicas have not left; None if it can.

    The API server would refuse it, and nothing of the InferenceCluster would be updated.
    """
    wanted = {pool["name"] for pool in pools}
    left = [str(pool["name"]) for pool in asked(pools, made) if pool["name"] not in wanted]
    if len(wanted) + len(left) <= provisioned.MOST_POOLS:
        return None
    has = f"has {len(wanted)} pools, besides {len(left)} that replicas have not left ({', '.join(left)})"
    return f"{has}; a cloud makes at most {provisioned.MOST_POOLS} for a cluster, so keep some of those"


def asked(pools: Sequence[Mapping[str, Any]], made: Made) -> list[Mapping[str, Any]]:
    """Return the pools that the composite asks for: those that are wanted, and those that replicas have not left."""
    used = made.used or {}
    wanted = {pool["name"] for pool in pools}
    leaving = [plain(made.asked[name]) for name in made.asked if name not in wanted and name in used]
    return [*(_kept(pool, made) for pool in pools), *leaving]


def kept_sizes(pools: Sequence[Mapping[str, Any]], made: Made) -> Iterator[str]:
    """Yield, for each pool that the composite asks to be larger than it is wanted, that it is, and why."""
    for pool in pools:
        kept = _kept(pool, made)
        lead, most = f"pool {pool['name']} keeps", _most(kept)
        if most == _most(pool):
            continue
        if _is_scaled(kept):
            yield f"{lead} a maximum of {most} nodes while replicas are on it; {_DELETES_FREE}"
        else:
            why = "because the cloud chooses which ones it deletes"
            yield f"{lead} {most} nodes while replicas are on it, {why}; with maxNodeCount, {_DELETES_FREE}"


def _kept(pool: Mapping[str, Any], made: Made) -> Mapping[str, Any]:
    """A pool that can have as many nodes as before, and as replicas take, while they are on it: one at least, for pods
    that take no whole node. Pods that share nodes are on nodes that the pool has."""
    use, before = (made.used or {}).get(pool["name"]), made.asked.get(pool["name"])
    if use is None:
        return pool
    most = max(1, 0 if use.shared else use.nodes, _most(pool), 0 if before is None else _most(before))
    if most == _most(pool):
        return pool
    if _is_scaled(pool) or before is None or not _is_scaled(before):
        return {**pool, "maxNodeCount" if _is_scaled(pool) else "nodeCount": most}
    sizes = {field_: before[field_] for field_ in _SIZES if field_ in before}
    return {**{key: value for key, value in pool.items() if key not in _SIZES}, **sizes, "maxNodeCount": most}


def _is_scaled(pool: Mapping[str, Any]) -> bool:
    return pool.get("maxNodeCount") is not None


def _most(pool: Mapping[str, Any]) -> int:
    """The number of nodes that a pool can have."""
    return int(pool["maxNodeCount"] if _is_scaled(pool) else pool.get("nodeCount", 1))


_SIZES = ("nodeCount", "minNodeCount", "maxNodeCount")
_DELETES_FREE = "its autoscaler deletes nodes that are free"


def pool_of_composite(pool: NodePool, machine: Api, drivers: Collection[str]) -> dict[str, Any]:
    """Return a pool as a composite has it: as the user gave it, with the block of its class and its DRA drivers."""
    return {
        **pool.model_dump(exclude_unset=True, exclude_none=True, include=set(NodePool.model_fields)),
        "machine": machine.model_dump(exclude_unset=True, exclude_none=True),
        **({"drivers": sorted(drivers)} if drivers else {}),
    }
