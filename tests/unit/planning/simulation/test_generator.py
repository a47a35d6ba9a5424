"""The generator makes every step, of every kind, and the same ones each time."""

from __future__ import annotations

import pytest

from function.planning.simulation.generator import KINDS, Generator
from function.planning.simulation.mishaps import FAULTS_BY_KIND, NAMES
from function.planning.simulation.play import Played, play, play_chosen
from function.planning.simulation.start import Start
from function.planning.simulation.steps import STEPS
from function.planning.simulation.world import FAULTS, World
from tests.support import simulated


def drawn(start: Start, seed: int, kinds: tuple[str, ...] = ()) -> list[str]:
    """The steps of many bursts, all for the fleet as it is at the start."""
    choose, world = Generator(seed, 2_000, kinds), World(start)
    world.remember()
    world.pause("InferenceClass/l4", on=True)
    world.hold("InferenceClass/l4", on=True)
    found = []
    while burst := choose(world):
        found += [str(step) for step in burst]
    return found


@pytest.mark.slow
def test_every_step_is_made() -> None:
    """A fault is mended only where one is on."""
    start = simulated.start()
    start.control.faults.unreachable.add("iowa")

    assert {line.split()[0] for line in drawn(start, 0)} == set(STEPS)


def test_a_kind_that_is_not_asked_for_makes_no_step() -> None:
    got = {line.split()[0] for line in drawn(simulated.start(), 0, ("clocks",))}

    assert got == {"skew", "settle", "rest", "heal"}


def test_every_fault_belongs_to_a_kind_and_has_names() -> None:
    assert sorted(fault for faults in FAULTS_BY_KIND.values() for fault in faults) == sorted(FAULTS)
    assert set(NAMES) == set(FAULTS)
    assert set(FAULTS_BY_KIND) < set(KINDS)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_switched_on_and_off(fault: str) -> None:
    world = World(simulated.start())
    name = "iowa/l4" if fault == "lost_pools" else "iowa"

    for on in (True, False, True):
        world.switch(fault, name, on=on)
        assert bool(getattr(world.faults, fault)) is on
        assert world.is_healthy is not on
    world.heal()
    assert world.is_healthy


@pytest.mark.slow
def test_the_same_seed_is_the_same_run() -> None:
    got = [play_chosen(simulated.start(), Generator(5, 40)) for _ in range(2)]

    assert _facts(got[0]) == _facts(got[1])
    assert _facts(play(simulated.start(), got[0].steps)) == _facts(got[0])


@pytest.mark.slow
def test_a_run_leaves_its_start_as_it_was() -> None:
    start = simulated.start()
    before = [*start.control.store.all()]

    play_chosen(start, Generator(5, 20))

    assert [*start.control.store.all()] == before
    assert start.control.faults == World(start).faults


def _facts(played: Played) -> tuple[object, ...]:
    return [*map(str, played.steps)], played.digest, played.checked, played.violation, played.reconciles
