"""Counts pods on the simulated clusters, from the workloads that are there, and compares them with what pools have.

The function counts the nodes of ModelReplicas. A fault in its counting would not show if this counted in the same way.

Deliberately coarse:

- On shared nodes devices are counted, not cpu and memory. A pod counts for no more than a node has: it may wait for a
  larger one, since a class was edited.
- What a replica that is gone has left is not counted. A replica that was deleted in the background, as kubectl deletes
  a ModelReplica, is gone before its pods.
- Replicas that have served may take more than there is. Their pool shrank, which its owner decided. So may those that
  nobody moves: they or their deployments are paused, their deployments are being deleted and somebody's finalizer holds
  them, or their deployments do not refer to them, because Crossplane had two leaders for a moment. And so may those
  that are on their way: they are being deleted, or drain for as long as a service routes to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from function.core import Manifest, dig, dig_list
from function.fleet.values import whole
from function.planning import controllers, provider, statuses
from function.planning import nodes as node_pools
from function.planning.control_plane import ControlPlane
from function.planning.controllers import RemoteObject
from function.planning.nodes import PoolNodes
from function.planning.simulation.losses import is_deleted, is_referred, owner
from function.sandbox.store import Ref, Store, ref_of
from function.scheduling import Matcher
from function.vocabulary import labels


@dataclass(frozen=True, slots=True)
class Taken:
    """What is taken of a pool: nodes, or devices if its nodes are shared."""

    cluster: Ref
    pool: str
    unit: str
    room: int
    taken: int
    stays: int
    """By replicas that have served, are being deleted, or that nobody moves."""

    @property
    def is_too_much(self) -> bool:
        return self.taken > max(self.room, self.stays)

    def __str__(self) -> str:
        return f"pool {self.pool} has {self.room} {self.unit}; {self.taken} are taken, {self.stays} by what stays"


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload of a replica, on a cluster."""

    cluster: str
    ref: Ref
    remote: RemoteObject
    replica: Manifest | None
    """None if it is gone, or belongs to another kind. One that is going still holds its nodes."""
    is_current: bool = True
    """Whether its Object says what there is: the provider does not act on one that is paused, or that has an error."""
    is_left: bool = False
    """Whether nobody moves its replica for now."""

    @property
    def runs(self) -> bool:
        return self.remote.runs is not None

    @property
    def stays(self) -> bool:
        """Whether its replica keeps its nodes, even if there are too few."""
        is_going = self.replica is not None and is_deleted(self.replica)
        return is_going or self.is_left or dig(self.replica, "status", "served") is True


def workloads(control: ControlPlane) -> Iterator[Workload]:
    """The workloads on all clusters on which the provider can act. On others, what is there may be old."""
    faults = control.faults
    for config, cluster in sorted(control.clusters.seen.clusters.items()):
        if faults.cut_off(cluster.name):
            continue
        for ref, remote in control.clusters.things.get(config, {}).items():
            if ref.kind in statuses.WORKLOADS:
                found = control.store.get(remote.owner) if remote.owner else None
                acts = found is not None and not provider.is_paused(found)
                is_current = acts and (remote.owner is None or remote.owner.name not in faults.object_errors)
                replica = _replica_of(control.store, remote)
                is_left = replica is not None and _is_left(control.store, replica)
                yield Workload(cluster.name, ref, remote, replica, is_current, is_left)


def taken(control: ControlPlane) -> Iterator[Taken]:
    """What is taken of each pool on which something is."""
    there: dict[str, list[Workload]] = {}
    for workload in workloads(control):
        there.setdefault(workload.cluster, []).append(workload)
    for config, ref in sorted(control.clusters.seen.clusters.items()):
        cluster = control.store.get(ref)
        if cluster is None or ref.name not in there:
            continue
        made = control.clusters.seen.made.get(config)
        pools = node_pools.read(cluster, control.store.get(made) if made else None, frozenset(), Matcher()).pools
        yield from _of_pools(ref, pools, there[ref.name], control.clusters.things[config])


def _of_pools(
    cluster: Ref, pools: Mapping[str, PoolNodes], there: list[Workload], things: Mapping[Ref, RemoteObject]
) -> Iterator[Taken]:
    all_of: Counter[str] = Counter()
    stays: Counter[str] = Counter()
    for workload in there:
        if workload.replica is None:
            continue
        found = _units(workload, pools, _claims(things, workload.ref.namespace))
        all_of.update(found)
        stays.update(found if workload.stays else {})
    for name in sorted(all_of):
        unit = "devices" if pools[name].shared else "nodes"
        yield Taken(cluster, name, unit, _room(pools[name]), all_of[name], stays[name])


def _units(workload: Workload, pools: Mapping[str, PoolNodes], claims: Mapping[str, Manifest]) -> Counter[str]:
    """Nodes that the pods of a workload take, by pool; devices where pods share nodes."""
    found: Counter[str] = Counter()
    for pod in (pod for pods in controllers.copies(workload.ref, workload.remote.manifest) for pod in pods):
        pool = str(dig(pod, "nodeSelector", labels.POOL) or "")
        asked = [claims.get(r["resourceClaimTemplateName"]) for r in pod.get("resourceClaims") or ()]
        if pool in pools and asked:
            found[pool] += min(sum(map(_devices, asked)), _room_of_node(pools[pool])) if pools[pool].shared else 1
    return found


def _claims(things: Mapping[Ref, RemoteObject], namespace: str) -> dict[str, Manifest]:
    kind = ("ResourceClaimTemplate", namespace)
    return {ref.name: remote.manifest for ref, remote in things.items() if (ref.kind, ref.namespace) == kind}


def _devices(claim: Manifest | None) -> int:
    requests = dig_list(claim, "spec", "spec", "devices", "requests")
    return sum(whole(dig(request, "exactly", "count"), 1) for request in requests)


def _room(pool: PoolNodes) -> int:
    if pool.shared is None:
        return pool.nodes
    return pool.nodes * _room_of_node(pool)


def _room_of_node(pool: PoolNodes) -> int:
    return sum(max(0, device.count) for device in pool.shape.devices)


def _replica_of(store: Store, remote: RemoteObject) -> Manifest | None:
    found = store.get(remote.owner) if remote.owner else None
    owned = owner(store, found, going=True) if found is not None else None
    return owned if owned is not None and owned["kind"] == "ModelReplica" else None


def _is_left(store: Store, replica: Manifest) -> bool:
    deployment = owner(store, replica, going=True)
    stands_still = deployment is not None and (provider.is_paused(deployment) or is_deleted(deployment))
    return stands_still or provider.is_paused(replica) or not is_referred(store, replica) or _drains(store, replica)


def _drains(store: Store, replica: Manifest) -> bool:
    endpoint = store.get(ref_of(replica)._replace(kind="ModelEndpoint"))
    return endpoint is not None and labels.LEAVING in (endpoint["metadata"].get("annotations") or {})
