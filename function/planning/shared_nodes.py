"""What is left of each node of a pool whose nodes are shared, while pods are put on them one by one.

A pod that runs stays on its node, whatever is published of the node now. Any other goes to the node with the most free
devices. That is how kube-scheduler spreads pods by default, and leaves the least room for large ones: a plan shows no
luck.

Its devices are the first of the node that let all of its claims be met, as Kubernetes' allocator takes them.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field, replace

from function.scheduling import NodeCapacity, NodeShape, PodDemand
from function.scheduling.packing import fits_empty
from function.scheduling.sharing import capacity


@dataclass(slots=True)
class SharedNodes:
    """The nodes of a shared pool."""

    shape: NodeShape
    left: list[NodeCapacity]
    """What is left of each node."""
    _order: list[tuple[int, int]] = field(init=False)
    """Free devices, negated, and the node: the node with the most first."""

    def __post_init__(self) -> None:
        self._order = sorted((-sum(has.devices), node) for node, has in enumerate(self.left))

    @classmethod
    def empty(cls, shape: NodeShape, nodes: int) -> SharedNodes:
        """Return nodes without pods."""
        return cls(shape, [capacity(shape)] * nodes)

    def take(self, demand: PodDemand, at: int | None = None) -> int | None:
        """Put a pod on a node, and return the node; None if it fits on none.

        `at` is the node on which it runs. It stays there if there is such a node.
        """
        runs = at is not None and at < len(self.left)
        node = at if runs else self._first(demand)
        if node is not None:
            has = self.left[node]
            self._order.remove((-sum(has.devices), node))
            self.left[node] = _after(has, demand) if fits_empty(has, demand) else replace(has, devices=_none(has))
            insort(self._order, (-sum(self.left[node].devices), node))
        return node

    def _first(self, demand: PodDemand) -> int | None:
        """Return the node with the most free devices of those on which a pod fits. Like nodes are looked at once."""
        fits: dict[NodeCapacity, bool] = {}
        for _, node in self._order:
            has = self.left[node]
            if has not in fits:
                fits[has] = fits_empty(has, demand)
            if fits[has]:
                return node
        return None


def _none(node: NodeCapacity) -> tuple[int, ...]:
    return (0,) * len(node.devices)


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
