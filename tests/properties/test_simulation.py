"""A crowded fleet under everything that a simulation knows: no invariant is broken, whatever the seed."""

from __future__ import annotations

import pytest

from function.planning.simulation import replays
from function.planning.simulation.generator import KINDS, Generator
from function.planning.simulation.play import play, play_chosen
from function.planning.simulation.shrink import shrink
from tests.support.simulated import crowded

CALM = tuple(kind for kind in KINDS if kind in ("edits", "order", "stale", "empty", "interrupts", "restarts", "clocks"))


WITHOUT_KUBECONFIG = """
restart
delete Secret/modelplane-system/oregon-kubeconfig
restore ModelService/ml-team/qwen
interrupt ModelEndpoint/ml-team/younger-2ce61ea4 2
settle 0
set ModelDeployment/search/other-a /spec/replicas 4
delete ModelDeployment/ml-team/younger
behind ModelDeployment/ml-team/younger-b 3
settle 0
"""
"""Seed 1022: pods of a deleted deployment stay, since nobody can delete them, and their node counts as free."""


@pytest.mark.parametrize("failed_once", [WITHOUT_KUBECONFIG], ids=["without a kubeconfig"])
def test_what_failed_once_holds(failed_once: str) -> None:
    assert play(crowded(), replays.read(failed_once)).violation is None


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
