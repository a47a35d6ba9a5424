"""Every arrangement of pods on the nodes of a small pool: what a packing that is promised has to withstand.

Nothing here knows of inequalities. Pods are put on nodes one by one, in each way in which their requests can be divided
among the entries of a node.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

from function.scheduling.packing import NodeCapacity, Nodes, PodDemand, Pods

Free: TypeAlias = tuple[tuple[int, ...], tuple[int | None, ...]]
"""What is free on a node: devices of each entry, and resources."""


def free(capacity: NodeCapacity) -> Free:
    return capacity.devices, capacity.resources


@cache
def left(node: Free, pod: PodDemand) -> frozenset[Free]:
    """What may be left of a node with a pod on it; empty if the pod does not fit."""
    devices, resources = node
    if any(has is not None and want and want > has for want, has in zip(pod.resources, resources, strict=True)):
        return frozenset()
    rest = tuple(None if has is None else has - want for want, has in zip(pod.resources, resources, strict=True))
    return frozenset((taken, rest) for taken in _divided(devices, pod.devices))


def _divided(devices: tuple[int, ...], requests: tuple[tuple[int, tuple[int, ...]], ...]) -> Iterator[tuple[int, ...]]:
    if not requests:
        yield devices
        return
    count, entries = requests[0]
    for drawn in itertools.combinations_with_replacement(sorted(set(entries)), count):
        taken = tuple(has - drawn.count(entry) for entry, has in enumerate(devices))
        if min(taken, default=0) >= 0:
            yield from _divided(taken, requests[1:])


def stuck(nodes: Nodes, pods: Pods) -> tuple[PodDemand, tuple[Free, ...]] | None:
    """A pod and an arrangement of others that leaves it no node; None if there is none."""
    start = tuple(sorted((free(c) for c, n in nodes.items() for _ in range(n)), key=repr))
    for pod in (pod for pod, count in pods.items() if count > 0):
        others = [other for other, count in pods.items() for _ in range(count - (other == pod))]
        reached = {start}
        for other in sorted(others, key=repr):
            reached |= {after for before in reached for after in _put(before, other)}
        for arrangement in sorted(reached, key=repr):
            if not any(left(node, pod) for node in arrangement):
                return pod, arrangement
    return None


def _put(before: tuple[Free, ...], pod: PodDemand) -> Iterator[tuple[Free, ...]]:
    for i, node in enumerate(before):
        if node not in before[:i]:
            for after in left(node, pod):
                yield tuple(sorted((*before[:i], after, *before[i + 1 :]), key=repr))
