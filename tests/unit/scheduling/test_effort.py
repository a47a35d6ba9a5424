"""Work grows with what changed, not with the fleet: counted, not timed."""

from __future__ import annotations

import pytest

from function import registry, wire
from function.core import Request
from function.kinds.modeldeployment import inputs, model, published
from function.kinds.modeldeployment.decide import job
from function.scheduling import Fitter, Fleet, Plan, solve
from tests.bench import fleet


def planned(clusters: int, replicas: int) -> tuple[Fitter, Fleet, Plan]:
    """A fresh deployment of ten on a fleet of that size."""
    data = fleet.request(
        fleet.deployment("prefill-decode", 10), fleet.clusters(clusters), fleet.replicas(replicas, clusters, "single")
    )
    return settled(wire.decode(data).request)


def settled(request: Request) -> tuple[Fitter, Fleet, Plan]:
    read = inputs.read(request)
    wanted = job(request, model.parse(request.xr), read)
    fitter = Fitter(wanted.engines)
    return fitter, read.fleet, solve(wanted, read.fleet, fitter)


def test_a_selector_is_asked_once_about_each_device_there_is() -> None:
    """However many clusters, pools, members and replicas: at most selectors times distinct devices."""
    fitter, read, plan = planned(60, 300)
    devices = {d.published for c in read.clusters.values() for p in c.pools for d in p.shape.devices}
    assert len(plan.placements) == 10
    assert 0 < fitter.matcher.evaluations <= len(fleet.SELECTORS) * len(devices)


def test_ten_times_the_clusters_cost_at_most_ten_times_the_steps() -> None:
    small, large = planned(30, 90)[0], planned(300, 900)[0]
    assert large.matcher.evaluations == small.matcher.evaluations
    assert large.steps <= 10 * small.steps + 10


def test_like_nodes_have_one_shape() -> None:
    _, read, _ = planned(40, 10)
    shapes = {id(p.shape) for c in read.clusters.values() for p in c.pools}
    assert len(shapes) == 6


@pytest.mark.parametrize("clusters", [40, 80])
def test_a_steady_deployment_reads_only_the_clusters_that_it_is_on(clusters: int) -> None:
    xr, everything = fleet.deployment("single", 10), (fleet.clusters(clusters), fleet.replicas(50, clusters, "single"))
    first = wire.decode(fleet.request(xr, *everything))
    observed = fleet.carried_out(wire.encode(first, registry.compose(first.request)))
    request = wire.decode(fleet.request(xr, *everything, observed)).request
    _, read, plan = settled(request)
    assert {p.cluster for p in plan.placements} == {r.cluster for r in read.replicas}
    assert read.clusters.made == len({r.cluster for r in read.replicas})


def test_of_clusters_that_were_seen_before_only_what_changed_is_read() -> None:
    """Though Crossplane encodes each anew, with its maps in another order."""
    everything = fleet.clusters(30)
    xr, others = fleet.deployment("single", 10), fleet.replicas(90, 30, "single")
    settled(wire.decode(fleet.request(xr, everything, others)).request)
    made = published.STATUSES.made
    settled(wire.decode(fleet.request(xr, everything, others)).request)
    assert published.STATUSES.made == made
    everything[7]["status"]["gpuPools"][2]["nodes"] = 3
    _, read, _ = settled(wire.decode(fleet.request(xr, everything, others)).request)
    assert published.STATUSES.made == made + 1
    assert [pool.nodes for pool in read.clusters["cluster-00007"].pools] == [64, 64, 3, 64]
