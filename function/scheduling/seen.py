"""What is open for new pods on a pool, by what its nodes really have.

Terms:

- An *observation* tells of each node its state, its devices, and who holds them (see `observed.py`). It is a few
  seconds old, and decides only about new replicas and about replicas that grow. What is there never moves for it.
- A node is *usable* if new pods can be scheduled on it. One that is cordoned, not ready or tainted is not.
- A *missing* pod belongs to a replica that exists, and is bound to no node yet. It takes its place before any new one.
- Nodes that are not there yet are *added* as declared, as far as something scales the pool and has not failed to.

What is open is counted in one of two ways:

- A pod that takes a whole node is counted exactly: the usable nodes of which nobody holds a device, and those that can
  be added, without one for each missing pod.
- On shared nodes, the promise decides. With `Restart`, all pods of replicas have to fit wherever they are, on the
  usable nodes without what others hold. With `Placement`, only the missing and the new pods have to fit, on what is
  free now.

Deliberately coarse:

- A node that publishes fewer devices than its class is not open for a pod that takes a whole node.
- Of a pool with more nodes than it declares, the declared number counts. Of nodes with more devices than the class, so
  do the declared devices.
- If some pods of a replica are missing, and they differ, its largest pods are taken to be the missing ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from function.scheduling.fleet import Cluster, NodeShape, Occupant, PlacedEngine, Pool
from function.scheduling.observed import ObservedNodes, ObservedPool
from function.scheduling.packing import NodeCapacity, PodDemand
from function.scheduling.sharing import Demands, Room, capacity
from function.vocabulary import names
from function.vocabulary.observation import NodeState


@dataclass(frozen=True, slots=True)
class Seen:
    """What is observed of a pool."""

    pool: ObservedPool
    shape: NodeShape
    """The declared devices, with the facts that the nodes publish."""
    scales: bool = False
    """Whether something adds nodes to the pool."""
    is_placement: bool = False
    """Whether the promise is `Placement`, for pools whose nodes are shared."""


def as_seen(cluster: Cluster) -> Cluster:
    """Return a cluster with the devices that its nodes publish, as selectors of new pods see them."""
    if all(pool.seen is None for pool in cluster.pools):
        return cluster
    pools = (pool if pool.seen is None else replace(pool, shape=pool.seen.shape) for pool in cluster.pools)
    return replace(cluster, pools=tuple(pools))


def open_nodes(pool: Pool, seen: Seen, occupants: Iterable[Occupant]) -> int:
    """Return how many pods more that take a whole node find one."""
    whole = [
        nodes
        for nodes in seen.pool.in_state(NodeState.READY)
        if not (nodes.foreign or nodes.ours) and not lacks(pool, nodes)
    ]
    bound = seen.pool.engine_pods()
    missing = sum(
        max(0, member.pods * engine.copies - bound[_workload(occupant, engine)])
        for occupant in occupants
        for engine in occupant.specs[-1]
        for member in engine.members
        if member.claims and member.pool == pool.name
    )
    return sum(nodes.count for nodes in whole) + added(pool, seen) - missing


def open_room(pool: Pool, seen: Seen, occupants: Sequence[Occupant], demands: Demands) -> Room:
    """Return the room on the shared nodes of a pool for new pods."""
    amounts: Counter[NodeCapacity] = Counter({capacity(pool.shape): added(pool, seen)})
    for nodes in seen.pool.in_state(NodeState.READY):
        amounts[_capacity(pool, nodes, is_placement=seen.is_placement)] += nodes.count
    room = Room(frozenset((+_at_most(amounts, pool.nodes)).items()))
    if not seen.is_placement:
        return room.plus(states for o in occupants for _, states in demands.states(o.specs, [pool]))
    bound = seen.pool.engine_pods()
    pods: Counter[PodDemand] = Counter()
    for occupant in occupants:
        for engine in occupant.specs[-1]:
            pods.update(_missing(demands, engine, pool, bound[_workload(occupant, engine)]))
    return replace(room, pods=frozenset(pods.items()), is_partial=True)


def added(pool: Pool, seen: Seen) -> int:
    """Return how many nodes can be added to a pool."""
    return max(0, pool.nodes - seen.pool.number) if seen.scales and not seen.pool.out_of_stock else 0


def lacks(pool: Pool, nodes: ObservedNodes) -> bool:
    """Whether nodes publish fewer devices than the class of their pool declares."""
    claimable = (device for device in pool.shape.devices if device.device_class is not None)
    return any(nodes.devices.get(device.name, 0) < device.count for device in claimable)


def _capacity(pool: Pool, nodes: ObservedNodes, *, is_placement: bool) -> NodeCapacity:
    """Return what a node has for pods of replicas: all of them, or only those that are not bound yet."""
    devices = []
    for device in pool.shape.devices:
        held = nodes.foreign.get(device.name, 0)
        if is_placement:
            held += sum(by_device.get(device.name, 0) for by_device in nodes.ours.values())
        has = min(nodes.devices.get(device.name, 0), device.count) if device.device_class is not None else 0
        devices.append(max(0, has - held))
    amounts = zip(pool.shape.node, nodes.allocatable, nodes.requested, nodes.ours_requested, strict=True)
    cpu, memory, storage = (
        None
        if declared is None
        else max(0, (declared if has is None else has) - others - (ours if is_placement else 0))
        for declared, has, others, ours in amounts
    )
    return NodeCapacity(tuple(devices), (cpu, memory, storage))


def _at_most(amounts: Counter[NodeCapacity], nodes: int) -> Counter[NodeCapacity]:
    """Return the nodes with the largest capacity, at most so many."""
    kept: Counter[NodeCapacity] = Counter()
    for node in sorted(amounts, key=lambda n: (sum(n.devices), n.devices, [r or 0 for r in n.resources]), reverse=True):
        kept[node] = min(amounts[node], nodes)
        nodes -= kept[node]
    return kept


def _missing(demands: Demands, engine: PlacedEngine, pool: Pool, bound: int) -> dict[PodDemand, int]:
    """Return the pods of an engine on a pool that are not bound yet."""
    pods = Counter({demand: n * engine.copies for demand, n in demands.per_copy(engine, pool)})
    missing, left = max(0, sum(pods.values()) - bound), Counter[PodDemand]()
    for demand in sorted(pods, key=lambda d: (sum(n for n, _ in d.devices), d.resources), reverse=True):
        left[demand] = min(missing, pods[demand])
        missing -= left[demand]
    return dict(+left)


def _workload(occupant: Occupant, engine: PlacedEngine) -> str:
    """Return a workload as observations name it."""
    name = names.workload(occupant.identity, engine.name, is_gang=len(engine.members) > 1)
    return f"{occupant.identity.namespace}/{name}"
