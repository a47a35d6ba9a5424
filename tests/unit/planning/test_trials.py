"""A change helps if it was tried on the whole fleet, placed one more replica that serves, and took none from others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.planning.explanation import trials
from function.planning.explanation.states import State
from function.planning.explanation.steps import Step
from function.planning.explanation.trials import BeyondLimit, Trials
from function.sandbox.store import Ref
from function.vocabulary import versions
from tests.support.explained import DATA, RIVAL

NORTH = Ref(versions.MODELPLANE, "InferenceCluster", "", "north")
OURS = Ref(versions.MODELPLANE, "ModelDeployment", "chat", "deepseek")
THEIRS = Ref(versions.MODELPLANE, "ModelDeployment", "chat", "a-rival")


@pytest.fixture
def base() -> State:
    """Three nodes, of which the rival has one; the deployment needs three."""
    texts = [(DATA / f"{name}.yaml").read_text() for name in ("fleet", "cache", "deployment")]
    objects = [m for text in (*texts, RIVAL) for m in yaml.safe_load_all(text.replace("nodeCount: 4", "nodeCount: 3"))]
    control = ControlPlane()
    control.loop.load([*objects, *stubs.objects(objects)])
    control.loop.settle()
    return State(control, OURS)


def step(ref: Ref, change: Callable[[dict[str, Any]], None]) -> Step:
    return Step(f"edit {ref}", ((ref, lambda manifest: change(manifest["spec"])),))


def nodes(count: int) -> Step:
    return step(NORTH, lambda spec: spec["nodePools"][0].update(nodeCount=count))


def test_one_more_replica_that_serves_helps(base: State) -> None:
    trial = Trials(base).tried((nodes(4),))

    assert trial is not None
    assert (trial.where, trial.why) == (("north",), "")


def test_the_fleet_stays_as_it_is(base: State) -> None:
    before = base.control.store.version
    Trials(base).tried((nodes(4),))

    assert base.control.store.version == before


def test_a_replica_that_another_deployment_loses_is_no_help(base: State) -> None:
    trial = Trials(base).tried((step(THEIRS, lambda spec: spec.update(replicas=0)),))

    assert trial is not None
    assert (trial.where, trial.why) == ((), "chat/a-rival would lose a replica")


def test_room_that_another_deployment_takes_is_no_help(base: State) -> None:
    more = step(THEIRS, lambda spec: spec.update(replicas=2))
    trial = Trials(base).tried((more, nodes(4)))

    assert trial is not None
    assert (trial.where, trial.why) == ((), "chat/a-rival gets the room first")


def test_a_change_that_admission_refuses_is_no_change(base: State) -> None:
    assert Trials(base).tried((nodes(-1),)) is None


def test_the_same_steps_are_tried_once(base: State) -> None:
    tried = Trials(base)
    again = [tried.tried((nodes(4),)) for _ in range(2)]

    assert again[0] is again[1]
    assert tried.count == 1


@pytest.mark.parametrize("limit", ["MOST_TRIALS", "MOST_CALLS"])
def test_no_trial_starts_beyond_a_limit(limit: str, base: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, limit, 1)
    tried = Trials(base)
    tried.tried((nodes(4),))

    with pytest.raises(BeyondLimit):
        tried.tried((step(THEIRS, lambda spec: spec.update(replicas=0)),))
