"""What is said of a pool without room."""

import pytest

from function.scheduling.rejection import Full


@pytest.mark.parametrize(
    ("free", "short", "long"),
    [
        (1, "1 free on a100", "pool a100 has 1 node free"),
        (0, "0 free on a100", "pool a100 has 0 nodes free"),
        (-1, "a100 is overcommitted by 1", "pool a100 is overcommitted by 1 node"),
    ],
)
def test_a_pool_that_shrank_under_its_replicas_lacks_nodes(free, short, long):
    """A number below zero is no number of nodes."""
    full = Full("a100", 2, free)
    assert (str(full), full.detail()) == (f"full (needs 2 nodes, {short})", f"{long}, and a replica needs 2")
