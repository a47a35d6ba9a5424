"""The kinds of objects that the observer reads, and why a kind cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from function.observe import autoscaler, reading
from function.vocabulary import labels

Reader = Callable[[Any], Any]
"""Makes a record of an object; None if it is of no use."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind, or some objects of a kind."""

    plural: str
    """As RBAC and kubectl name it."""
    path: str
    """Of the list, below the API server's address."""
    read: Reader
    selectors: Mapping[str, str]
    """Parameters that restrict the list."""
    of: str = ""
    """Which of them, for people."""

    def __str__(self) -> str:
        return f"{self.plural} {self.of}".rstrip()


_LWS_NAME = "leaderworkerset.sigs.k8s.io/name"
"""Label of the StatefulSets of a LeaderWorkerSet (lws v0.9, api/leaderworkerset/v1)."""


def _kind(plural: str, path: str, read: Reader, selectors: Mapping[str, str] | None = None, of: str = "") -> Kind:
    return Kind(plural, path, read, selectors or {}, of)


NODES = _kind("nodes", "/api/v1/nodes", reading.node)
PODS = _kind("pods", "/api/v1/pods", reading.pod)
SLICES = _kind("resourceslices", "/apis/resource.k8s.io/v1/resourceslices", reading.resource_slice)
CLAIMS = _kind("resourceclaims", "/apis/resource.k8s.io/v1/resourceclaims", reading.claim)
WARNINGS = _kind("events", "/api/v1/events", reading.event, {"fieldSelector": "type=Warning"})
SCALING = _kind("events", "/api/v1/events", reading.event, {"fieldSelector": f"source={autoscaler.SOURCE}"})
"""Events of the autoscaler are of type Normal, even those of a failure."""
REPLICA_SETS = _kind(
    "replicasets", "/apis/apps/v1/replicasets", reading.replica_set, {"labelSelector": labels.WORKLOAD}
)
STATEFUL_SETS = _kind("statefulsets", "/apis/apps/v1/statefulsets", reading.stateful_set, {"labelSelector": _LWS_NAME})
LEADER_WORKER_SETS = _kind(
    "leaderworkersets",
    "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",
    reading.leader_worker_set,
)
AUTOSCALER = _kind(
    "configmaps",
    f"/api/v1/namespaces/{autoscaler.NAMESPACE}/configmaps",
    autoscaler.groups,
    {"fieldSelector": f"metadata.name={autoscaler.NAME}"},
    of=f"{autoscaler.NAMESPACE}/{autoscaler.NAME}",
)
OWNERS = (REPLICA_SETS, STATEFUL_SETS, LEADER_WORKER_SETS)
EVENTS = (WARNINGS, SCALING)
CAPACITY = (NODES, SLICES, CLAIMS, PODS)
"""What an observation of devices and nodes needs."""
DEVICE_CLASSES = _kind("deviceclasses", "/apis/resource.k8s.io/v1/deviceclasses", reading.device_class)
"""Read only by people's commands."""
