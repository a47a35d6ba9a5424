"""Events: what happened, told once."""

from __future__ import annotations

import pytest

from function.core import Concern, Condition, ConditionType, Event, Request, Result
from function.core.transitions import LONGEST_NOTE, events, gathered, moved_addresses

READY = ConditionType("ModelReady")
SERVING = READY.true("Serving", "it serves")
AT_ZERO = READY.true("AtZero", "nothing is wanted")
STARTING = READY.waiting("Starting", "{n} of 2 copies")
WAITING = READY.waiting("WaitingForCluster", "waiting for c1")
BROKEN = READY.false("Broken", "its image does not exist")
ROLLING = READY.false("Rolling", "as edited", Concern.NONE)
INVALID = READY.false("InvalidSpec", "{field}: {problem}")
UNSEEN = READY.unknown("Unseen", "nobody looked")
UNDECIDED = Condition("ModelReady", "Unknown", "Undecided")
OVERWRITTEN = Condition("ModelReady", "Unknown", "FatalError")


def between(before: Condition | None, now: Condition, *, reason: str = "") -> list[tuple[str, bool]]:
    """The reasons of the events, and whether each warns."""
    had = [
        {"type": c.type, "status": c.status, "reason": c.reason, "message": c.message}
        for c in (before,)
        if c is not None
    ]
    xr = {"status": {"conditions": had, "reason": reason}}
    found = events(Request(xr=xr), Result(ready=False, conditions=(now,)), (READY,), INVALID)
    return [(event.reason, event.warning) for event in found]


@pytest.mark.parametrize(
    ("before", "now", "want"),
    [
        (SERVING(), SERVING(), []),
        (SERVING(), STARTING(n=1), [("Starting", True)]),
        (SERVING(), BROKEN(), [("Broken", True)]),
        (SERVING(), ROLLING(), [("Rolling", False)]),
        (SERVING(), AT_ZERO(), [("AtZero", False)]),
        (SERVING(), UNSEEN(), []),
        (STARTING(n=0), STARTING(n=1), []),
        (STARTING(n=1), SERVING(), [("Serving", False)]),
        (WAITING(), STARTING(n=0), [("Starting", False)]),
        (STARTING(n=0), BROKEN(), [("Broken", True)]),
        (BROKEN(), STARTING(n=0), [("Starting", False)]),
        (UNSEEN(), SERVING(), [("Serving", False)]),
    ],
)
def test_a_transition_is_told_and_warns_if_it_gets_worse(
    before: Condition, now: Condition, want: list[tuple[str, bool]]
) -> None:
    assert between(before, now) == want


@pytest.mark.parametrize("before", [None, UNDECIDED, OVERWRITTEN])
def test_of_what_is_reported_for_the_first_time_only_a_fault_is_told(before: Condition | None) -> None:
    assert between(before, SERVING()) == []
    assert between(before, STARTING(n=0)) == []
    assert between(before, BROKEN()) == [("Broken", True)]


def test_a_fault_is_not_told_again_after_crossplane_overwrote_it() -> None:
    assert between(OVERWRITTEN, BROKEN(), reason="Broken") == []


def test_another_refused_edit_is_told() -> None:
    first = INVALID(field="spec.a", problem="must be 1")
    second = INVALID(field="spec.b", problem="must be 2")
    assert between(first, second) == [("InvalidSpec", True)]
    assert between(first, INVALID(field="spec.a", problem="must be 1; 3 remain")) == []


def test_a_condition_without_a_message_is_told_in_its_own_words() -> None:
    request, now = Request(xr={"status": {}}), Condition("ModelReady", "False", "Broken")
    [event] = events(request, Result(ready=False, conditions=(now,)), (READY,), INVALID)
    assert event.message == "ModelReady is False"


def test_many_events_of_one_reason_are_one_with_a_count() -> None:
    lost = [Event("Lost", f"r{i} was lost", warning=True) for i in range(1000)]
    [event] = gathered([*lost, *lost])
    assert event == Event("Lost", "; ".join(f"r{i} was lost" for i in range(5)) + "; and 995 more", warning=True)


def test_a_note_is_short_and_keeps_its_count() -> None:
    [event] = gathered([Event("Lost", f"{i}{'x' * 500}") for i in range(20)])
    assert len(event.message) <= LONGEST_NOTE
    assert event.message.endswith("; and 15 more")


def test_events_of_other_reasons_stay_apart() -> None:
    found = [Event("Placed", "a"), Event("Lost", "b", warning=True), Event("Placed", "c")]
    assert gathered(found) == (Event("Placed", "a; c"), Event("Lost", "b", warning=True))


def test_an_address_is_told_when_it_becomes_another() -> None:
    xr = {"status": {"gateway": {"address": "192.0.2.1"}}}
    path = ("gateway", "address")
    [event] = moved_addresses(xr, {"gateway": {"address": "192.0.2.2"}}, [path])
    assert event == Event("AddressChanged", "The address is 192.0.2.2; it was 192.0.2.1", warning=True)
    assert list(moved_addresses(xr, xr["status"], [path])) == []
    assert list(moved_addresses(xr, {}, [path])) == []
    assert list(moved_addresses({}, xr["status"], [path])) == []
