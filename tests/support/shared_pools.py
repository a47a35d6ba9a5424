"""Deployments on small pools whose nodes are shared, with everything that their pods can be at one moment.

Nothing here uses the scheduler's own account: which pods can exist is listed copy by copy, and whether they find a
place is tried by every arrangement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from function.core import NamespacedName
from function.scheduling import (
    Claimed,
    Device,
    DeviceRequest,
    Engine,
    Job,
    Member,
    NodeCapacity,
    NodeShape,
    PlacedEngine,
    PodDemand,
    PodNeeds,
    Pool,
)
from function.scheduling.fleet import Specs
from tests.support import arrangements
from tests.support.fleets import GPU, Wants

SHAPES = {
    "two": NodeShape((Device("gpu", 2, GPU, "gpu small", 24),)),
    "four": NodeShape((Device("gpu", 4, GPU, "gpu big", 80),)),
    "mixed": NodeShape((Device("a", 2, GPU, "gpu small", 24), Device("b", 2, GPU, "gpu big", 80))),
    "counted": NodeShape((Device("gpu", 4, GPU, "gpu big", 80),), (8, None, None)),
}


@dataclass(frozen=True)
class Wish:
    """The spec of a deployment's one engine."""

    devices: int = 1
    word: str = "gpu"
    copies: int = 1
    workers: int = 0
    """Workers of a gang, whose leader requests cpu only; 0 for an engine of one pod."""
    cpu: int = 0

    def engine(self) -> Engine:
        asked = (DeviceRequest("gpu", self.devices, (Wants(self.word),)),)
        if not self.workers:
            return Engine("e", self.copies, (Member("Standalone", 1, asked, (self.cpu, 0, 0)),))
        leader = Member("Leader", 1, (), (1, 0, 0))
        return Engine("e", self.copies, (leader, Member("Worker", self.workers, asked, (self.cpu, 0, 0))))


def job(owner: NamespacedName, replicas: int, *wishes: Wish) -> Job:
    """A deployment with an engine for each wish."""
    engines = tuple(
        Engine(f"e{i}", engine.copies, engine.members) for i, engine in enumerate(w.engine() for w in wishes)
    )
    return Job(owner, replicas, engines, spec_hash=repr(wishes))


def stuck(pool: Pool, running: Iterable[Specs]) -> tuple[PodDemand, object] | None:
    """A pod of a shared pool that may find no place, and how the others are then. `running` has, for each replica, the
    specs of which pods may run."""
    nodes = {_node(pool.shape): pool.nodes} if pool.nodes else {}
    engines = [moments for specs in running for moments in _engines(specs, pool)]
    tried: set[frozenset[tuple[PodDemand, int]]] = set()
    for chosen in product(*engines):
        pods: Counter[PodDemand] = Counter()
        for moment in chosen:
            pods.update(moment)
        if frozenset(pods.items()) not in tried:
            tried.add(frozenset(pods.items()))
            if found := arrangements.stuck(nodes, pods):
                return found
    return None


def _node(shape: NodeShape) -> NodeCapacity:
    return NodeCapacity(tuple(d.count if d.device_class else 0 for d in shape.devices), shape.node)


def _on_a_node(demand: PodDemand, shape: NodeShape) -> PodDemand:
    """All of a node for a pod that does not fit on one: the pool has another class by now."""
    node = _node(shape)
    if arrangements.left(arrangements.free(node), demand):
        return demand
    cpu = min(demand.resources[0], node.resources[0] or 0)
    return PodDemand(tuple((n, (i,)) for i, n in enumerate(node.devices) if n), (cpu, 0, 0))


def _engines(specs: Specs, pool: Pool) -> Iterator[list[Counter[PodDemand]]]:
    """For each engine of a replica, all that its pods on a pool can be: some copies of each spec, no more in all than
    the larger spec has."""
    for name in sorted({engine.name for spec in specs for engine in spec}):
        versions = [engine for spec in specs for engine in spec if engine.name == name]
        most = max(engine.copies for engine in versions)
        numbers = [n for n in product(*(range(e.copies + 1) for e in versions)) if sum(n) <= most]
        yield [_pods(versions, n, pool) for n in numbers]


def _pods(versions: Sequence[PlacedEngine], numbers: Sequence[int], pool: Pool) -> Counter[PodDemand]:
    pods: Counter[PodDemand] = Counter()
    for engine, copies in zip(versions, numbers, strict=True):
        for member in engine.members:
            if member.pool == pool.name and copies:
                pods[_on_a_node(_demand(member.needs(), pool.shape), pool.shape)] += member.pods * copies
    return Counter({demand: n for demand, n in pods.items() if demand != PodDemand()})


def _demand(needs: PodNeeds, shape: NodeShape) -> PodDemand:
    claims = [(claimed.count, _entries(claimed, shape)) for claimed in needs.claims]
    return PodDemand(tuple(sorted(claims)), (needs.resources[0] if shape.node[0] is not None else 0, 0, 0))


def _entries(claimed: Claimed, shape: NodeShape) -> tuple[int, ...]:
    judged = [all(s.judge(d.published) for s in claimed.selectors or ()) for d in shape.devices]
    return tuple(i for i, matches in enumerate(judged) if matches)
