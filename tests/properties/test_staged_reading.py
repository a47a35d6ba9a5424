"""A deployment that reads in stages decides as one that reads everything, and never worse than late."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.api import modeldeployment as model
from function.core import Manifest, NotYet, Result, dig
from function.fleet.clusters import free
from function.fleet.engines import engines, nodes_taken
from function.fleet.replicas import takes_nodes
from function.kinds.modeldeployment import stages
from function.kinds.modeldeployment.composer import COMPOSER
from function.kinds.modeldeployment.decide import Decision, decide
from function.sandbox.settle import settle_with
from function.scheduling import Account, Action, Demands, is_overcommitted
from function.scheduling.rejection import Full
from tests.support.worlds import World, told, world

randoms = st.integers(0, 2**32).map(Random)
"""Not `st.randoms`, which draws each of some hundred numbers of a world by itself."""


def reading_everything(there: World) -> Decision | str:
    """What is decided if all clusters and all replicas are read, or why nothing is."""
    stage = stages.everything(there.request)
    request = there.answered(stage)
    try:
        return decide(request, model.parse(request.xr), stage=stage)
    except NotYet as why:
        return why.condition.message


def reading_in_stages(there: World) -> tuple[Decision | str, int]:
    """What is decided in stages, and in how many."""
    asked = stages.first(there.request).requirements(there.request.xr)
    for count in range(1, 9):
        request = replace(there.request, required=there.find(asked))
        try:
            return decide(request, model.parse(request.xr)), count
        except NotYet as why:
            if why.asks == asked:
                return why.condition.message, count
            asked = why.asks
    raise AssertionError("the stages never end")


def places(decision: Decision | str) -> Any:
    if isinstance(decision, str):
        return decision
    plan = decision.plan
    rejected = [
        (r.cluster, replace(r.reason, held_by=()) if isinstance(r.reason, Full) else r.reason)
        for r in decision.rejections
    ]
    return [(p.cluster, p.index, p.action, p.engines) for p in plan.placements], plan.missing, rejected


@pytest.mark.slow
@given(randoms)
def test_with_exact_numbers_the_decision_is_that_of_reading_everything(random: Random) -> None:
    there = world(random)
    decided, passes = reading_in_stages(there)
    assert places(decided) == places(reading_everything(there))
    assert passes <= 3


@pytest.mark.slow
@given(randoms)
def test_with_what_is_true_of_shared_pools_the_decision_is_that_of_reading_everything(random: Random) -> None:
    """They are bounds, so another cluster may have to be looked at, and reasons have other facts."""
    there = world(random, sharing=True)
    decided, passes = reading_in_stages(there)
    assert _without_facts(decided) == _without_facts(reading_everything(there))
    assert passes <= stages.LAST


@pytest.mark.slow
@given(randoms)
def test_wrong_numbers_of_shared_pools_overcommit_none_and_are_overcome(random: Random) -> None:
    true = world(random, sharing=True)
    there = true.publishing(lambda cluster: told(random, cluster))
    decided, passes = reading_in_stages(there)
    everything = reading_everything(there)
    assert passes <= stages.LAST
    if isinstance(decided, str) or isinstance(everything, str):
        return
    assert _existing(decided) >= _existing(everything)
    for name in {p.cluster for p in decided.plan.placements if p.action is Action.CREATE}:
        cluster = decided.inputs.fleet.clusters[name]
        account = Account.of(cluster, Demands())
        for replica in true.replicas:
            if dig(replica, "spec", "clusterName") == name and takes_nodes(replica):
                account.charge(account.charges((engines(dig(replica, "spec", "engines")),)))
        new = [p for p in decided.plan.placements if p.cluster == name and p.action is Action.CREATE]
        for placement in new:
            account.charge(account.charges((placement.engines,)))
        used = {pool for placement in new for pool in placement.pools}
        assert not account.overcommitted & used, (name, account.free)


def _without_facts(decision: Decision | str) -> Any:
    found = places(decision)
    return found if isinstance(found, str) else (*found[:2], [cluster for cluster, _ in found[2]])


@pytest.mark.slow
@given(randoms)
def test_wrong_numbers_end_within_the_calls_there_are(random: Random) -> None:
    there = world(random, most_clusters=60).publishing(lambda cluster: told(random, cluster))
    settle_with(COMPOSER, there.request, there.find)
    _, passes = reading_in_stages(there)
    assert passes <= stages.LAST


@pytest.mark.slow
@given(randoms)
def test_wrong_numbers_give_no_node_away_twice_and_cost_nothing_that_is_there(random: Random) -> None:
    true = world(random)
    there = true.publishing(lambda cluster: told(random, cluster))
    decided, _ = reading_in_stages(there)
    everything = reading_everything(there)
    if isinstance(decided, str) or isinstance(everything, str):
        return
    assert _existing(decided) >= _existing(everything)
    for cluster, pools in _taken(there, decided).items():
        nodes = {pool["name"]: pool["nodes"] for pool in _cluster(there, cluster)["status"]["gpuPools"]}
        assert all(count <= nodes[pool] for pool, count in pools.items()), (cluster, pools, nodes)


def _existing(decision: Decision) -> set[str]:
    return {p.replica.identity.name for p in decision.plan.placements if p.replica}


def _cluster(there: World, name: str) -> Manifest:
    return next(c for c in there.clusters if c["metadata"]["name"] == name)


def _taken(there: World, decision: Decision) -> dict[str, Counter[str]]:
    """By cluster that gets a new replica, the nodes that are taken of each pool that it uses."""
    new = [p for p in decision.plan.placements if p.action is Action.CREATE]
    taken: dict[str, Counter[str]] = {p.cluster: Counter() for p in new}
    for replica in filter(takes_nodes, there.replicas):
        if dig(replica, "spec", "clusterName") in taken:
            taken[replica["spec"]["clusterName"]].update(nodes_taken(replica["spec"]["engines"]))
    used = {(p.cluster, pool) for p in new for pool in p.pools}
    for placement in new:
        for engine in placement.engines:
            for member in engine.members:
                taken[placement.cluster][member.pool] += member.pods * engine.copies
    return {name: Counter({p: n for p, n in pools.items() if (name, p) in used}) for name, pools in taken.items()}


@pytest.mark.slow
@given(randoms)
def test_the_decision_is_right_once_the_numbers_are(random: Random) -> None:
    """A reconcile that placed nothing leaves only what it asked for, which the first call of the next answers."""
    there = world(random)
    wrong = there.publishing(lambda cluster: told(random, cluster))
    before = settle_with(COMPOSER, wrong.request, wrong.find)
    if before.resources.keys() <= there.request.observed.keys():
        again = settle_with(COMPOSER, there.request, there.find, before.requirements)
        assert again == settle_with(COMPOSER, there.request, there.find)


@pytest.mark.slow
@given(randoms)
def test_a_settled_deployment_reads_its_own_clusters_and_no_replicas(random: Random) -> None:
    there = world(random)
    decided, _ = reading_in_stages(there)
    if isinstance(decided, str):
        return
    result = settle_with(COMPOSER, there.request, there.find)
    ours = [r for r in decided.inputs.fleet.replicas if r.deployment == decided.job.deployment]
    plan = decided.plan
    if plan.sought or plan.lost or plan.in_place or any(r.may_give_way for r in ours):
        return
    homes = {r.cluster for r in ours}
    crowded = {m["metadata"]["name"] for m in there.clusters if any(map(is_overcommitted, (free(m) or {}).values()))}
    neighbours = {f"replicas-on-{name}" for name in homes & crowded}
    # There may be a replica of its own among them that is one too many. Its endpoint is drained.
    asked = _fleet_requirements(result) - ({"services"} if neighbours else set())
    assert asked == {f"cluster-{name}" for name in homes} | neighbours


def _fleet_requirements(result: Result) -> set[str]:
    return {r.name for r in result.requirements}
