"""Texts of others in messages of ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.core import Composer, Condition, Event, HoldDecision, Request, Result, visible
from function.vocabulary import conditions


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("plain", "plain"),
        ("é, 漢字, 🚀", "é, 漢字, 🚀"),
        ("a\u202egnp.exe", r"a\u202egnp.exe"),
        ("a\u2066b\u2069\u200f\u061c", r"a\u2066b\u2069\u200f\u061c"),
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("one\r\ntwo\tthree\u2028four", "one two three four"),
        ("\x00\x7f\x9b", r"\x00\x7f\x9b"),
        ("half \ud83d", r"half \ud83d"),
        ("tag \U000e0041", r"tag \U000e0041"),
    ],
)
def test_what_hides_or_acts_is_shown(text: str, want: str) -> None:
    assert visible(text) == want


@given(st.text(st.characters()))
def test_to_say_it_twice_changes_nothing_and_it_can_be_sent(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    assert once.encode().decode() == once
    assert len(once.splitlines()) <= 1


def test_no_message_of_a_result_hides_anything() -> None:
    """Whatever a composer says: conditions, events, and messages in its status. Other values stay as they are."""
    hidden, shown = "a\u202eb\nc", r"a\u202eb c"
    said = Result(
        ready=False,
        conditions=(Condition(conditions.ROUTING_READY.type, "False", "X", hidden),),
        events=(Event("X", hidden),),
        status={"clusters": [{"name": hidden, "message": hidden}]},
    )
    composer = Composer(
        api_version="v1",
        kind="Any",
        conditions=(conditions.ROUTING_READY,),
        invalid=conditions.INVALID_ENDPOINT,
        requirements=lambda _: (),
        compose=lambda _: said,
        held=lambda _, why: HoldDecision((why,)),
    )
    got = composer(Request(xr={"metadata": {"name": "x"}}))
    assert (got.conditions[0].message, got.events[0].message) == (shown, shown)
    assert got.status == {"clusters": [{"name": hidden, "message": shown}], "reason": "X", "message": shown}
