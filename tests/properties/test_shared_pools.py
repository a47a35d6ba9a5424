"""Deployments on shared pools, reconciled in any order and from stale snapshots: every pod finds a place."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from function.core import NamespacedName
from function.scheduling import Action, Cluster, Fleet, Job, PlacedEngine, Placement, Plan, Pool, Replica, solve
from function.scheduling.fleet import Specs
from tests.support import shared_pools
from tests.support.shared_pools import SHAPES, Wish

OWNERS = tuple(NamespacedName(ns, name) for ns, name in (("ml", "a"), ("ml", "b"), ("hr", "a")))
owners = st.sampled_from(OWNERS)
names = st.sampled_from("xy")
shapes = st.sampled_from(sorted(SHAPES)).map(SHAPES.__getitem__)
pools = st.lists(
    st.builds(
        Pool,
        name=st.sampled_from("pq"),
        nodes=st.integers(1, 3),
        shape=shapes,
        shared=st.sampled_from([True, True, False]),
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda p: p.name,
).map(tuple)
wishes = st.builds(
    Wish,
    devices=st.integers(1, 3),
    word=st.sampled_from(["gpu", "small", "big"]),
    copies=st.integers(1, 2),
    workers=st.sampled_from([0, 0, 0, 1, 2]),
    cpu=st.integers(0, 3),
)


class Shared(RuleBasedStateMachine):
    """The fleet as it is, as each deployment last saw it, and the specs of which pods run."""

    def __init__(self) -> None:
        super().__init__()
        self.fleet = Fleet({}, ())
        self.seen: dict[NamespacedName, Fleet] = {}
        self.jobs: dict[NamespacedName, Job] = {}
        self.running: dict[NamespacedName, Specs] = {}
        self.served: dict[NamespacedName, tuple[PlacedEngine, ...]] = {}
        """The engines with which each replica served last."""
        self.clock = 0

    @initialize(drawn=st.dictionaries(names, pools, min_size=1, max_size=2), data=st.data())
    def start(self, drawn, data) -> None:
        self.fleet = Fleet({name: Cluster(name, pools=p) for name, p in drawn.items()}, ())
        for owner in OWNERS:
            self.jobs[owner] = shared_pools.job(owner, data.draw(st.integers(0, 2)), data.draw(wishes))
        self.seen = dict.fromkeys(OWNERS, self.fleet)

    @rule(owner=owners, replicas=st.integers(0, 3))
    def scale(self, owner, replicas) -> None:
        self.jobs[owner] = replace(self.jobs[owner], replicas=replicas)

    @rule(owner=owners, wish=st.lists(wishes, min_size=1, max_size=2))
    def edit(self, owner, wish) -> None:
        self.jobs[owner] = shared_pools.job(owner, self.jobs[owner].replicas, *wish)

    @rule(owner=owners)
    def become_ready(self, owner) -> None:
        """All pods of replicas run their own spec, if they find a place."""
        for replica in self.fleet.replicas:
            if replica.deployment == owner and self._finds_places(replica):
                self._starts(replica)

    @rule(owner=owners)
    def look(self, owner) -> None:
        self.seen[owner] = self.fleet

    @rule(owner=owners)
    def reconcile_from_a_stale_look(self, owner) -> None:
        stale = self.seen[owner]
        mine = tuple(r for r in self.fleet.replicas if r.deployment == owner)
        self._carry_out(owner, Fleet(stale.clusters, tuple(r for r in stale.replicas if r.deployment != owner) + mine))

    @rule(wishes_=st.lists(wishes, min_size=3, max_size=3), replicas=st.integers(1, 2))
    def all_are_edited_and_reconciled_at_the_same_moment(self, wishes_, replicas) -> None:
        """None sees what the others do."""
        at_that_moment = self.fleet
        for owner, wish in zip(OWNERS, wishes_, strict=True):
            self.jobs[owner] = shared_pools.job(owner, replicas, wish)
            self.seen[owner] = at_that_moment
            self.reconcile_from_a_stale_look(owner)

    @rule(first=st.permutations(OWNERS))
    def one_more_reconcile_of_everybody_makes_pools_safe(self, first) -> None:
        for owner in first:
            self._carry_out(owner, self.fleet)
        self._every_pod_finds_a_place()

    @invariant()
    def it_comes_to_rest(self) -> None:
        before = self.fleet, self.clock, dict(self.running), dict(self.served)
        for _ in range(40):
            was = self.fleet.replicas
            for owner in OWNERS:
                self._carry_out(owner, self.fleet)
            self._every_pod_finds_a_place()
            for owner in OWNERS:
                self.become_ready(owner)
            if self.fleet.replicas == was:
                break
        else:
            raise AssertionError(f"never at rest: {self.fleet}")
        self.fleet, self.clock, self.running, self.served = before

    # How it is played

    def _every_pod_finds_a_place(self) -> None:
        for cluster in self.fleet.clusters.values():
            for pool in cluster.pools:
                if pool.shared:
                    found = shared_pools.stuck(pool, self._on(cluster))
                    assert found is None, (pool, found, self._on(cluster))
                else:
                    used = sum(r.nodes().get(pool.name, 0) for r in self.fleet.replicas if r.cluster == cluster.name)
                    assert used <= pool.nodes

    def _on(self, cluster: Cluster) -> list[Specs]:
        return [self.running[r.identity] for r in self.fleet.replicas if r.cluster == cluster.name]

    def _finds_places(self, replica: Replica) -> bool:
        cluster = self.fleet.clusters[replica.cluster]
        shared = [pool for pool in cluster.pools if pool.shared]
        whole = [pool for pool in cluster.pools if not pool.shared]
        there = [r for r in self.fleet.replicas if r.cluster == replica.cluster]
        return not any(shared_pools.stuck(pool, self._on(cluster)) for pool in shared) and all(
            sum(r.nodes().get(pool.name, 0) for r in there) <= pool.nodes for pool in whole
        )

    def _starts(self, replica: Replica) -> None:
        ready = replace(replica, ready=True, serving=True, served=True)
        everyone = (ready if r.identity == replica.identity else r for r in self.fleet.replicas)
        self.fleet = replace(self.fleet, replicas=tuple(everyone))
        self.running[replica.identity] = (replica.engines,)
        self.served[replica.identity] = replica.engines

    def _carry_out(self, owner: NamespacedName, seen: Fleet) -> None:
        job = self.jobs[owner]
        plan = solve(job, seen)
        self._order_is_irrelevant(job, seen, plan)
        kept = {p.replica.identity for p in plan.placements if p.replica}
        gone = [r for r in self.fleet.replicas if r.deployment == owner and r.identity not in kept]
        still = sum(p.replica.serving for p in plan.placements if p.replica)
        for replica in gone:
            assert not replica.serving or still >= job.replicas, f"{replica} was let go"
            del self.running[replica.identity]
        self.clock += 1
        ours = tuple(self._made(job, p, plan) for p in plan.placements)
        self.fleet = replace(self.fleet, replicas=tuple(r for r in self.fleet.replicas if r.deployment != owner) + ours)

    def _last_served(self, replica: Replica) -> Specs:
        """A spec that never served leaves no pods that would not go by themselves."""
        return (self.served[replica.identity],) if replica.identity in self.served else ()

    def _order_is_irrelevant(self, job: Job, seen: Fleet, plan: Plan) -> None:
        random = Random(self.clock)
        clusters = {
            name: replace(c, pools=tuple(random.sample(c.pools, len(c.pools))))
            for name, c in sorted(seen.clusters.items(), reverse=True)
        }
        replicas = tuple(random.sample(seen.replicas, len(seen.replicas)))
        again = solve(replace(job, engines=job.engines[::-1]), Fleet(clusters, replicas))
        assert _places(again) == _places(plan)

    def _made(self, job: Job, p: Placement, plan: Plan) -> Replica:
        if p.replica is None:
            name = f"{job.deployment.name}-{p.cluster}-{p.index}-{self.clock}"
            identity = NamespacedName(job.deployment.namespace, name)
            new = Replica(identity, job.deployment, p.cluster, p.index, p.engines, created=f"{self.clock:05}")
            self.running[identity] = (p.engines,)
            return replace(new, spec_hash=job.spec_hash, placed_under="")
        kept = replace(p.replica, previous=p.previous, moving_for=plan.moving_for(p, job.spec_hash))
        if p.action is not Action.UPDATE and not p.rolls_back:
            return kept
        before = self.running[kept.identity] if kept.identity in self.served and not p.rolls_back else ()
        self.running[kept.identity] = (*(before or self._last_served(kept)), p.engines)
        return replace(kept, engines=p.engines, spec_hash=job.spec_hash if p.fit else kept.spec_hash, ready=False)


class Edited(Shared):
    """Pools that shrink, are shared or not, and get another class, with pods that start in any case."""

    @rule(name=names, nodes=st.integers(0, 3))
    def resize(self, name, nodes) -> None:
        self._edit_pools(name, nodes=nodes)

    @rule(name=names, shared=st.booleans())
    def share(self, name, shared) -> None:
        self._edit_pools(name, shared=shared)

    @rule(name=names, shape=shapes)
    def edit_the_class(self, name, shape) -> None:
        self._edit_pools(name, shape=shape)

    @rule(owner=owners)
    def start_all_the_same(self, owner) -> None:
        """Pods of a pool that is not safe may all find a place, and serve."""
        for replica in self.fleet.replicas:
            if replica.deployment == owner:
                self._starts(replica)

    def _edit_pools(self, name: str, **edit: Any) -> None:
        if cluster := self.fleet.clusters.get(name):
            edited = replace(cluster, pools=tuple(replace(pool, **edit) for pool in cluster.pools))
            self.fleet = replace(self.fleet, clusters={**self.fleet.clusters, name: edited})

    def _every_pod_finds_a_place(self) -> None:
        """Only what has served may lack a place: nothing that serves moves because the platform was edited."""
        for cluster in self.fleet.clusters.values():
            there = [r for r in self.fleet.replicas if r.cluster == cluster.name]
            served = [(self.served[r.identity],) for r in there if r.identity in self.served]
            for pool in (pool for pool in cluster.pools if pool.shared):
                found = shared_pools.stuck(pool, self._on(cluster))
                assert found is None or shared_pools.stuck(pool, served), (pool, found, there)


def _places(plan: Plan) -> list[object]:
    return [(p.cluster, p.index, p.action, p.engines) for p in plan.placements]


TestShared = pytest.mark.slow(Shared.TestCase)
TestShared.settings = settings(settings.default, stateful_step_count=15)

TestEdited = pytest.mark.slow(Edited.TestCase)
TestEdited.settings = settings(settings.default, stateful_step_count=15)
