"""The controllers of one cluster: they write the statuses of workloads, routes, gateways, volumes and Jobs.

A workload's pods take nodes in the order of the remote objects. Pods of a spec that already runs keep their nodes, even
if the devices that the pool publishes have changed since: Kubernetes does not evict a pod for that either. So on shared
nodes they are put before all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, dig_fields, dig_text
from function.planning import nodes as node_pools
from function.planning import preinstalled, statuses, storage
from function.planning.faults import Faults
from function.planning.nodes import Nodes
from function.sandbox.store import Ref
from function.scheduling import Matcher

_WITH_PARENTS = ("HTTPRoute", "InferencePool")


@dataclass(slots=True)
class RemoteObject:
    """An object on a cluster."""

    manifest: dict[str, Any]
    owner: Ref | None = None
    """The Object that manages it; None for a preinstalled one."""
    version: int = 0
    """Counts writes to it."""
    runs: Any = None
    """Of a workload: the spec with which all its pods run. They keep their devices, whatever the pool publishes now."""
    at: tuple[int | None, ...] = ()
    """Of a workload whose pods run: the shared node of each pod."""


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The cluster, as its controllers see it."""

    name: str
    things: Mapping[Ref, RemoteObject]
    nodes: Nodes
    address: str
    """Address of its gateway. Empty if it has none."""
    faults: Faults


def run(
    things: dict[Ref, RemoteObject],
    cluster: Manifest | None,
    faults: Faults,
    matcher: Matcher,
    *,
    made: Manifest | None = None,
) -> int:
    """Write the status of every remote object of a cluster.

    Args:
        things: The remote objects; changed in place.
        cluster: The InferenceCluster; None for the control cluster, which has no pools.
        faults: Faults that are switched on.
        matcher: Evaluates device selectors.
        made: The composite by which a cloud makes the cluster; None for one that exists already.

    Returns:
        How many statuses changed.
    """
    name = dig_text(cluster, "metadata", "name") or ""
    if name in faults.unreachable:
        return 0
    before = sum(remote.version for remote in things.values())
    lost = frozenset(pool for of, pool in faults.lost_pools if of == name)
    nodes = node_pools.read(cluster, made, lost, matcher)
    address = "" if cluster is None or name in faults.without_address else preinstalled.address(cluster)
    there = ClusterView(name, things, nodes, address, faults)
    for ref, remote in _running_first(things) if nodes.are_shared else things.items():
        status = _status(ref, remote, there)
        if status is not None and status != remote.manifest.get("status"):
            remote.manifest = {**remote.manifest, "status": status}
            remote.version += 1
    return sum(remote.version for remote in things.values()) - before


def _running_first(things: Mapping[Ref, RemoteObject]) -> list[tuple[Ref, RemoteObject]]:
    return sorted(things.items(), key=lambda thing: thing[1].runs is None or thing[1].runs != thing[1].manifest["spec"])


def _status(ref: Ref, remote: RemoteObject, there: ClusterView) -> dict[str, Any] | None:
    """The status that an object's controller writes; None for a kind without a controller."""
    manifest = remote.manifest
    if ref.kind in storage.KINDS:
        return storage.status(manifest, there.things, there.faults.failed_hydrations.get(there.name, 0))
    if ref.kind in statuses.WORKLOADS:
        return _workload(ref, remote, there)
    if ref.kind in _WITH_PARENTS:
        return statuses.accepted(manifest, {r[1:] for r in there.things})
    if ref.kind == "Gateway":
        return statuses.gateway(manifest, there.address)
    return statuses.unconditional(manifest) if ref.kind in statuses.CONDITIONS else None


def _workload(ref: Ref, workload: RemoteObject, there: ClusterView) -> dict[str, Any]:
    manifest = workload.manifest
    claims = {
        r.name: remote.manifest
        for r, remote in there.things.items()
        if r.kind == "ResourceClaimTemplate" and r.namespace == ref.namespace
    }
    runs = workload.runs == manifest["spec"]
    before = iter(workload.at if runs else ())
    placed = [_copy(pods, claims, there, before, runs=runs) for pods in copies(ref, manifest)]
    problem = next((p for p, _ in placed if p), "")
    workload.runs = None if problem else manifest["spec"]
    workload.at = () if problem else tuple(node for _, nodes in placed for node in nodes)
    status: dict[str, Any] = statuses.WORKLOADS[ref.kind](manifest, sum(not p for p, _ in placed), problem)
    return status


def _copy(
    pods: list[Manifest],
    claims: Mapping[str, Manifest],
    there: ClusterView,
    before: Iterator[int | None],
    *,
    runs: bool,
) -> tuple[str, list[int | None]]:
    """Why one copy does not run, which is empty if it does, and the shared node of each pod.

    `before` has the nodes on which its pods run. A copy whose image does not start still takes its nodes.
    """
    placed = [there.nodes.take(pod, claims, runs=runs, at=next(before, None)) for pod in pods]
    images = [c["image"] for pod in pods for c in pod["containers"] if c["image"] in there.faults.broken_images]
    problem = next((p for p, _ in placed if p), f"image {images[0]} does not start" if images else "")
    return problem, [node for _, node in placed]


def copies(ref: Ref, manifest: Manifest) -> Iterator[list[Manifest]]:
    """The pods of each copy of a workload."""
    spec = manifest["spec"]
    for _ in range(int(spec.get("replicas", 1))):
        if ref.kind == "Deployment":
            yield [spec["template"]["spec"]]
            continue
        group = spec["leaderWorkerTemplate"]
        worker = group["workerTemplate"]["spec"]
        yield [dig_fields(group, "leaderTemplate", "spec") or worker, *[worker] * (int(group.get("size", 1)) - 1)]
