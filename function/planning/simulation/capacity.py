"""Counts pods on the simulated clusters, from the workloads that are there, and compares them with what pools have.

The function counts the nodes of ModelReplicas. A fault in its counting would not show if this counted in the same way.

Deliberately coarse:

- On shared nodes devices are counted, not cpu and memory.
- What a replica that is gone has left is not counted: nobody can delete it while a kubeconfig is missing.
- Replicas that have served may take more than there is. Their pool shrank, which its owner decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from function.core import Manifest, dig
from function.fleet.values import whole
from function.planning import controllers, statuses
from function.planning import nodes as node_pools
from function.planning.control_plane import ControlPlane
from function.planning.controllers import RemoteObject
from function.planning.nodes import PoolNodes
from function.planning.simulation.losses import owner
from function.sandbox.store import Ref, Store
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
    served: int
    """By replicas that have served."""

    @property
    def is_too_much(self) -> bool:
        return self.taken > max(self.room, self.served)

    def __str__(self) -> str:
        return f"pool {self.pool} has {self.room} {self.unit}; {self.taken} are taken, {self.served} by what has served"


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload of a replica, on a cluster."""

    cluster: str
    ref: Ref
    remote: RemoteObject
    replica: Manifest | None
    """None if it is going, or belongs to another kind."""

    @property
    def runs(self) -> bool:
        return self.remote.runs is not None

    @property
    def has_served(self) -> bool:
        return dig(self.replica, "status", "served") is True


def workloads(control: ControlPlane) -> Iterator[Workload]:
    """The workloads on all clusters on which the provider can act. On others, what is there may be old."""
    for config, cluster in sorted(control.clusters.seen.clusters.items()):
        if cluster.name in control.faults.unreachable or cluster.name in control.faults.provider_errors:
            continue
        for ref, remote in control.clusters.things.get(config, {}).items():
            if ref.kind in statuses.WORKLOADS:
                yield Workload(cluster.name, ref, remote, _replica_of(control.store, remote))


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
    served: Counter[str] = Counter()
    for workload in there:
        if workload.replica is None:
            continue
        found = _units(workload, pools, _claims(things, workload.ref.namespace))
        all_of.update(found)
        served.update(found if workload.has_served else {})
    for name in sorted(all_of):
        unit = "devices" if pools[name].shared else "nodes"
        yield Taken(cluster, name, unit, _room(pools[name]), all_of[name], served[name])


def _units(workload: Workload, pools: Mapping[str, PoolNodes], claims: Mapping[str, Manifest]) -> Counter[str]:
    """Nodes that the pods of a workload take, by pool; devices where pods share nodes."""
    found: Counter[str] = Counter()
    for pod in (pod for pods in controllers.copies(workload.ref, workload.remote.manifest) for pod in pods):
        pool = str(dig(pod, "nodeSelector", labels.POOL) or "")
        asked = [claims.get(r["resourceClaimTemplateName"]) for r in pod.get("resourceClaims") or ()]
        if pool in pools and asked:
            found[pool] += sum(map(_devices, asked)) if pools[pool].shared else 1
    return found


def _claims(things: Mapping[Ref, RemoteObject], namespace: str) -> dict[str, Manifest]:
    kind = ("ResourceClaimTemplate", namespace)
    return {ref.name: remote.manifest for ref, remote in things.items() if (ref.kind, ref.namespace) == kind}


def _devices(claim: Manifest | None) -> int:
    requests = dig(claim, "spec", "spec", "devices", "requests") or ()
    return sum(whole(dig(request, "exactly", "count"), 1) for request in requests)


def _room(pool: PoolNodes) -> int:
    if pool.shared is None:
        return pool.nodes
    return pool.nodes * sum(max(0, device.count) for device in pool.shape.devices)


def _replica_of(store: Store, remote: RemoteObject) -> Manifest | None:
    found = store.get(remote.owner) if remote.owner else None
    owned = owner(store, found) if found is not None else None
    return owned if owned is not None and owned["kind"] == "ModelReplica" else None
