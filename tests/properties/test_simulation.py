"""A crowded fleet under everything that a simulation knows: no invariant is broken, whatever the seed."""

from __future__ import annotations

import pytest

from function.planning.simulation import replays
from function.planning.simulation.generator import KINDS, Generator
from function.planning.simulation.play import play_chosen
from function.planning.simulation.shrink import shrink
from tests.support.simulated import crowded

CALM = tuple(kind for kind in KINDS if kind in ("edits", "order", "stale", "empty", "interrupts", "restarts", "clocks"))


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [(), CALM], ids=["everything", "no faults"])
@pytest.mark.parametrize("seed", range(2))
def test_no_invariant_is_broken(seed: int, kinds: tuple[str, ...]) -> None:
    """A seed that fails shows the few steps by which it does, as a replay."""
    played = play_chosen(crowded(), Generator(seed, 150, kinds))

    if played.violation:
        left = shrink(crowded(), played.steps, played.violation, most=3_000)
        pytest.fail(replays.text(left.steps, [str(left.violation)]))
    assert played.checked.total() > 500
