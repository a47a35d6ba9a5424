"""One deployment on a small fleet: edits, losses and decisions carried out, as Crossplane and the clusters would."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from function.core import NamespacedName
from function.scheduling import (
    Action,
    Cluster,
    Device,
    DeviceRequest,
    Engine,
    Fleet,
    Job,
    Member,
    NodeShape,
    Placement,
    Plan,
    Pool,
    Replica,
    Revision,
    nodes_of,
    solve,
)

ME = NamespacedName("ml", "me")
SHAPE = NodeShape((Device("gpu", 8, "gpu.example.com", "gpu"),))


class Any:
    text = "any"
    price = 1

    def judge(self, published: object, /) -> bool:
        return True


ANY = Any()


@dataclass
class Play:
    """A revision is named `<image> <nodes>`; an image that begins with "bad" never starts."""

    pools: dict[str, int]
    """Nodes of each cluster's one pool."""
    revision: str = "good 1"
    wanted: int = 1
    waved: bool = False
    lingering: bool = False
    """Whether dropped replicas stay, since a service still leads to them."""
    replicas: tuple[Replica, ...] = ()
    noted: tuple[Revision, ...] = ()
    clock: int = 0
    given: Counter[str] = field(default_factory=Counter)
    """How often each revision was given to a replica that served."""

    @property
    def fleet(self) -> Fleet:
        clusters = {name: Cluster(name, pools=(Pool("p", nodes, SHAPE),)) for name, nodes in self.pools.items()}
        return Fleet(clusters, self.replicas)

    @property
    def job(self) -> Job:
        engine = Engine(
            "e", int(self.revision.split()[1]), (Member("Standalone", 1, (DeviceRequest("gpu", 1, (ANY,)),)),)
        )
        return Job(ME, self.wanted, (engine,), spec_hash=self.revision, revisions=self.noted, rolls_anyway=self.waved)

    @property
    def serving(self) -> list[str]:
        """The revisions of the replicas that serve."""
        return sorted(r.spec_hash for r in self.replicas if r.serving and r.cluster in self.pools)

    def edit(self, revision: str | None = None, replicas: int | None = None) -> None:
        self.revision = self.revision if revision is None else revision
        self.wanted = self.wanted if replicas is None else replicas

    def lose(self, cluster: str) -> None:
        del self.pools[cluster]

    def decide(self) -> Plan:
        """One reconcile: decide, and carry it out. What is dropped is gone at once, unless it lingers."""
        plan = solve(self.job, self.fleet)
        self.clock += 1
        for p in plan.placements:
            self.given[self.revision] += p.action is Action.UPDATE and p.replica is not None and p.replica.serving
        kept = [r for r in plan.departing if self.lingering and r.cluster in self.pools]
        others = [r for r in self.replicas if r.deployment != ME]
        self.replicas = (*(self._made(p, plan) for p in plan.placements), *kept, *others)
        self.noted = plan.revisions
        return plan

    def start(self) -> None:
        """Pods start where their nodes are free and their image is good."""
        self.replicas = tuple(map(self._started, self.replicas))

    def settle(self, passes: int = 20) -> Plan:
        """Reconcile and start until nothing changes."""
        for _ in range(passes):
            before = self.replicas, self.noted
            plan = self.decide()
            self.start()
            if (self.replicas, self.noted) == before:
                return plan
        raise AssertionError(f"never at rest: {self.replicas}")

    def _made(self, p: Placement, plan: Plan) -> Replica:
        created = f"2026-01-01T00:{self.clock // 60:02}:{self.clock % 60:02}Z"
        name = NamespacedName("ml", f"me-{p.cluster}-{p.index}-{self.clock}")
        old = p.replica or Replica(name, ME, p.cluster, p.index, p.engines, created=created, placed_under="")
        kept = replace(old, previous=p.previous, moving_for=plan.moving_for(p, self.revision))
        if p.fit is None:
            return kept
        return replace(kept, engines=p.engines, spec_hash=self.revision, ready=False, serving=False)

    def _started(self, replica: Replica) -> Replica:
        if replica.deployment != ME:
            return replica
        if replica.spec_hash.startswith("bad") or replica.cluster not in self.pools:
            return replace(replica, serving=False, ready=False)
        on = [r for r in self.replicas if r.cluster == replica.cluster]
        used = sum(nodes_of(r.engines).get("p", 0) for r in on)
        if used > self.pools[replica.cluster] and not replica.serving:
            return replica
        return replace(replica, ready=True, serving=True, served=True, previous=None)


def serving(wanted: int, revision: str = "good 1", **pools: int) -> Play:
    """A deployment at rest, all of whose replicas serve."""
    play = Play(dict(pools), revision, wanted)
    play.settle()
    assert play.serving == [revision] * min(wanted, sum(pools.values()) // int(revision.split()[1]))
    return play
