"""Why an XR is not as its spec asks, in one word."""

from __future__ import annotations

import pytest

from function.core import Composer, Concern, Condition, ConditionType, InvalidSpec, Request, Result
from function.core.summary import with_summary

PLACED, SERVING, OBSERVED = ConditionType("Placed"), ConditionType("Serving"), ConditionType("Observed")
ALL_PLACED = PLACED.true("AllPlaced")
FULL = PLACED.false("Full", "no node is free")
PLACING = PLACED.waiting("Placing", "waiting for {what}")
ALL_SERVE = SERVING.true("AllServe")
HALF = SERVING.true("Half", "one of two", Concern.WAIT)
ROLLING = SERVING.false("Rolling", "as edited", Concern.NONE)
STARTING = SERVING.waiting("Starting")
NOT_ASKED = OBSERVED.false("NotAsked", concern=Concern.NONE)
STALE = OBSERVED.false("Stale")
UNKNOWN = OBSERVED.unknown("Waiting")


def told(*conditions: Condition, ready: bool = False, status: dict[str, object] | None = None) -> dict[str, object]:
    result = Result(ready=ready, conditions=conditions, status=status or {})
    return dict(with_summary(result, (PLACED, SERVING), (OBSERVED,)))


@pytest.mark.parametrize(
    ("conditions", "want"),
    [
        ((FULL(), STARTING()), "Full"),
        ((STARTING(), FULL()), "Full"),
        ((PLACING(what="x"), STARTING()), "Placing"),
        ((ALL_PLACED(), STARTING()), "Starting"),
        ((PLACING(what="x"), ALL_SERVE(), STALE()), "Placing"),
        ((ALL_PLACED(), HALF()), "Half"),
        ((ALL_PLACED(), ROLLING()), "Rolling"),
    ],
)
def test_the_first_fault_tells_why_and_else_the_first_that_waits(conditions: tuple[Condition, ...], want: str) -> None:
    assert told(*conditions)["reason"] == want


def test_the_order_in_which_conditions_are_reported_is_irrelevant() -> None:
    assert told(STARTING(), PLACING(what="x")) == told(PLACING(what="x"), STARTING())


def test_the_message_is_that_of_the_same_condition() -> None:
    assert told(PLACING(what="a cluster"), STARTING()) == {"reason": "Placing", "message": "waiting for a cluster"}


def test_a_reason_without_a_message_has_none() -> None:
    assert told(ALL_PLACED(), STARTING()) == {"reason": "Starting"}


@pytest.mark.parametrize("informing", [(), (NOT_ASKED(),), (UNKNOWN(),)])
def test_nothing_is_told_if_all_is_as_the_spec_asks(informing: tuple[Condition, ...]) -> None:
    last = {"reason": "Full", "message": "no node is free", "nodes": 3}
    assert told(ALL_PLACED(), ALL_SERVE(), *informing, ready=True, status=last) == {"nodes": 3}


def test_a_fault_that_decides_nothing_is_told_of_what_is_ready() -> None:
    assert told(ALL_PLACED(), ALL_SERVE(), STALE(), ready=True)["reason"] == "Stale"


def test_a_condition_that_never_had_a_value_explains_nothing_if_another_does() -> None:
    undecided = Condition("Placed", "Unknown", "Undecided", "Waiting for condition Serving")
    assert told(undecided, STARTING())["reason"] == "Starting"


def test_a_reason_of_another_version_is_judged_by_its_status() -> None:
    assert told(Condition("Placed", "False", "Gone", "as it was"), ALL_SERVE())["reason"] == "Gone"


def test_a_hold_tells_why_it_holds() -> None:
    def compose(_: Request) -> Result:
        raise InvalidSpec(FULL())

    composer = Composer(
        api_version="v1",
        kind="Any",
        conditions=(PLACED,),
        invalid=FULL,
        requirements=lambda _: (),
        compose=compose,
    )
    xr = {"metadata": {"name": "x"}, "status": {"reason": "Placing", "message": "old", "nodes": 3}}
    assert composer(Request(xr=xr)).status == {"nodes": 3, "reason": "Full", "message": "no node is free"}


def test_one_reason_has_one_concern() -> None:
    with pytest.raises(AssertionError, match="two concerns"):
        PLACED.false("Placing")
