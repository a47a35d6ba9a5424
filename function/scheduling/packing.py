"""Decides whether every pod of a shared node pool finds a place, however kube-scheduler has put the others.

Terms:

- A *demand* is what one pod takes of a node: devices by request, and cpu, memory and ephemeral storage.
- The *capacity* of a node is what it has for the pods that are counted.
- A set of pods *blocks* a node for a pod if all of the set fit on the node, and the pod does not fit beside them.
- A pool is *safe* if no arrangement of the other pods blocks every node for a pod of the pool. This holds for each pod.

kube-scheduler puts pods one by one, by scores that are not Modelplane's, and pods come back in any order after a
restart. If a pool is safe, no order of arrivals and restarts leaves a pod Pending. A newcomer is admitted if the pool
is safe with the newcomer: the promises to the pods that are there have to hold as well.

Phases of `is_safe`, for each distinct demand, the largest first:

1. Describe what blocks a node of each capacity for the pod by linear inequalities (see `blocking.py`).
2. Ask whether the others can block all nodes at once (see `covering.py`).

Answers are remembered by content, with the steps that they took. A remembered answer charges the same steps, so that an
answer does not depend on what was asked before.

Deliberately coarse:

- The search is bounded in steps. A pool is taken for unsafe if the search reaches the bound.
- kube-scheduler is assumed to find the places that there are. A claim that it would search for too long is refused
  before (see `backtracking.py`).
- Devices and resources count. What else may keep a pod off a node, such as affinity, host ports or the number of pods,
  does not.
- Every arrangement is assumed to be possible, although kube-scheduler's scores make most of them unlikely.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from function.scheduling.blocking import NodeCapacity, PodDemand, Resources, fits_empty
from function.scheduling.budget import StepLimit
from function.scheduling.covering import can_block_all
from function.scheduling.groups import Groups, grouped, lots

__all__ = [
    "NodeCapacity",
    "Nodes",
    "PodDemand",
    "Pods",
    "Resources",
    "fits_empty",
    "is_safe",
    "most_more",
]

Nodes: TypeAlias = Mapping[NodeCapacity, int]
"""The nodes of a pool: how many there are of each capacity."""
Pods: TypeAlias = Mapping[PodDemand, int]
"""The pods of a pool: how many there are of each demand."""

_MOST_STEPS = 20_000
"""Steps for one question. Pools with a few kinds of pods take some hundreds at most."""
_ANSWERS = 4_096
"""Questions whose answers are remembered."""
_GROUPS = 512
"""Descriptions of what blocks nodes that are remembered. Each has some dozens of kilobytes at most."""


def is_safe(nodes: Nodes, pods: Pods, limit: StepLimit | None = None) -> bool:
    """Whether each pod fits, however the others are put on the nodes.

    `limit` is charged with the steps that were taken. If it is exhausted, the answer is False. Raises
    deadline.Exceeded.
    """
    if limit is not None and limit.exhausted:
        return False
    safe, steps = _answer(_canonical_nodes(nodes), _canonical_pods(pods))
    if limit is not None:
        limit.took(steps)
        return safe and not limit.exhausted
    return safe


def most_more(nodes: Nodes, pods: Pods, demand: PodDemand, most: int, limit: StepLimit | None = None) -> int:
    """Return how many more pods of a demand a pool can take and stay safe, up to `most`.

    A pool with fewer pods is at least as safe, so the number is found by doubling and bisection.
    """

    def takes(more: int) -> bool:
        return is_safe(nodes, {**pods, demand: pods.get(demand, 0) + more}, limit)

    low, high = 0, 1
    while high <= most and takes(high):
        low, high = high, most + 1 if high == most else min(high * 2, most)
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if takes(middle) else (low, middle)
    return low


def _canonical_nodes(nodes: Nodes) -> tuple[tuple[NodeCapacity, int], ...]:
    found = [(capacity, count) for capacity, count in nodes.items() if count > 0]
    return tuple(sorted(found, key=lambda one: _generosity(one[0])))


def _generosity(capacity: NodeCapacity) -> tuple[tuple[int, ...], tuple[float, ...]]:
    return capacity.devices, tuple(math.inf if has is None else has for has in capacity.resources)


def _canonical_pods(pods: Pods) -> tuple[tuple[PodDemand, int], ...]:
    found = [(pod, count) for pod, count in pods.items() if count > 0 and not pod.is_empty]
    return tuple(sorted(found, key=lambda one: _size(one[0])))


def _size(demand: PodDemand) -> tuple[int, Resources, tuple[tuple[int, tuple[int, ...]], ...]]:
    """Return a key that sorts the largest demand first: it is the first to find no place."""
    cpu, memory, storage = demand.resources
    return -sum(count for count, _ in demand.devices), (-cpu, -memory, -storage), demand.devices


@lru_cache(maxsize=_ANSWERS)
def _answer(nodes: tuple[tuple[NodeCapacity, int], ...], pods: tuple[tuple[PodDemand, int], ...]) -> tuple[bool, int]:
    """Return whether a pool is safe, and the steps that it took to find out."""
    limit = StepLimit(_MOST_STEPS)
    kinds = tuple(pod for pod, _ in pods)
    for position, pod in enumerate(kinds):
        others = [count - (i == position) for i, (_, count) in enumerate(pods)]
        if can_block_all(_groups(nodes, pod, kinds), others, limit) or not limit.step():
            return False, limit.steps
    return True, limit.steps


@lru_cache(maxsize=_GROUPS)
def _groups(nodes: tuple[tuple[NodeCapacity, int], ...], pod: PodDemand, kinds: tuple[PodDemand, ...]) -> Groups:
    """Return what blocks the nodes for a pod. It does not depend on how many pods there are."""
    return grouped(lots(nodes, pod, kinds), len(kinds))
