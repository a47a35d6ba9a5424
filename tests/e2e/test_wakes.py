"""Who is reconciled when something changes in a fleet: those whom it concerns.

Crossplane 2.4 watches what a function requires. There each change is seen at once, and the function's calls are
counted in a fleet of 200 settled deployments on 100 clusters. Crossplane 2.3 watches nothing of it, so a change is seen
when the last response expires; there the fleet is small, and what is shown is that nothing is overlooked.

What is below clusters and deployments is played (played.py).
"""

from collections.abc import Iterator

import pytest

from tests.e2e import objects, wide_fleet
from tests.e2e.kube import Object
from tests.e2e.programs import Site
from tests.e2e.waiting import until
from tests.e2e.wide_fleet import SCARCE, WideFleet, described

WATCHES, EXPIRES = "v2.4.0", "v2.3.4"
scarce = described(SCARCE).name


@pytest.fixture(scope="module")
def wide(crossplane: str, site: Site, store: int) -> Iterator[WideFleet]:
    """200 settled deployments on 100 clusters, at rest."""
    with wide_fleet.standing(site, store, crossplane, clusters=100, each=2, tapped=True) as made:
        made.rest()
        yield made


@pytest.fixture(scope="module")
def waiting(wide: WideFleet) -> Object:
    """A deployment that waits for the one node that another holds, at rest."""
    held(wide)
    manifest = awaiting(wide)
    wide.unplaced.add(manifest["metadata"]["name"])
    wide.rest()
    return manifest


def held(fleet: WideFleet) -> None:
    """Let a deployment hold the only node of its kind."""
    assert fleet.deploy("holder", objects.HOPPER, count=8) == scarce
    fleet.touch(objects.cluster(described(SCARCE)))  # where nothing is watched, this saves a minute
    fleet.await_free(scarce, 0, pool="h100")


def awaiting(fleet: WideFleet) -> Object:
    """A deployment that needs the node that is held."""
    manifest = fleet.deployment("waiting", objects.HOPPER, count=8)
    fleet.api.apply(manifest)
    fleet.await_unplaced(manifest)
    return manifest


@pytest.mark.parametrize("crossplane", [WATCHES], scope="module")
def test_a_placement_wakes_the_neighbours_alone(wide: WideFleet) -> None:
    """Of 200 settled deployments, those on the same cluster are called for, since its free nodes changed."""

    def place() -> str:
        cluster = wide.deploy("anew")
        wide.await_free(cluster, 0)
        return cluster

    cluster, called = wide.called(place)
    tell("one placement", called)
    assert called.names == wide.on(cluster)


@pytest.mark.parametrize("crossplane", [WATCHES], scope="module")
def test_a_change_of_a_cluster_wakes_who_stands_on_it(wide: WideFleet, waiting: Object) -> None:
    """Its gateway has moved: the endpoints there follow. Who waits for a node of any cluster is called for as well."""
    cluster, address = described(wide.clusters // 2).name, "198.18.9.1"

    _, called = wide.called(lambda: move(wide, cluster, address))
    tell("one cluster's change", called)
    assert called.names == wide.on(cluster) | {waiting["metadata"]["name"]}


@pytest.mark.parametrize("crossplane", [WATCHES], scope="module")
def test_a_freed_node_wakes_who_waits_for_it(wide: WideFleet, waiting: Object) -> None:
    """The one that waits is placed. Others are called for only where nodes were freed and taken."""

    def free() -> None:
        wide.api.patch(wide.deployment("holder"), {"spec": {"replicas": 0}})
        assert wide.await_serving(waiting) == scarce
        wide.await_free(scarce, 0, pool="h100")

    _, called = wide.called(free)
    tell("one freed node", called)
    assert {"holder", "waiting"} <= called.names <= wide.on(scarce) | {"holder"}


@pytest.mark.parametrize("crossplane", [EXPIRES])
def test_without_watches_each_change_is_noticed_when_a_response_expires(
    crossplane: str, site: Site, store: int
) -> None:
    """A placement by its cluster, a cluster's change by who stands on it, and a freed node by who waits for it."""
    with wide_fleet.standing(site, store, crossplane, clusters=10, each=2, tapped=False) as small:
        held(small)
        waiting = awaiting(small)
        placed = small.deploy("anew")
        small.api.patch(small.deployment("holder"), {"spec": {"replicas": 0}})
        move(small, described(small.clusters // 2).name, "198.18.9.1")
        small.await_free(placed, 0)
        assert small.await_serving(waiting) == scarce


def move(fleet: WideFleet, cluster: str, address: str) -> None:
    """Give a cluster's gateway another address, and wait until all endpoints on it lead there."""
    fleet.stage.move_gateway(cluster, address)
    there = fleet.on(cluster)

    def lead() -> list[str]:
        return [one["spec"]["url"] for name in there for one in fleet.endpoints(name)]

    until(lead, f"the endpoints on {cluster} to follow", holds=lambda urls: all(f"//{address}/" in url for url in urls))


def tell(change: str, called: wide_fleet.Called) -> None:
    print(f"wakes  {change}: {called}", flush=True)
