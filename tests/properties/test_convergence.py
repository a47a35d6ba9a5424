"""Any number of deployments, reconciled in any order and from stale snapshots, come to rest without overcommit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from function.core import NamespacedName
from function.scheduling import (
    Action,
    Cluster,
    DeviceRequest,
    Engine,
    Fleet,
    Job,
    Member,
    Pool,
    Replica,
    nodes_of,
    solve,
)
from tests.support.fleets import GPUS, Wants

OWNERS = tuple(NamespacedName(ns, name) for ns, name in (("ml", "a"), ("ml", "b"), ("hr", "a"), ("hr", "c")))
owners = st.sampled_from(OWNERS)
names = st.sampled_from("xyz")
shapes = st.sampled_from(["small", "big", "mixed"]).map(GPUS.__getitem__)
pools = st.lists(
    st.builds(Pool, name=st.sampled_from("pq"), nodes=st.integers(0, 3), shape=shapes),
    min_size=1,
    max_size=2,
    unique_by=lambda p: p.name,
).map(tuple)


class Deployments(RuleBasedStateMachine):
    """The fleet as it is, and as each deployment last saw it."""

    def __init__(self) -> None:
        super().__init__()
        self.fleet = Fleet({}, ())
        self.seen: dict[NamespacedName, Fleet] = {}
        self.jobs: dict[NamespacedName, Job] = {}
        self.clock = 0
        self.shrunk: set[str] = set()

    @initialize(
        drawn=st.dictionaries(names, pools, min_size=1, max_size=3),
        wanted=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    )
    def start(self, drawn, wanted) -> None:
        self.fleet = Fleet({name: Cluster(name, pools=p) for name, p in drawn.items()}, ())
        self.jobs = {owner: _job(owner, n, nodes=1) for owner, n in zip(OWNERS, wanted, strict=True)}
        self.seen = dict.fromkeys(OWNERS, self.fleet)

    # What users, clouds and clusters do

    @rule(owner=owners, replicas=st.integers(0, 3))
    def scale(self, owner, replicas) -> None:
        self.jobs[owner] = replace(self.jobs[owner], replicas=replicas)

    @rule(owner=owners, word=st.sampled_from(["gpu", "small", "big"]))
    def edit_the_selector(self, owner, word) -> None:
        self.jobs[owner] = _job(owner, self.jobs[owner].replicas, nodes=1, word=word)

    @rule(owner=owners, nodes=st.integers(1, 3))
    def edit_the_nodes_it_needs(self, owner, nodes) -> None:
        self.jobs[owner] = _job(owner, self.jobs[owner].replicas, nodes=nodes)

    @rule(name=names, pools=pools)
    def add_a_cluster(self, name, pools) -> None:
        if name not in self.fleet.clusters:
            self._clusters({**self.fleet.clusters, name: Cluster(name, pools=pools)})

    @rule(name=names)
    def lose_a_cluster(self, name) -> None:
        if len(self.fleet.clusters) > 1:
            self._clusters({n: c for n, c in self.fleet.clusters.items() if n != name})

    @rule(name=names, nodes=st.integers(0, 3))
    def resize_pools(self, name, nodes) -> None:
        if cluster := self.fleet.clusters.get(name):
            resized = replace(cluster, pools=tuple(replace(p, nodes=nodes) for p in cluster.pools))
            self._clusters({**self.fleet.clusters, name: resized})

    @rule(name=names, deleting=st.booleans())
    def drain(self, name, deleting) -> None:
        if cluster := self.fleet.clusters.get(name):
            self._clusters({**self.fleet.clusters, name: replace(cluster, deleting=deleting)})

    @rule(owner=owners)
    def become_ready(self, owner) -> None:
        """Pods start where there are nodes for them; on an overcommitted pool nobody new does."""
        served = [self._started(r) if r.deployment == owner else r for r in self.fleet.replicas]
        self.fleet = Fleet(self.fleet.clusters, tuple(served))

    @rule(owner=owners)
    def look(self, owner) -> None:
        self.seen[owner] = self.fleet

    @rule(owner=owners)
    def reconcile_from_a_stale_look(self, owner) -> None:
        """What others did since is not seen; one's own replicas always are: Crossplane reads them anew."""
        stale = self.seen[owner]
        mine = tuple(r for r in self.fleet.replicas if r.deployment == owner)
        self._carry_out(owner, Fleet(stale.clusters, tuple(r for r in stale.replicas if r.deployment != owner) + mine))

    @rule(nodes=st.integers(1, 3))
    def all_are_edited_and_reconciled_at_the_same_moment(self, nodes) -> None:
        """None sees what the others do."""
        at_that_moment = self.fleet
        for owner in OWNERS:
            self.jobs[owner] = _job(owner, self.jobs[owner].replicas, nodes=nodes)
            self.seen[owner] = at_that_moment
            self.reconcile_from_a_stale_look(owner)

    # What must be true

    @invariant()
    def it_comes_to_rest(self) -> None:
        """After some rounds of fresh reconciles nothing changes, and only what has served overcommits a pool."""
        before = self.fleet, dict(self.seen), self.clock
        for _ in range(40):
            was = self.fleet.replicas
            for owner in OWNERS:
                self._carry_out(owner, self.fleet)
            self.fleet = Fleet(self.fleet.clusters, tuple(map(self._started, self.fleet.replicas)))
            if self.fleet.replicas == was:
                break
        else:
            raise AssertionError(f"never at rest: {self.fleet}")
        self._no_pool_is_overcommitted_by_placement()
        self.fleet, self.seen, self.clock = before

    @rule(first=st.permutations(OWNERS))
    def one_more_reconcile_of_everybody_ends_overcommit(self, first) -> None:
        for owner in first:
            self._carry_out(owner, self.fleet)
        self._no_pool_is_overcommitted_by_placement()

    # How it is played

    def _no_pool_is_overcommitted_by_placement(self) -> None:
        for cluster in self.fleet.clusters.values():
            on = [r for r in self.fleet.replicas if r.cluster == cluster.name]
            for pool in cluster.pools:
                used = sum(r.nodes().get(pool.name, 0) for r in on)
                served = sum(_served_on(r).get(pool.name, 0) for r in on if r.served)
                assert used <= max(pool.nodes, served), f"{pool.name} of {cluster.name}: {on}"

    def _carry_out(self, owner: NamespacedName, seen: Fleet) -> None:
        job = self.jobs[owner]
        if not seen.clusters:
            return
        plan = solve(job, seen)
        kept = {p.replica.identity for p in plan.placements if p.replica}
        for replica in self.fleet.replicas:
            if replica.deployment == owner and replica.identity not in kept:
                self._may_go(replica, job, plan, seen)
        self.clock += 1
        ours = tuple(self._made(owner, job, p, plan.moving_for(p, job.spec_hash)) for p in plan.placements)
        self.fleet = Fleet(self.fleet.clusters, tuple(r for r in self.fleet.replicas if r.deployment != owner) + ours)

    def _may_go(self, gone: Replica, job: Job, plan, seen: Fleet) -> None:
        """One that serves goes only when as many others do as are wanted, or when its cluster is lost."""
        if not gone.serving or gone.cluster not in seen.clusters:
            return
        still = sum(p.replica.serving for p in plan.placements if p.replica)
        assert still >= job.replicas, f"{gone} was let go while {still} of {job.replicas} serve"

    def _made(self, owner: NamespacedName, job: Job, p, moving_for: str) -> Replica:
        if p.replica is None:
            identity = NamespacedName(owner.namespace, f"{owner.name}-{p.cluster}-{p.index}")
            created = f"2026-01-01T00:{self.clock // 60:02}:{self.clock % 60:02}Z"
            return Replica(
                identity,
                owner,
                p.cluster,
                p.index,
                p.engines,
                created=created,
                spec_hash=job.spec_hash,
                placed_under="",
            )
        kept = replace(p.replica, previous=p.previous, moving_for=moving_for)
        if p.action is Action.UPDATE:
            return replace(kept, engines=p.engines, spec_hash=job.spec_hash, ready=False)
        return kept

    def _started(self, replica: Replica) -> Replica:
        cluster = self.fleet.clusters.get(replica.cluster)
        if cluster is None or replica.ready:
            return replica
        on = [r for r in self.fleet.replicas if r.cluster == replica.cluster]
        for pool, nodes in replica.nodes().items():
            there = cluster.pool(pool)
            if there is None or sum(r.nodes().get(pool, 0) for r in on) > there.nodes or nodes > there.nodes:
                return replica
        return replace(replica, ready=True, serving=True, served=True)

    def _clusters(self, clusters) -> None:
        """A cluster that is gone takes its replicas' Ready with it, not the replicas: their deployments must act."""
        self.fleet = Fleet(clusters, self.fleet.replicas)


def _served_on(replica: Replica) -> dict[str, int]:
    """The nodes with which a replica has served: less than it takes while it grows."""
    previous = replica.previous if not replica.ready else None
    return nodes_of(previous.engines) if previous else replica.nodes()


def _job(owner: NamespacedName, replicas: int, *, nodes: int, word: str = "gpu") -> Job:
    asked = DeviceRequest("gpu", 1, (Wants(word),))
    engine = Engine("e", nodes, (Member("Standalone", 1, (asked,)),))
    return Job(owner, replicas, (engine,), spec_hash=f"{word} {nodes}")


TestDeployments = pytest.mark.slow(Deployments.TestCase)
TestDeployments.settings = settings(settings.default, stateful_step_count=25)
