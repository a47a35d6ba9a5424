"""Work grows with what changed, not with the fleet: counted, not timed."""

from __future__ import annotations

import pytest

from function import registry, wire
from function.api import modeldeployment as model
from function.core import Request
from function.fleet import clusters as published
from function.kinds.modeldeployment import decide, inputs, stages
from function.sandbox.settle import settle
from function.scheduling import (
    Cluster,
    Device,
    DeviceRequest,
    Engine,
    Fit,
    Fitter,
    Fleet,
    Job,
    Matcher,
    Member,
    NodeShape,
    Plan,
    Pool,
    Shortfall,
    rejections,
    solve,
)
from function.scheduling.rejection import SearchLimit
from tests.bench import fleet
from tests.support.fleets import GPUS, ME, Wants, request


def planned(clusters: int, replicas: int) -> tuple[Fitter, Fleet, Plan]:
    """A fresh deployment of ten on a fleet of that size."""
    data = fleet.request(
        fleet.deployment("prefill-decode", 10), fleet.clusters(clusters), fleet.replicas(replicas, clusters, "single")
    )
    return settled(wire.decode(data).request)


def settled(request: Request) -> tuple[Fitter, Fleet, Plan]:
    read, spec = inputs.read(request, stages.everything(request)), model.parse(request.xr)
    fitter = Fitter(decide.compiled_engines(spec))
    wanted = decide.job(request, spec, read, fitter.engines)
    return fitter, read.fleet, solve(wanted, read.fleet, fitter)


def test_a_selector_is_asked_once_about_each_device_there_is() -> None:
    """However many clusters, pools, members and replicas: at most selectors times distinct devices."""
    fitter, read, plan = planned(60, 300)
    devices = {d.published for c in read.clusters.values() for p in c.pools for d in p.shape.devices}
    assert len(plan.placements) == 10
    assert 0 < fitter.matcher.evaluations <= len(fleet.SELECTORS) * len(devices)


@pytest.mark.slow
def test_ten_times_the_clusters_cost_at_most_ten_times_the_steps() -> None:
    small, large = planned(30, 90)[0], planned(300, 900)[0]
    assert large.matcher.evaluations == small.matcher.evaluations
    assert large.steps <= 10 * small.steps + 10


def test_like_nodes_have_one_shape() -> None:
    _, read, _ = planned(40, 10)
    shapes = {id(p.shape) for c in read.clusters.values() for p in c.pools}
    assert len(shapes) == 6


ODD = tuple(Engine(f"e{i}", 11 + i, (Member("Standalone", 1, (request(),)),)) for i in range(8))
"""Engines that take 11 to 18 nodes: on pools of 20 each needs one of its own."""


def odd(clusters: int, pools: int, *, alike: bool) -> tuple[Fitter, Plan, int]:
    """A replica of engines of odd sizes on clusters with a pool too few, and how many reject it for the limit."""
    fleet = Fleet(
        {
            f"c{i}": Cluster(
                f"c{i}", pools=tuple(Pool(f"p{j}", 20 + (0 if alike else i), GPUS["big"]) for j in range(pools))
            )
            for i in range(clusters)
        }
    )
    job = Job(ME, 1, ODD)
    fitter = Fitter(job.engines)
    plan = solve(job, fleet, fitter)
    found = rejections(job, fleet, plan, fitter)
    return fitter, plan, sum(isinstance(one.reason, SearchLimit) for one in found)


def test_like_clusters_with_like_room_are_searched_once() -> None:
    fitter, plan, limited = odd(300, 7, alike=True)
    assert (fitter.searches, plan.missing, limited) == (1, 1, 0)
    assert fitter.steps < 100_000


def test_searches_for_room_are_bounded_over_all_clusters() -> None:
    """Once they took many steps together each is given few: the work is linear in the clusters."""
    few, _, _ = odd(4, 7, alike=False)
    many, _, _ = odd(40, 7, alike=False)
    assert few.steps <= 300_000 + 100_000
    assert many.steps <= 300_000 + 100_000 + 101 * many.searches
    assert many.searches <= 2 * 40


def test_what_is_found_at_once_is_found_though_the_steps_are_used_up() -> None:
    fitter = Fitter(ODD)
    fitter.steps = 10**6
    cluster = Cluster("c", pools=tuple(Pool(f"p{j}", 20, GPUS["big"]) for j in range(8)))
    assert isinstance(fitter.fit(cluster, {f"p{j}": 20 for j in range(8)}), Fit)


def test_a_selector_that_many_requests_share_is_asked_once_about_each_device() -> None:
    requests = tuple(DeviceRequest(f"r{i}", 1, (Wants("gpu"),) * 8) for i in range(16))
    matcher = Matcher()
    for shape in GPUS.values():
        matcher.offer(Member("Standalone", 1, requests), shape)
    devices = {device.published for shape in GPUS.values() for device in shape.devices}
    assert matcher.evaluations == len(devices)


def test_requests_that_no_kinds_suffice_for_are_refused_without_a_search() -> None:
    devices = tuple(Device(f"d{i}", 1, f"class-{i % 3}", "gpu") for i in range(15))
    requests = tuple(request(f"r{i}") for i in range(16))
    matcher = Matcher()
    assert matcher.offer(Member("Standalone", 1, requests), NodeShape(devices)) == Shortfall("r9", 16, 15)
    assert matcher.steps == 0


def test_a_search_for_kinds_ends() -> None:
    """Two devices each, of fifteen kinds with three."""
    devices = tuple(Device(f"d{i}", 3, f"class-{i}", "gpu") for i in range(15))
    requests = tuple(request(f"r{i}", 2) for i in range(16))
    matcher = Matcher()
    offer = matcher.offer(Member("Standalone", 1, requests), NodeShape(devices))
    assert isinstance(offer, Shortfall)
    assert not offer.searched
    assert matcher.steps <= 5_000 + 100


@pytest.mark.parametrize("clusters", [40, 80])
def test_a_steady_deployment_reads_only_the_clusters_that_it_is_on(clusters: int) -> None:
    xr, everything = fleet.deployment("single", 10), (fleet.clusters(clusters), fleet.replicas(50, clusters, "single"))
    first = wire.decode(fleet.request(xr, *everything))
    placed = settle(registry.compose, Request(xr=xr), [m for objects in everything for m in objects])
    observed = fleet.carried_out(wire.encode(first, placed))
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
