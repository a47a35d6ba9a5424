"""Shared nodes: GPUs in use compared with whole nodes, what the promise refuses, and what an answer takes.

Pods of several sizes come to a fleet in random order, until they have asked for as many GPUs as it has. Each goes to
the first pool that takes it:

- *Whole nodes*: a pod takes a node of a pool that has one left.
- *Promised*: a pool that is safe with the pod takes it.
- *Apart*: the same, but the pools that would have the fewest sizes of pods are asked first.
- *Not promised*: a pod takes the fullest node that has room for it. No pod ever moves or restarts there.

A refused pod *would have fitted* if, at that moment, the promised pods lay as densely as they were put one by one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from function.scheduling.budget import StepLimit
from function.scheduling.packing import NodeCapacity, PodDemand, is_safe
from tests.bench import fleet

_CLUSTERS = 3
_MIXES: Mapping[str, Sequence[int]] = {
    "4, as the fleet's replicas": (4,),
    "1": (1,),
    "1, 2": (1, 2),
    "1, 2, 4": (1, 2, 4),
    "1, 2, 3, 4": (1, 2, 3, 4),
    "1, 2, 4, 8": (1, 2, 4, 8),
    "1, 8": (1, 8),
    "8": (8,),
}
"""GPUs of pods. Each size asks for the same number of GPUs in all."""


class _Pool:
    """A pool, filled in one of the ways."""

    def __init__(self, gpus: int, nodes: int) -> None:
        self.node = NodeCapacity((gpus,))
        self.nodes = nodes
        self.pods: Counter[PodDemand] = Counter()
        self.free = [gpus] * nodes

    def takes_whole(self, size: int) -> bool:
        return size <= self.node.devices[0] and self.pods.total() < self.nodes

    def promises(self, pod: PodDemand, limit: StepLimit) -> bool:
        return is_safe({self.node: self.nodes}, {**self.pods, pod: self.pods[pod] + 1}, limit)

    def sizes_with(self, size: int) -> tuple[int, bool]:
        """How many sizes of pods it would have with one of a size; then whether it has none yet."""
        return len({_pod(size), *self.pods}), not self.pods

    def has_room(self, size: int) -> bool:
        return any(left >= size for left in self.free)

    def put(self, size: int) -> None:
        """Put a pod on the fullest node that has room for it, if there is one."""
        self.pods[_pod(size)] += 1
        fitting = [(left, i) for i, left in enumerate(self.free) if left >= size]
        if fitting:
            self.free[min(fitting)[1]] -= size


class _Taken(NamedTuple):
    """What a fleet has taken of the pods that came."""

    in_use: float
    """The share of its GPUs."""
    refused: int = 0
    fitting: int = 0
    """Those that were refused and would have fitted."""
    answers: int = 0
    seconds: float = 0.0
    steps: int = 0


_COLUMNS = (
    "GPUs of pods",
    "whole nodes",
    "promised",
    "apart",
    "not promised",
    "refused, would have fitted",
    "us",
    "steps",
)


def main() -> None:
    table = Table(title="shared nodes: GPUs in use if as many were asked for as there are; refused and answers: apart")
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for name, sizes in _MIXES.items():
        apart = _promised(sizes, apart=True)
        shares = (one.in_use for one in (_whole(sizes), _promised(sizes), apart, _packed(sizes)))
        table.add_row(
            name,
            *(f"{100 * share:.0f} %" for share in shares),
            f"{apart.fitting} of {apart.refused}",
            f"{apart.seconds / apart.answers * 1e6:.0f}",
            f"{apart.steps / apart.answers:.1f}",
        )
    Console(width=140).print(table)


def _pools() -> list[_Pool]:
    """The pools of the fleet that have nodes of several GPUs."""
    published = (pool for cluster in fleet.clusters(_CLUSTERS) for pool in cluster["status"]["gpuPools"])
    return [_Pool(pool["devices"][0]["count"], pool["nodes"]) for pool in published if pool["devices"][0]["count"] > 1]


def _arriving(sizes: Sequence[int], pools: Sequence[_Pool]) -> list[int]:
    gpus = _gpus(pools)
    arriving = [size for size in sizes for _ in range(gpus // len(sizes) // size)]
    Random(1).shuffle(arriving)
    return arriving


def _gpus(pools: Sequence[_Pool]) -> int:
    return sum(pool.nodes * pool.node.devices[0] for pool in pools)


def _pod(size: int) -> PodDemand:
    return PodDemand(((size, (0,)),))


def _used(pools: Sequence[_Pool]) -> float:
    return sum(pod.devices[0][0] * n for pool in pools for pod, n in pool.pods.items()) / _gpus(pools)


def _whole(sizes: Sequence[int]) -> _Taken:
    pools = _pools()
    for size in _arriving(sizes, pools):
        taking = next((pool for pool in pools if pool.takes_whole(size)), None)
        if taking is not None:
            taking.put(size)
    return _Taken(_used(pools))


def _packed(sizes: Sequence[int]) -> _Taken:
    pools = _pools()
    for size in _arriving(sizes, pools):
        taking = next((pool for pool in pools if pool.has_room(size)), None)
        if taking is not None:
            taking.put(size)
    return _Taken(_used(pools))


def _promised(sizes: Sequence[int], *, apart: bool = False) -> _Taken:
    pools, limit = _pools(), StepLimit(10**12)
    refused = fitting = answers = 0
    start = time.thread_time()
    for size in _arriving(sizes, pools):
        asked = 0
        for pool in sorted(pools, key=lambda pool: pool.sizes_with(size)) if apart else pools:
            asked += 1
            if pool.promises(_pod(size), limit):
                pool.put(size)
                break
        else:
            refused += 1
            fitting += any(pool.has_room(size) for pool in pools)
        answers += asked
    return _Taken(_used(pools), refused, fitting, answers, time.thread_time() - start, limit.steps)


if __name__ == "__main__":
    main()
