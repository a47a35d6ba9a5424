"""What a step does to the world: reads that are behind or empty, and reconciles that are cut short."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Request, Result, dig
from function.planning.control_plane import in_process
from function.planning.simulation import steps
from function.planning.simulation.world import World, located, spelled
from tests.support import simulated

MODEL = "ModelDeployment/ml-team/qwen3-8b"


class Seen:
    """Our function, and what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Result:
        self.requests.append(request)
        return in_process(request)


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def world(seen: Seen) -> World:
    return World(simulated.start(seen))


def test_a_cache_that_is_behind_answers_what_was(world: World, seen: Seen) -> None:
    steps.Remember()(world)
    steps.Set("InferenceCluster/iowa", "/spec/taints", '[{"key":"x","effect":"NoSchedule"}]')(world)
    steps.Behind(MODEL, 1)(world)
    behind = _taints(seen.requests)
    seen.requests.clear()
    steps.Reconcile(MODEL)(world)

    assert (behind, _taints(seen.requests)) == ({None}, {"x"})


def test_one_requirement_finds_nothing(world: World, seen: Seen) -> None:
    steps.Without(MODEL, "cluster-iowa")(world)

    assert all(not request.required.get("cluster-iowa") for request in seen.requests)
    assert any(request.required.get("cluster-oregon") for request in seen.requests)


def test_an_xr_that_found_nothing_looks_again() -> None:
    """Otherwise a world would count as settled in which it has yet to."""
    world = World(simulated.crowded())
    for _ in range(2):
        steps.Without("ModelDeployment/search/other", "clusters")(world)

    steps.Settle(513)(world)
    version = world.store.version
    steps.Rest()(world)

    assert world.store.version == version


@pytest.mark.parametrize("writes", range(3))
def test_a_reconcile_is_cut_short_after_some_writes(world: World, writes: int) -> None:
    steps.Set(MODEL, "/spec/replicas", "4")(world)
    before = world.store.version

    steps.Interrupt(MODEL, writes)(world)

    assert world.store.version == before + writes
    assert not world.control.loop.reconciler.asked


def test_what_is_gone_is_no_error(world: World) -> None:
    for step in (steps.Reconcile, steps.Delete, steps.Restore):
        step("ModelDeployment/nowhere/nothing")(world)
    steps.Set("ModelDeployment/nowhere/nothing", "/spec/replicas", "1")(world)
    steps.Behind(MODEL, 3)(world)
    steps.Lose("nowhere")(world)


def test_an_object_of_the_files_comes_back_as_it_was(world: World) -> None:
    steps.Delete(MODEL)(world)
    steps.Settle(0)(world)
    assert world.store.get(located(MODEL)) is None

    steps.Restore(MODEL)(world)
    steps.Settle(3)(world)
    steps.Copy(MODEL, "other")(world)

    found: Any = world.store.get(located(MODEL))
    assert found["spec"]["engines"] == dig(world.store.get(located("ModelDeployment/ml-team/other")), "spec", "engines")
    assert dig(found, "status", "replicas", "ready") == dig(found, "spec", "replicas")


def test_an_edit_that_admission_refuses_changes_nothing_and_is_counted(world: World) -> None:
    before = world.store.version

    steps.Set(MODEL, "/spec/replicas", "-1")(world)

    assert (world.store.version, world.refused) == (before, 1)


def test_a_skewed_clock_is_in_the_timestamps(world: World) -> None:
    for seconds, name in ((0, "first"), (-3600, "second")):
        steps.Skew(seconds)(world)
        steps.Copy(MODEL, name)(world)

    first, second = (
        dig(world.store.get(located(f"ModelDeployment/ml-team/{n}")), "metadata", "creationTimestamp")
        for n in ("first", "second")
    )
    assert str(second) < str(first)


@pytest.mark.parametrize("target", [MODEL, "InferenceCluster/iowa", "Object/ml-team/x", "Nothing/a/b"])
def test_a_target_names_an_object(target: str) -> None:
    assert spelled(located(target)) == target


def _taints(requests: list[Request]) -> set[Any]:
    """The keys of the taints of iowa, as they were read."""
    found = (r.required.get("cluster-iowa") for r in requests)
    return {dig(m, "spec", "taints", 0, "key") for answers in found for m in answers or ()}
