"""What is left of each node of a pool whose nodes are shared, while pods are put on them one by one.

A pod that runs stays on its node, whatever is published of the node now. Any other goes to the node with the most free
devices. That is how kube-scheduler spreads pods by default, and leaves the least room for large ones: a plan shows no
luck.

Its devices are the first of the node that let all of its claims be met, as Kubernetes' allocator takes them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from function.scheduling import NodeCapacity, NodeShape, PodDemand
from function.scheduling.packing import fits_empty
from function.scheduling.sharing import capacity


@dataclass(slots=True)
class SharedNodes:
    """The nodes of a shared pool."""

    shape: NodeShape
    left: list[NodeCapacity]
    """What is left of each node."""

    @classmethod
    def empty(cls, shape: NodeShape, nodes: int) -> SharedNodes:
        """Return nodes without pods."""
        return cls(shape, [capacity(shape)] * nodes)

    def take(self, demand: PodDemand, at: int | None = None) -> int | None:
        """Put a pod on a node, and return the node; None if it fits on none.

        `at` is the node on which it runs. It stays there if there is such a node.
        """
        if at is not None and at < len(self.left):
            has = self.left[at]
            self.left[at] = (
                _after(has, demand) if fits_empty(has, demand) else replace(has, devices=(0,) * len(has.devices))
            )
            return at
        order = sorted(range(len(self.left)), key=lambda node: (-sum(self.left[node].devices), node))
        node = next((node for node in order if fits_empty(self.left[node], demand)), None)
        if node is not None:
            self.left[node] = _after(self.left[node], demand)
        return node


def _after(node: NodeCapacity, demand: PodDemand) -> NodeCapacity:
    """Return what is left of a node with a pod that fits on it."""
    cpu, memory, storage = (
        None if has is None else has - asks for has, asks in zip(node.resources, demand.resources, strict=True)
    )
    left, waiting = replace(node, resources=(cpu, memory, storage)), list(demand.devices)
    while waiting:
        count, entries = waiting.pop(0)
        for entry in entries:
            for _ in range(min(count, left.devices[entry])):
                fewer = _without(left, entry)
                rest = [*waiting, *([(count - 1, entries)] if count > 1 else [])]
                if not fits_empty(fewer, PodDemand(tuple(rest))):
                    break
                left, count = fewer, count - 1
    return left


def _without(node: NodeCapacity, entry: int) -> NodeCapacity:
    devices = list(node.devices)
    devices[entry] -= 1
    return replace(node, devices=tuple(devices))
