"""The fleet in full: the clusters by region, their pools and nodes, and the replicas that take them.

outcome.py has what a plan compares. This is what the page of `--html` draws and what `--all` adds to the data: read
once before and once after a change, and only if somebody asks.

Terms. An *occupant* is an engine's pods of one role on a pool. *Slots* are the devices of a node that pods can claim.
A *group* of nodes is a number of nodes that the observer on the cluster reports as alike.

Deliberately coarse: Modelplane does not choose nodes, kube-scheduler does. Without an observation, it is known how many
nodes or devices an occupant takes, and not which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from function.core import Manifest, dig, dig_fields, dig_objects, identity, redaction, serves
from function.fleet import clusters, engines, observations
from function.fleet.values import whole
from function.planning import parts
from function.sandbox.invented import Invented
from function.sandbox.store import Ref, Store
from function.scheduling.fleet import PlacedEngine, PlacedMember
from function.scheduling.observed import Observation, ObservedNodes, ObservedPool
from function.vocabulary import labels, names, versions

_REGION_LABELS = (labels.REGION, "topology.kubernetes.io/region")
_REGION_FIELDS = ("region", "location")
"""Fields of a cloud's block in `spec.cluster` that tell where it makes the cluster."""


@dataclass(frozen=True, slots=True)
class Occupant:
    """The pods of an engine's role on a pool."""

    namespace: str
    deployment: str
    replica: str
    workload: str
    """Its Deployment or LeaderWorkerSet on the cluster."""
    serving: bool
    """Whether the replica serves."""
    pods: int
    devices: int
    """Devices that each pod claims."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Pods of a workload on each node of a group."""

    workload: str
    """As `namespace/name`."""
    devices: int


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes of a pool that are reported as alike."""

    state: str
    """Ready, Cordoned, NotReady or Tainted."""
    taint: str
    count: int
    names: tuple[str, ...]
    """There are fewer than `count` where the report is cut."""
    devices: int
    """Devices of each node."""
    foreign: int
    """Of those, what others than replicas hold."""
    holders: tuple[Holder, ...]


@dataclass(frozen=True, slots=True)
class PoolObservation:
    """What the observer reports of a pool."""

    groups: tuple[NodeGroup, ...]
    left: int
    """Nodes that are not in `groups`, since the report is cut."""
    outOfStock: bool  # noqa: N815 - as in the JSON


@dataclass(frozen=True, slots=True)
class PoolOccupancy:
    """A pool, and what takes it."""

    name: str
    className: str  # noqa: N815 - as in the JSON
    devices: str
    slots: int
    sharing: str
    """Nodes or Devices."""
    nodes: int
    free: int
    """Free nodes; of a pool whose nodes are shared, free devices."""
    published: bool
    """Whether the cluster publishes the pool. Of one that it only declares, nothing is known."""
    occupants: tuple[Occupant, ...]
    observed: PoolObservation | None


@dataclass(frozen=True, slots=True)
class ClusterOccupancy:
    """An InferenceCluster."""

    name: str
    region: str
    serving: bool
    why: str
    """A problem that it reports; empty if there is none."""
    taints: tuple[str, ...]
    capacity: str
    """Declared, Observed, or Stale if an observation does not count at the moment."""
    pools: tuple[PoolOccupancy, ...]


def data(store: Store) -> dict[str, Any]:
    """The fleet as data for machines."""
    return {"clusters": [asdict(cluster) for cluster in read(store)]}


def read(store: Store) -> tuple[ClusterOccupancy, ...]:
    """Read the fleet from a store, in order of names."""
    taken: dict[tuple[str, str], list[Occupant]] = {}
    for manifest in store.of_kind(versions.MODELPLANE, "ModelReplica"):
        cluster = str(dig(manifest, "spec", "clusterName") or "")
        for pool, occupant in _occupants(manifest):
            taken.setdefault((cluster, pool), []).append(occupant)
    return tuple(_cluster(store, found, taken) for found in store.of_kind(versions.MODELPLANE, "InferenceCluster"))


def _occupants(manifest: Manifest) -> Iterator[tuple[str, Occupant]]:
    replica, deployment = identity(manifest), parts.owner(manifest)
    serving = serves(manifest, "ModelReady")
    for engine in engines.engines(dig(manifest, "spec", "engines")):
        workload = names.workload(replica, engine.name, is_gang=len(engine.members) > 1)
        for member in (member for member in engine.members if member.claims):
            pods, devices = _pods(engine, member), sum(claim.count for claim in member.needs().claims)
            yield member.pool, Occupant(*deployment, replica.name, workload, serving, pods, devices)


def _pods(engine: PlacedEngine, member: PlacedMember) -> int:
    return member.pods * engine.copies


def _cluster(store: Store, manifest: Manifest, taken: Mapping[tuple[str, str], list[Occupant]]) -> ClusterOccupancy:
    found = parts.cluster(manifest, store.invented)
    seen = _observation(store, manifest)
    return ClusterOccupancy(
        name=found.name,
        region=region(manifest),
        serving=found.ready,
        why=redaction.message(found.why),
        taints=tuple(f"{t.key}{'=' if t.value else ''}{t.value}:{t.effect}" for t in clusters.cluster(manifest).taints),
        capacity=_capacity(manifest, seen),
        pools=tuple(_pools(manifest, store.invented, taken, seen)),
    )


def region(cluster: Manifest) -> str:
    """Where a cluster is: by its label, or by the block of the cloud that makes it; empty if neither tells."""
    own = dig_fields(cluster, "metadata", "labels")
    blocks = [block for block in dig_fields(cluster, "spec", "cluster").values() if isinstance(block, Mapping)]
    told = [*(own.get(label) for label in _REGION_LABELS), *(b.get(f) for b in blocks for f in _REGION_FIELDS)]
    return next((str(name) for name in told if name), "")


def _observation(store: Store, cluster: Manifest) -> Observation | None:
    """What is observed of a cluster, if it counts."""
    name = clusters.cluster(cluster).capacity_object
    if name is None:
        return None
    found = observations.read(store.get(Ref(versions.PROVIDER_KUBERNETES, "Object", names.SYSTEM_NAMESPACE, name)))
    return found if isinstance(found, Observation) else None


def _capacity(cluster: Manifest, seen: Observation | None) -> str:
    if seen is not None:
        return "Observed"
    return "Stale" if dig(cluster, "status", "capacity", "stale") else "Declared"


def _pools(
    manifest: Manifest,
    invented: Invented,
    taken: Mapping[tuple[str, str], list[Occupant]],
    seen: Observation | None,
) -> Iterator[PoolOccupancy]:
    outcomes = {pool.name: pool for pool in parts.pools(manifest, invented)}
    published = {str(pool["name"]): pool for pool in dig_objects(manifest, "status", "gpuPools")}
    declared = {str(pool["name"]): pool for pool in dig_objects(manifest, "spec", "nodePools")}
    for name in dict.fromkeys((*declared, *published)):
        outcome, own, found = outcomes.get(name), declared.get(name, {}), published.get(name, {})
        shared = outcome.shared if outcome else ()
        nodes = outcome.nodes if outcome else whole(own.get("maxNodeCount", own.get("nodeCount")), 1)
        own_devices = (device for device in dig_objects(found, "devices") if device.get("claim") != "Synthetic")
        yield PoolOccupancy(
            name=name,
            className=str(own.get("className") or ""),
            devices=outcome.devices if outcome else "",
            slots=sum(whole(device.get("count"), 1) for device in own_devices),
            sharing=str(found.get("sharing") or own.get("sharing") or "Nodes"),
            nodes=nodes,
            free=sum(d.free for d in shared) if shared else outcome.free if outcome else 0,
            published=outcome is not None,
            occupants=tuple(taken.get((identity(manifest).name, name), ())),
            observed=_seen(seen.pools[name]) if seen and name in seen.pools else None,
        )


def _seen(pool: ObservedPool) -> PoolObservation:
    return PoolObservation(tuple(map(_group, pool.nodes)), pool.left, pool.out_of_stock is not None)


def _group(nodes: ObservedNodes) -> NodeGroup:
    return NodeGroup(
        state=nodes.state.value,
        taint=nodes.taint,
        count=nodes.count,
        names=nodes.names,
        devices=sum(nodes.devices.values()),
        foreign=sum(nodes.foreign.values()),
        holders=tuple(Holder(name, sum(held.values())) for name, held in sorted(nodes.ours.items())),
    )
