"""Sizes of GKE's node pools: per zone what they begin with, and as a whole what they may grow to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from function.clouds.gke.pools import initial
from function.contracts.cloud import nodes
from function.contracts.cloud.nodepool import NodePool

COUNTS = st.integers(0, 5000)
ZONES = st.integers(1, 8)


def scaled(count: int, least: int, most: int) -> nodes.Scale:
    fields = {"nodeCount": count, "minNodeCount": min(least, most), "maxNodeCount": most}
    found = nodes.scale(NodePool.model_validate({"name": "a", "className": "l4", **fields}), least=0)
    assert found
    return found


@given(count=COUNTS, least=COUNTS, most=st.integers(1, 5000), zones=ZONES)
def test_a_pool_never_begins_with_more_nodes_than_it_may_have(count: int, least: int, most: int, zones: int) -> None:
    assert 0 <= initial(scaled(count, least, most), zones) * zones <= most


@given(count=COUNTS, least=COUNTS, most=st.integers(1, 5000), zones=ZONES)
def test_a_pool_begins_with_what_it_asks_for_where_zones_allow_it(
    count: int, least: int, most: int, zones: int
) -> None:
    wanted = max(min(least, most), min(count, most))
    got = initial(scaled(count, least, most), zones) * zones

    assert got < wanted + zones
    assert got >= wanted or got + zones > most


def test_the_same_in_one_zone() -> None:
    assert initial(scaled(3, 0, 12), 1) == 3
