"""Names of node pools in AKS: legal, stable, and two pools never share one."""

from __future__ import annotations

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from function.clouds.aks.poolnames import agent_pool

POOLS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?", fullmatch=True).filter(lambda name: name != "system")

ALIKE = st.from_regex("[a0]([-a0]{0,13}[a0])?", fullmatch=True)
"""Names that differ in dashes, and in what is cut off."""


@given(POOLS)
def test_every_name_of_ours_becomes_one_that_aks_accepts(pool: str) -> None:
    assert re.fullmatch("[a-z][a-z0-9]{0,11}", agent_pool(pool))
    assert agent_pool(pool) != "system"


@given(ALIKE, ALIKE)
def test_two_pools_have_two_names(one: str, other: str) -> None:
    assume(one != other)
    assert agent_pool(one) != agent_pool(other)


@given(POOLS)
def test_the_name_of_one_pool_is_no_name_that_another_may_keep(pool: str) -> None:
    """A pool may have the name that was made for another."""
    made = agent_pool(pool)
    assume(made != pool)
    assert agent_pool(made) != made


def test_names_never_change() -> None:
    """They are those of pools that exist: a change would make every pool anew."""
    kept = ("gpu", "h100x8", "ab", "abcdefghijk")
    made = {"abcdefghijkl": "abcdeoji82ry", "gpu-l4": "gpul48qki460", "a-b": "abxxxw0xgtcp", "8x": "p8xxxjsi4gdz"}

    assert {pool: agent_pool(pool) for pool in (*kept, *made)} == {**{pool: pool for pool in kept}, **made}
