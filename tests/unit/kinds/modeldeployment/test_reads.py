"""What a reconcile reads grows with what it decides, not with the fleet: bytes and calls, counted on the wire."""

from __future__ import annotations

import pytest

from function import registry, wire
from tests.bench import fleet, reads, shuffled
from tests.bench.fleet import Object
from tests.bench.reads import Read, Size

SMALL, LARGE = Size(40, 400), Size(160, 1600)
MOST_CALLS = 6


def call(data: bytes) -> bytes:
    read = wire.decode(data)
    return wire.encode(read, registry.compose(read.request)).SerializeToString()


def settled(size: Size, *, seeded: bool = True) -> Read:
    return reads.settled(call, reads.roomy(size), seeded=seeded)


def weight(manifests: list[Object]) -> int:
    """The bytes of objects in a request."""
    return sum(len(shuffled.resource(manifest)) for manifest in manifests)


@pytest.mark.slow
@pytest.mark.parametrize(("seeded", "calls"), [(True, 1), (False, 2)])
def test_a_settled_deployment_reads_the_same_in_a_fleet_of_four_times_the_size(seeded: bool, calls: int) -> None:
    small, large = (settled(size, seeded=seeded).done for size in (SMALL, LARGE))

    assert (small.calls, large.calls) == (calls, calls)
    assert large.size == pytest.approx(small.size, rel=0.02)
    assert large.size < 500_000


def test_a_settled_deployment_reads_its_own_clusters_alone() -> None:
    (answers,) = settled(SMALL).done.sent

    found = {m["metadata"]["name"] for manifests in answers.values() for m in manifests}
    assert len(found) == reads.WANTED
    assert found <= {m["metadata"]["name"] for m in fleet.clusters(SMALL.clusters)}


@pytest.mark.slow
@pytest.mark.parametrize("make", [reads.roomy, reads.nearly_full])
@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_placement_reads_all_clusters_once_and_the_replicas_on_a_few(size: Size, make) -> None:
    """The replicas are those on the candidates: ten clusters that take one each, and the next best."""
    made = make(size)
    done = reads.placement(call, made).done

    counted = sum(name.startswith("replicas-on-") for name in done.asked)
    assert (done.calls, counted <= 20) == (3, True)
    assert done.size < weight(made.clusters) + 1.2 * weight(made.clusters + made.replicas) * counted / size.clusters


@pytest.mark.slow
def test_replicas_elsewhere_add_nothing_to_a_placement() -> None:
    size = Size(80, 400)
    few, many = reads.roomy(size), reads.roomy(Size(size.clusters, 2 * size.replicas))
    before, after = (reads.placement(call, made).done for made in (few, many))

    counted = sum(name.startswith("replicas-on-") for name in after.asked)
    added = weight(many.replicas) - weight(few.replicas)
    assert after.size - before.size < 1.2 * added * counted / size.clusters < added / 3


@pytest.mark.slow
def test_clusters_that_mislead_cost_more_calls_and_no_placement() -> None:
    """The stages end with all replicas, within the calls that Crossplane makes."""
    made = reads.misleading(LARGE)
    read = reads.placement(call, made).done

    assert 3 < read.calls <= MOST_CALLS
    assert read.size < 3 * weight(made.clusters + made.replicas)
