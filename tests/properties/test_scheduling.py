"""The scheduler's promises, whatever the fleet."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.core import NamespacedName
from function.scheduling import (
    Action,
    Cluster,
    Engine,
    Fit,
    Fitter,
    Fleet,
    Job,
    Matcher,
    Offer,
    Plan,
    Pool,
    Replica,
    contention,
    rejections,
    solve,
)
from function.scheduling.fit import Waste
from function.scheduling.fleet import nodes_of
from tests.support.fleets import GPUS, ME, clusters, engines, fleets, jobs


def places(plan: Plan) -> list[tuple[str, int, str, object]]:
    return [(p.cluster, p.index, p.action.value, p.engines) for p in plan.placements]


def carried_out(job: Job, fleet: Fleet, plan: Plan, *, serving: bool = False) -> Fleet:
    """The fleet once Crossplane has done what the plan says."""
    ours = tuple(_after(job, plan, p, serving=serving) for p in plan.placements)
    return Fleet(fleet.clusters, tuple(r for r in fleet.replicas if r.deployment != ME) + ours)


def _after(job: Job, plan: Plan, p, *, serving: bool) -> Replica:
    fresh = Replica(
        NamespacedName("ml", f"{p.cluster}-{p.index}"), ME, p.cluster, p.index, created="2026-02-01T00:00:00Z"
    )
    old = p.replica or fresh
    new = replace(
        old,
        engines=p.engines,
        moving_for=plan.moving_for(p, job.spec_hash),
        spec_hash=job.spec_hash if p.fit else old.spec_hash,
        placed_under=old.placed_under if p.action is Action.AWAIT_SUCCESSOR else job.placed_under,
    )
    return replace(new, ready=True, serving=True, served=True) if serving else new


@pytest.mark.slow
@given(jobs, fleets())
def test_never_more_replicas_than_asked_plus_one_predecessor_for_each_being_moved(job, fleet):
    plan = solve(job, fleet)
    settled = [p for p in plan.placements if p.action is not Action.AWAIT_SUCCESSOR]
    assert len(settled) <= job.replicas
    assert len(plan.placements) - len(settled) <= len(plan.leaving)
    assert job.replicas or not plan.placements


@pytest.mark.slow
@given(jobs, fleets())
def test_never_over_capacity(job, fleet):
    """What a plan adds fits into what the others, and those of ours that stay, leave."""
    plan = solve(job, fleet)
    used = Counter()
    for replica in fleet.replicas:
        if replica.deployment != ME:
            used.update({(replica.cluster, pool): n for pool, n in replica.nodes().items()})
    for p in plan.placements:
        used.update({(p.cluster, pool): n for pool, n in nodes_of(p.engines).items()})
    for p in plan.placements:
        before = p.replica.nodes() if p.replica else {}
        for pool, nodes in nodes_of(p.engines).items():
            if nodes > before.get(pool, 0):
                assert used[p.cluster, pool] <= fleet.clusters[p.cluster].pool(pool).nodes


@pytest.mark.slow
@given(jobs, fleets(), st.randoms(use_true_random=False))
def test_the_order_of_inputs_is_irrelevant(job, fleet, random):
    assert places(solve(job, fleet)) == places(solve(_shuffled_job(job, random), _shuffled(fleet, random)))


def _shuffled(fleet: Fleet, random: Random) -> Fleet:
    names = random.sample(sorted(fleet.clusters), len(fleet.clusters))
    return Fleet(
        {name: _shuffled_cluster(fleet.clusters[name], random) for name in names},
        tuple(random.sample(fleet.replicas, len(fleet.replicas))),
    )


def _shuffled_cluster(cluster: Cluster, random: Random) -> Cluster:
    return replace(cluster, pools=tuple(random.sample(cluster.pools, len(cluster.pools))))


def _shuffled_job(job: Job, random: Random) -> Job:
    return replace(job, engines=tuple(random.sample(job.engines, len(job.engines))))


@pytest.mark.slow
@given(jobs, fleets())
def test_what_was_planned_and_serves_is_planned_again(job, fleet):
    """Given the same fleet a second call keeps everything: no churn."""
    plan = solve(job, fleet)
    for _ in range(2 * len(fleet.replicas) + job.replicas + 2):
        fleet = carried_out(job, fleet, plan, serving=True)
        before, plan = plan, solve(job, fleet)
        if places(plan) == places(before):
            return
    raise AssertionError("it never settled")


@given(jobs, fleets(), clusters)
def test_a_better_cluster_that_appears_moves_nothing(job, fleet, new):
    settled = _settled(job, fleet)
    plan = solve(job, settled)
    if plan.missing or new.name in settled.clusters:
        return
    again = solve(job, Fleet({**settled.clusters, new.name: new}, settled.replicas))
    assert places(again) == places(plan)


def _settled(job: Job, fleet: Fleet) -> Fleet:
    for _ in range(2 * len(fleet.replicas) + job.replicas + 2):
        fleet = carried_out(job, fleet, solve(job, fleet), serving=True)
    return fleet


@given(jobs, fleets())
def test_a_replica_that_serves_is_kept_or_has_a_reason_to_go(job, fleet):
    """It goes when there are too many, when its cluster is gone, or when as many others serve as are wanted."""
    plan = solve(job, fleet)
    kept = {p.replica for p in plan.placements}
    serving = [r for r in fleet.replicas if r.deployment == ME and r.serving]
    gone = [r for r in serving if r not in kept and r.cluster in fleet.clusters]
    still = sum(r in kept for r in serving)
    assert not gone or still >= job.replicas


@pytest.mark.slow
@given(jobs, fleets())
def test_every_no_has_its_reason(job, fleet):
    """A replica is missing exactly when every cluster says why it takes none."""
    plan = solve(job, fleet)
    if plan.missing:
        assert [r.cluster for r in rejections(job, fleet, plan)] == sorted(fleet.clusters)
    for rejection in rejections(job, fleet, plan):
        assert str(rejection.reason)
        assert rejection.reason.detail()


@pytest.mark.slow
@given(jobs, fleets())
def test_nobody_who_has_served_yields_and_the_rest_fits(job, fleet):
    giving = contention(fleet.clusters, fleet.replicas).preempted
    assert not any(r.served or r.serving for r in giving)
    used = Counter()
    for replica in fleet.replicas:
        if replica not in giving:
            used.update({(replica.cluster, pool): n for pool, n in replica.nodes().items()})
    for cluster in fleet.clusters.values():
        for pool in cluster.pools:
            served = sum(
                r.nodes().get(pool.name, 0)
                for r in fleet.replicas
                if r.cluster == cluster.name and (r.served or r.serving)
            )
            assert used[cluster.name, pool.name] <= max(pool.nodes, served)


# Exact fit, beside brute force


@given(engines, clusters)
def test_a_replica_fits_exactly_when_some_assignment_does(wanted, cluster):
    got = Fitter(wanted).fit(cluster, {pool.name: pool.nodes for pool in cluster.pools})
    assert isinstance(got, Fit) == _some_assignment_fits(wanted, cluster)


@given(engines, clusters)
def test_the_least_that_a_cluster_can_give_is_what_its_best_options_are(wanted, cluster):
    """Bids of clusters rank by it, and no firm bid may come before."""
    options = Fitter(wanted).options(cluster)
    want = sum((min(o.waste for o in of) for of in options), start=Waste()) if all(options) else None
    assert Fitter(wanted).lower_bound(cluster) == want


def _some_assignment_fits(wanted: tuple[Engine, ...], cluster: Cluster) -> bool:
    """Every member on every pool, judged by the rules alone."""
    matcher = Matcher()
    members = [(e, m) for e in wanted for m in e.members]
    offers = [{p.name: matcher.offer(m, p.shape) for p in cluster.pools} for _, m in members]
    return any(
        _is_allowed(members, offers, where, wanted, cluster) for where in product(cluster.pools, repeat=len(members))
    )


def _is_allowed(members, offers, where: tuple[Pool, ...], wanted, cluster: Cluster) -> bool:
    chosen = [offers[i][pool.name] for i, pool in enumerate(where)]
    if not all(isinstance(offer, Offer) for offer in chosen):
        return False
    for i, offer in enumerate(chosen):
        could_claim = any(isinstance(o, Offer) and o.claims for o in offers[i].values())
        if could_claim and not offer.claims:
            return False
    used = Counter()
    for (engine, member), pool, offer in zip(members, where, chosen, strict=True):
        used[pool.name] += member.pods * engine.copies if offer.claims else 0
    if any(used[pool.name] > pool.nodes for pool in cluster.pools):
        return False
    mine = [[i for i, (e, _) in enumerate(members) if e is engine] for engine in wanted]
    return all(_keeps_together(indices, offers, where, chosen, cluster) for indices in mine)


def _keeps_together(mine: list[int], offers, where, chosen, cluster) -> bool:
    if not any(chosen[i].claims for i in mine):
        return False
    if len({where[i].name for i in mine}) == 1:
        return True
    return not any(_hosts_all(pool, mine, offers) for pool in cluster.pools)


def _hosts_all(pool: Pool, mine: list[int], offers) -> bool:
    """Whether one pool satisfies all members of an engine, each as well as any pool would."""
    here = [offers[i][pool.name] for i in mine]
    if not all(isinstance(o, Offer) for o in here) or not any(o.claims for o in here):
        return False
    best = [any(isinstance(o, Offer) and o.claims for o in offers[i].values()) for i in mine]
    return all(o.claims or not could for o, could in zip(here, best, strict=True))


def test_the_shapes_are_distinct():
    assert len({id(shape) for shape in GPUS.values()}) == len(GPUS)
