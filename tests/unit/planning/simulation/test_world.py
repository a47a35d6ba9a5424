"""What a step does to the world: reads that are behind or empty, and reconciles that are cut short."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Request, Result, condition, controller, dig
from function.planning.control_plane import in_process
from function.planning.simulation import steps
from function.planning.simulation.start import located, spelled
from function.planning.simulation.world import World
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


def test_a_deposed_leader_is_refused_where_another_one_wrote(world: World) -> None:
    """It puts a finalizer on an object that has one, as it does not know yet."""
    second = "ModelDeployment/ml-team/second"
    steps.Copy(MODEL, "second")(world)
    steps.Remember()(world)
    steps.Reconcile(second)(world)
    before = world.store.get(located(second))

    steps.Deposed(second, 1, 9)(world)

    assert world.conflicts == 1
    assert world.store.get(located(second)) is before


def test_two_leaders_end_where_one_does(world: World) -> None:
    steps.Remember()(world)
    steps.Set(MODEL, "/spec/replicas", "3")(world)

    steps.Deposed(MODEL, 1, 0)(world)
    steps.Settle(0)(world)

    assert dig(world.store.get(located(MODEL)), "status", "replicas", "total") == 3


def test_a_leader_that_is_behind_applies_by_what_it_has_read(world: World, seen: Seen) -> None:
    steps.Remember()(world)
    steps.Set("InferenceCluster/iowa", "/spec/taints", '[{"key":"x","effect":"NoSchedule"}]')(world)

    steps.Deposed(MODEL, 1, 99)(world)

    assert _taints(seen.requests) == {None}


@pytest.mark.parametrize("applied", range(2))
def test_an_api_server_that_fails_leaves_the_rest_to_the_next_time(world: World, applied: int) -> None:
    before = len(world.refs("ModelReplica"))
    steps.Set(MODEL, "/spec/replicas", "4")(world)

    steps.Fail(MODEL, applied)(world)

    synced = condition(world.store.get(located(MODEL)) or {}, "Synced")
    assert dig(synced, "status") == "False"
    assert "cannot apply composed resource" in str(dig(synced, "message"))
    assert len(world.refs("ModelReplica")) <= before + applied


def test_an_admission_policy_denies_one_object(world: World) -> None:
    steps.Deny(MODEL, 0)(world)

    message = dig(condition(world.store.get(located(MODEL)) or {}, "Synced"), "message")
    assert str(message).startswith("Unsynced resources: ")


def test_what_is_paused_is_left_alone_also_if_it_is_deleted(world: World) -> None:
    steps.Pause(MODEL)(world)
    steps.Delete(MODEL)(world)
    steps.Settle(0)(world)
    assert dig(condition(world.store.get(located(MODEL)) or {}, "Synced"), "reason") == "ReconcilePaused"

    steps.Heal()(world)
    steps.Settle(0)(world)

    assert world.store.get(located(MODEL)) is None
    assert world.is_healthy


def test_what_is_held_goes_when_it_is_released(world: World) -> None:
    steps.Hold(MODEL)(world)
    steps.Delete(MODEL)(world)
    steps.Settle(0)(world)
    assert world.store.get(located(MODEL)) is not None

    steps.Release(MODEL)(world)

    assert world.store.get(located(MODEL)) is None


def test_an_orphan_is_adopted_again(world: World) -> None:
    before = world.refs("ModelReplica")
    steps.Remove(MODEL, "orphan")(world)
    steps.Reconcile(MODEL)(world)
    assert world.store.get(located(MODEL)) is None
    assert world.refs("ModelReplica") == before

    steps.Restore(MODEL)(world)
    steps.Settle(0)(world)

    deployment: Any = world.store.get(located(MODEL))
    owners = [controller(m["metadata"]) for m in map(world.store.get, world.refs("ModelReplica")) if m is not None]
    assert deployment["metadata"]["uid"] in {owner["uid"] for owner in owners if owner}


def test_a_namespace_goes_with_everything_in_it(world: World) -> None:
    steps.Wipe("ml-team")(world)
    steps.Settle(0)(world)

    assert not [ref for ref in world.refs("ModelReplica") if ref.namespace == "ml-team"]
    assert [ref for ref in world.refs("ModelReplica") if ref.namespace != "ml-team"]


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
