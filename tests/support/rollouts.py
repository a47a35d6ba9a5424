"""One deployment on a small fleet: edits, losses and decisions carried out, as Crossplane and the clusters would."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from function.core import NamespacedName
from function.fleet import renderings
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
    """A spec is named `<image> <nodes>`; an image that begins with "bad" never starts. A revision is a spec and a
    version of the function, which composes the pods of a spec in its own way."""

    pools: dict[str, int]
    """Nodes of each cluster's one pool."""
    revision: str = "good 1"
    wanted: int = 1
    rendering: int = 1
    """The version of the function."""
    waved: bool = False
    lingering: bool = False
    """Whether dropped replicas stay, since a service still leads to them."""
    replicas: tuple[Replica, ...] = ()
    noted: tuple[Revision, ...] = ()
    clock: int = 0
    given: Counter[str] = field(default_factory=Counter)
    """How often each revision was given to a replica that served."""
    runs: dict[NamespacedName, str] = field(default_factory=dict)
    """The revision that the pods of each replica have."""
    restarting: set[NamespacedName] = field(default_factory=set)
    """Replicas whose pods served, and were replaced with the last start. They are up with the next."""
    broken: frozenset[int] = frozenset()
    """Versions of the function that compose pods which never start."""

    @property
    def current(self) -> str:
        return renderings.revision(self.revision, self.rendering)

    @property
    def fleet(self) -> Fleet:
        clusters = {name: Cluster(name, pools=(Pool("p", nodes, SHAPE),)) for name, nodes in self.pools.items()}
        return Fleet(clusters, tuple(map(self._read, self.replicas)))

    def _read(self, replica: Replica) -> Replica:
        """A replica as its deployment reads it: what it says of itself may be older than what it was given."""
        if replica.deployment != ME:
            return replica
        is_current = replica.spec_hash == renderings.revision(renderings.spec_hash(replica.spec_hash), self.rendering)
        held_back = not is_current and renderings.spec_hash(replica.spec_hash) == self.revision
        return replace(replica, held_back=held_back, ready=replica.ready and not (replica.awaits_turn and is_current))

    @property
    def job(self) -> Job:
        engine = Engine(
            "e", int(self.revision.split()[1]), (Member("Standalone", 1, (DeviceRequest("gpu", 1, (ANY,)),)),)
        )
        noted = (*self.noted, *renderings.tried_before(self.noted, self.current))
        return Job(ME, self.wanted, (engine,), spec_hash=self.current, revisions=noted, rolls_anyway=self.waved)

    @property
    def serving(self) -> list[str]:
        """The revisions that the replicas that serve were given."""
        return sorted(r.spec_hash for r in self.replicas if r.serving and r.cluster in self.pools)

    def edit(self, revision: str | None = None, replicas: int | None = None) -> None:
        self.revision = self.revision if revision is None else revision
        self.wanted = self.wanted if replicas is None else replicas

    def upgrade(self, to: int) -> None:
        """Another version of the function runs."""
        self.rendering = to

    def lose(self, cluster: str) -> None:
        del self.pools[cluster]

    def decide(self) -> Plan:
        """One reconcile: decide, and carry it out. What is dropped is gone at once, unless it lingers."""
        plan = solve(self.job, self.fleet)
        self.clock += 1
        for p in plan.placements:
            self.given[self.current] += p.action is Action.UPDATE and p.replica is not None and p.replica.serving
        kept = [r for r in plan.departing if self.lingering and r.cluster in self.pools]
        others = [r for r in self.replicas if r.deployment != ME]
        self.replicas = (*(self._made(p, plan) for p in plan.placements), *kept, *others)
        self.noted = plan.revisions
        return plan

    def start(self) -> None:
        """Replicas compose what they were given, or say that they await their turn. Pods start where their nodes are
        free and their image is good."""
        self.restarting = set()
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
        kept = replace(self._as_is(old), previous=p.previous, moving_for=plan.moving_for(p, self.current))
        if p.fit is None:
            return kept
        if old.held_back:  # an annotation changes, and all that the replica says of itself is as before
            return replace(kept, engines=p.engines, spec_hash=self.current)
        return replace(kept, engines=p.engines, spec_hash=self.current, ready=False, serving=False)

    def _as_is(self, read: Replica) -> Replica:
        """A replica as it says, whatever its deployment made of that."""
        said = next((r.ready for r in self.replicas if r.identity == read.identity), read.ready)
        return replace(read, ready=said, held_back=False)

    def _started(self, replica: Replica) -> Replica:
        if replica.deployment != ME:
            return replica
        replica = self._composed(replica)
        runs = self.runs[replica.identity]
        if replica.identity in self.restarting:
            return replica
        if runs.startswith("bad") or _number(runs) in self.broken or replica.cluster not in self.pools:
            return replace(replica, serving=False, ready=False)
        on = [r for r in self.replicas if r.cluster == replica.cluster]
        used = sum(nodes_of(r.engines).get("p", 0) for r in on)
        if used > self.pools[replica.cluster] and not replica.serving:
            return replica
        return replace(replica, ready=True, serving=True, served=True, previous=None)

    def will_restart(self, replica: Replica) -> bool:
        """Whether the function composes other pods for a replica: it is whole, and it was given what it does not run.

        What another version composed stays until the replica was given its turn.
        """
        runs = self.runs.get(replica.identity, "")
        is_of_spec = renderings.spec_hash(runs) == renderings.spec_hash(replica.spec_hash)
        return runs != replica.spec_hash and (_number(replica.spec_hash) == self.rendering or not is_of_spec)

    def _composed(self, replica: Replica) -> Replica:
        """Compose the pods of a replica, or let it say that it awaits its turn. Pods that serve are gone then until the
        next start."""
        if self.will_restart(replica):
            self.runs[replica.identity] = replica.spec_hash
            if replica.serving:
                self.restarting.add(replica.identity)
                replica = replace(replica, ready=False, serving=False)
        return replace(replica, answered=True, awaits_turn=_number(replica.spec_hash) != self.rendering)


def _number(revision: str) -> int:
    """The version of the function in a revision."""
    _, _, number = revision.rpartition("-")
    return int(number) if number.isdecimal() else 1


def serving(wanted: int, revision: str = "good 1", **pools: int) -> Play:
    """A deployment at rest, all of whose replicas serve."""
    play = Play(dict(pools), revision, wanted)
    play.settle()
    assert play.serving == [revision] * min(wanted, sum(pools.values()) // int(revision.split()[1]))
    return play
