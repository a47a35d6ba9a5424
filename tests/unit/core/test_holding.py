"""A hold restates what was said, or says Unknown; what is refused is never Ready."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import (
    Composer,
    Condition,
    ConditionType,
    HoldDecision,
    InvalidSpec,
    Missing,
    NotYet,
    Request,
    Result,
)

VERDICT, HEALTH, OTHER = ConditionType("Accepted"), ConditionType("Healthy"), ConditionType("Other")
HINT = ConditionType("Hint")
REFUSED = VERDICT.false("InvalidSpec", "{field}: {problem}")
WAITING = VERDICT.false("Waiting", "Waiting for {what}")
READY = {"type": "Ready", "status": "True", "observedGeneration": 2}
RUNS = {"type": "Healthy", "status": "True", "reason": "Runs", "message": "2 of 2"}


def held(why: Exception, *conditions: dict[str, Any], known: HoldDecision | None = None, **status: Any) -> Result:
    """What a composer says that raises, of an XR of generation 2 that has these conditions."""

    def compose(_: Request) -> Result:
        raise why

    composer = Composer(
        api_version="v1",
        kind="Any",
        conditions=(VERDICT, HEALTH, OTHER),
        optional=(HINT,),
        invalid=REFUSED,
        requirements=lambda _: (),
        compose=compose,
        **({"held": lambda _: known} if known else {}),
    )
    metadata = {"name": "x", "generation": 2}
    return composer(Request(xr={"metadata": metadata, "status": {**status, "conditions": list(conditions)}}))


def refused() -> InvalidSpec:
    return InvalidSpec(REFUSED(field="spec", problem="no"))


def waiting() -> NotYet:
    return NotYet(WAITING(what="it"))


def test_what_was_said_is_restated_and_what_never_was_is_unknown() -> None:
    assert held(waiting(), RUNS).conditions == (
        Condition("Accepted", "False", "Waiting", "Waiting for it"),
        Condition("Healthy", "True", "Runs", "2 of 2"),
        Condition("Other", "Unknown", "Undecided", "Waiting for condition Accepted, whose reason is Waiting"),
    )


def test_what_crossplane_wrote_over_a_condition_was_never_said() -> None:
    """It sets every condition to Unknown when a call fails; the function says again what it does not know."""
    fatal = {"type": "Healthy", "status": "Unknown", "reason": "FatalError", "message": "A fatal error occurred"}
    assert [c.reason for c in held(waiting(), fatal).conditions] == ["Waiting", "Undecided", "Undecided"]


def test_what_is_known_from_observation_is_said_instead() -> None:
    known = HoldDecision(conditions=(HEALTH.false("Fell", "0 of 2")(),), status={"serving": False})
    result = held(waiting(), RUNS, READY, known=known, serving=True, address="x")
    assert [c.reason for c in result.conditions] == ["Waiting", "Fell", "Undecided"]
    told = {"reason": "Waiting", "message": "Waiting for it"}
    assert (result.status, result.ready) == ({"serving": False, "address": "x", **told}, False)


@pytest.mark.parametrize(
    ("why", "ready", "want"),
    [
        (waiting(), READY, True),
        (Missing(waiting().condition), READY, False),
        (waiting(), {**READY, "status": "False"}, False),
        (waiting(), {**READY, "observedGeneration": 1}, False),  # the edit since then was not decided on
        (refused(), READY, False),
    ],
    ids=["as it was", "an input that is known to be missing", "as it was not", "an edit since then", "a refused edit"],
)
def test_ready_is_restated_unless_the_spec_is_refused(why: Exception, ready: dict[str, Any], want: bool) -> None:
    assert held(why, ready).ready is want


def test_what_is_seen_not_to_be_ready_is_not_ready() -> None:
    assert held(waiting(), READY, known=HoldDecision(ready=False)).ready is False


# Optional conditions


HINTED = {"type": "Hint", "status": "True", "reason": "Told", "message": "so"}


def test_an_optional_condition_is_restated_only_if_it_was_said() -> None:
    assert [c.type for c in held(waiting()).conditions] == ["Accepted", "Healthy", "Other"]
    assert held(waiting(), HINTED).conditions[3:] == (Condition("Hint", "True", "Told", "so"),)


def test_an_optional_condition_can_be_said_on_a_hold_and_decides_nothing() -> None:
    known = HoldDecision(conditions=(HINT.false("Untold")(),))
    got = held(waiting(), READY, known=known)
    assert [c.reason for c in got.conditions[3:]] == ["Untold"]
    assert got.ready


@pytest.mark.parametrize(("said", "had", "lawful"), [(0, 0, True), (1, 0, True), (1, 1, True), (0, 1, False)])
def test_an_optional_condition_never_goes_stale(said: int, had: int, *, lawful: bool) -> None:
    composer = Composer(
        api_version="v1",
        kind="Any",
        conditions=(),
        optional=(HINT,),
        invalid=REFUSED,
        requirements=lambda _: (),
        compose=lambda _: Result(ready=True, conditions=(HINT.true("Told")(),) * said),
    )
    request = Request(xr={"metadata": {"name": "x"}, "status": {"conditions": [HINTED] * had}})
    if lawful:
        assert len(composer(request).conditions) == said
    else:
        with pytest.raises(AssertionError, match="the rest would go stale"):
            composer(request)
