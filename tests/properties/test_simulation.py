"""A crowded fleet under everything that a simulation knows: no invariant is broken, whatever the seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from function.planning.simulation import replays
from function.planning.simulation.generator import KINDS, Generator
from function.planning.simulation.play import play, play_chosen
from function.planning.simulation.shrink import shrink
from function.planning.simulation.world import World
from tests.soak import fleets
from tests.support.simulated import crowded

CALM = tuple(kind for kind in KINDS if kind in ("edits", "order", "stale", "empty", "interrupts", "restarts", "clocks"))


REPLAYS = sorted((Path(__file__).parents[1] / "data/replays").glob("*.txt"))
"""What broke an invariant once. The first line of each names its fleet."""


@pytest.mark.slow
@pytest.mark.parametrize("failed_once", REPLAYS, ids=lambda path: path.stem)
def test_what_failed_once_holds(failed_once: Path) -> None:
    text = failed_once.read_text()
    fleet = text.splitlines()[0].removeprefix("# fleet: ")

    played = play(fleets.settled(fleet), replays.read(text))

    assert played.violation is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_invariant_is_broken_in_a_random_fleet(seed: int) -> None:
    played = play_chosen(fleets.settled(fleets.random(seed)), Generator(seed, 60))

    if played.violation:
        pytest.fail(replays.text(played.steps, [str(played.violation)]))


@pytest.mark.slow
def test_a_replica_stays_until_its_workloads_are_gone() -> None:
    """Its deployment is gone, and the provider cannot delete anything on its cluster for the moment."""
    world = World(crowded())
    there = names_of(world)
    for step in replays.read("fault unreachable oregon\ndelete ModelDeployment/ml-team/younger\nsettle 0"):
        step(world)
    left = names_of(world)
    assert left
    assert left < there

    for step in replays.read("heal\nsettle 0"):
        step(world)
    assert not names_of(world)


def names_of(world: World) -> set[str]:
    return {ref.name for ref in world.refs("ModelReplica") if ref.namespace == "ml-team" and "younger" in ref.name}


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
