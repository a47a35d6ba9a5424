"""Objects of an inference cluster, as its API server tells them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from function.observe import autoscaler as autoscalers
from function.observe import reading
from function.observe.inventory import Snapshot

Object = dict[str, Any]
POOL = "modelplane.ai/pool"
H100 = {"productName": "NVIDIA H100 80GB HBM3", "type": "gpu", "architecture": "Hopper"}


def node(name: str, pool: str | None = "h100", *, ready: bool = True, cordoned: bool = False, **more: Any) -> Object:
    taints = more.pop("taints", None)
    labels = {"kubernetes.io/hostname": name, **({POOL: pool} if pool else {}), **more.pop("labels", {})}
    allocatable = more.pop("allocatable", {"cpu": "190", "memory": "1900Gi", "ephemeral-storage": "1000Gi"})
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {**({"unschedulable": True} if cordoned else {}), **({"taints": taints} if taints else {})},
        "status": {
            "allocatable": allocatable,
            "conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}],
        },
    }


def device(name: str, attributes: Object | None = None, memory: str = "80Gi", **more: Any) -> Object:
    shown = H100 if attributes is None else attributes
    return {
        "name": name,
        "attributes": {key: value if isinstance(value, dict) else {"string": value} for key, value in shown.items()},
        "capacity": {"memory": {"value": memory}},
        **more,
    }


def gpus(count: int, memory: str = "80Gi", attributes: Object | None = None) -> list[Object]:
    shown = H100 if attributes is None else attributes
    return [device(f"gpu-{i}", {**shown, "uuid": f"GPU-{i:08}", "index": {"int": i}}, memory) for i in range(count)]


def resource_slice(
    on: str,
    devices: list[Object],
    driver: str = "gpu.nvidia.com",
    *,
    name: str = "",
    generation: int = 1,
    count: int = 1,
) -> Object:
    return {
        "metadata": {"name": name or f"{on}-{driver}"},
        "spec": {
            "driver": driver,
            "nodeName": on,
            "pool": {"name": on, "generation": generation, "resourceSliceCount": count},
            "devices": devices,
        },
    }


def claim(
    name: str, on: str, devices: list[str], pod: str, *, namespace: str = "ml-team", driver: str = "gpu.nvidia.com"
) -> Object:
    results = [{"request": "gpu", "driver": driver, "pool": on, "device": one} for one in devices]
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": pod, "controller": True}],
        },
        "status": {
            "allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": pod, "uid": f"uid-{pod}"}],
        },
    }


def pod(
    name: str,
    on: str = "",
    workload: str = "",
    *,
    namespace: str = "ml-team",
    cpu: str = "1",
    memory: str = "1Gi",
    **more: Any,
) -> Object:
    owner = more.pop("owner", "ReplicaSet")
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "labels": {"modelplane.ai/workload": workload} if workload else {},
            "ownerReferences": [{"kind": owner, "name": name, "controller": True}],
        },
        "spec": {
            **({"nodeName": on} if on else {}),
            "nodeSelector": {POOL: "h100"} if workload else {},
            "containers": [{"name": "engine", "resources": {"requests": {"cpu": cpu, "memory": memory}}}],
        },
        "status": {"phase": "Running" if on else "Pending", **more.pop("status", {})},
        **more,
    }


ENTRY: Object = {
    "name": "gpu",
    "claim": "DRA",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "count": 8,
    "attributes": {"productName": {"string": "NVIDIA H100 80GB HBM3"}, "type": {"string": "gpu"}},
    "capacity": {"memory": {"value": "80Gi"}},
}


def declared(*entries: Object, cluster: str = "east", pool: str = "h100", **more: Any) -> Object:
    """What declared.json holds."""
    return {"version": 1, "cluster": cluster, "pools": {pool: {"devices": list(entries) or [ENTRY], **more}}}


def snapshot(
    *,
    nodes: Iterable[Any] = (),
    slices: Iterable[Any] = (),
    claims: Iterable[Any] = (),
    pods: Iterable[Any] = (),
    owners: Iterable[Any] = (),
    events: Iterable[Any] = (),
    autoscaler: Iterable[Any] = (),
) -> Snapshot:
    """Objects as the observer reads them. What owns pods is told apart by its `kind`."""
    return Snapshot(
        nodes=_read(reading.node, nodes),
        slices=_read(reading.resource_slice, slices),
        claims=_read(reading.claim, claims),
        pods=_read(reading.pod, pods),
        owners=[owner for one in owners if (owner := OWNERS[one["kind"]](one)) is not None],
        events=_read(reading.event, events),
        autoscaler=[group for groups in _read(autoscalers.groups, autoscaler) for group in groups],
    )


OWNERS = {
    "ReplicaSet": reading.replica_set,
    "StatefulSet": reading.stateful_set,
    "LeaderWorkerSet": reading.leader_worker_set,
}


def _read(read: Any, objects: Iterable[Any]) -> list[Any]:
    return [record for one in objects if (record := read(one)) is not None]


def event(reason: str, message: str, about: str, **more: Any) -> Object:
    kind = more.pop("kind", "Pod")
    involved = {"kind": kind, "namespace": "ml-team", "name": about, **more.pop("involved", {})}
    return {
        "metadata": {"namespace": "ml-team", "name": f"{about}.{reason}"},
        "reason": reason,
        "message": message,
        "involvedObject": involved,
        "lastTimestamp": "2026-01-01T00:00:00Z",
        **more,
    }
