"""What clusters publish of shared pools hides no place from a deployment that goes by it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.api import modeldeployment as model
from function.core import NotYet
from function.fleet.replicas import takes_nodes
from function.kinds.inferencecluster.allocations import allocations
from function.kinds.modeldeployment import stages
from function.kinds.modeldeployment.decide import Decision, decide
from tests.support.worlds import World, world

randoms = st.integers(0, 2**32).map(Random)


def shared(random: Random) -> World:
    """A world in which most pools are shared, with pods of several sizes that may request cpu."""
    there = world(random, most_clusters=5)
    clusters, replicas = deepcopy(list(there.clusters)), deepcopy(list(there.replicas))
    xr = deepcopy(there.request.xr)
    for pool in (pool for cluster in clusters for pool in cluster["status"]["gpuPools"]):
        pool.update({"sharing": "Devices"} if random.random() < 0.8 else {})
        pool.update({"node": {"cpu": random.choice(("4", "8"))}} if random.random() < 0.5 else {})
        pool["devices"][0]["count"] = random.choice((2, 4, 8))
        if random.random() < 0.3:
            pool["devices"].append({**pool["devices"][0], "name": "other", "count": random.choice((1, 2))})
    for manifest in (*replicas, xr):
        for member in (member for engine in manifest["spec"]["engines"] for member in engine["members"]):
            requests = member["deviceRequests"] if "deviceRequests" in member else member["nodeSelector"]["devices"]
            requests[0]["count"] = random.choice((1, 1, 2, 3, 4))
            container = member["template"]["spec"]["containers"][0]
            if random.random() < 0.5:
                container["resources"] = {"requests": {"cpu": random.choice(("1", "3", "4"))}}
    observed = {key: _same(manifest, replicas) for key, manifest in there.request.observed.items()}
    found = World(replace(there.request, xr=xr, observed=observed), tuple(clusters), tuple(replicas))
    return found.publishing(lambda cluster: _published(cluster, replicas))


def _same(manifest: Any, replicas: list[Any]) -> Any:
    return next(r for r in replicas if r["metadata"]["name"] == manifest["metadata"]["name"])


def _published(cluster: Any, replicas: list[Any]) -> Any:
    there = [r for r in replicas if r["spec"]["clusterName"] == cluster["metadata"]["name"]]
    return allocations(cluster["status"]["gpuPools"], filter(takes_nodes, there))


def in_stages(there: World) -> Decision | str:
    asked = stages.first(there.request).requirements(there.request.xr)
    for _ in range(9):
        request = replace(there.request, required=there.find(asked))
        try:
            return decide(request, model.parse(request.xr))
        except NotYet as why:
            if why.asks == asked:
                return why.condition.message
            asked = why.asks
    raise AssertionError("the stages never end")


def of_everything(there: World) -> Decision | str:
    stage = stages.everything(there.request)
    request = there.answered(stage)
    try:
        return decide(request, model.parse(request.xr), stage=stage)
    except NotYet as why:
        return why.condition.message


@pytest.mark.slow
@given(randoms)
def test_a_deployment_that_goes_by_hints_places_as_many_as_one_that_reads_everything(random: Random) -> None:
    there = shared(random)

    decided, everything = in_stages(there), of_everything(there)

    missing = [one if isinstance(one, str) else one.plan.missing for one in (decided, everything)]
    assert missing[0] == missing[1]
