"""Small shared pools at random: nodes that may differ, pods of a few kinds, several entries, cpu and memory."""

from __future__ import annotations

from collections import Counter
from random import Random

from function.scheduling.packing import NodeCapacity, PodDemand, fits_empty


def small_pool(random: Random) -> tuple[Counter[NodeCapacity], Counter[PodDemand]]:
    """At most four nodes and seven pods: every arrangement of these can be listed."""
    while True:
        entries, counted = random.choice((1, 1, 2, 3)), random.random() < 0.5
        nodes = Counter(
            {_capacity(random, entries, counted=counted): random.randint(1, 2) for _ in range(random.choice((1, 1, 2)))}
        )
        kinds = [_demand(random, entries, counted=counted) for _ in range(random.randint(1, 3))]
        pods = Counter({kind: random.randint(1, 3) for kind in kinds if any(fits_empty(node, kind) for node in nodes)})
        if pods and pods.total() <= 7:
            return nodes, pods


def _capacity(random: Random, entries: int, *, counted: bool) -> NodeCapacity:
    sizes = (2, 4, 8) if entries == 1 else (1, 2, 4)
    cpu, memory = (random.choice((None, 8, 10)), random.choice((None, 6))) if counted else (None, None)
    return NodeCapacity(tuple(random.choice(sizes) for _ in range(entries)), (cpu, memory, None))


def _demand(random: Random, entries: int, *, counted: bool) -> PodDemand:
    requests = [
        (random.choice((1, 1, 2, 3, 4)), tuple(sorted(random.sample(range(entries), random.randint(1, entries)))))
        for _ in range(random.choice((0, 1, 1, 1, 2)) if counted else random.choice((1, 1, 2)))
    ]
    return PodDemand(
        tuple(sorted(requests)), (random.randint(0, 5), random.choice((0, 1, 2)), 0) if counted else (0, 0, 0)
    )
