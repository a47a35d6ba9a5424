"""Whose a key is, whatever callers there are and in whatever order they are composed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function import registry
from function.core import Manifest, Request, Result, plain
from function.fleet import callers
from function.sandbox.conditions import conditions_after
from function.sandbox.settle import settle
from function.vocabulary import settings
from tests.support.samples import of

_MOST_PASSES = 10
LIMITS = [{"tokens": "1.5k", "per": "Minute"}, {"tokens": 2000000, "per": "Day"}]


def caller(name: str, *keys: str, created: str = "2026-01-01T00:00:00Z", **spec: Any) -> Manifest:
    made = of("ModelCaller", {"keys": [{"secretRef": {"name": key}} for key in keys], **spec}, name=name)
    made["metadata"]["creationTimestamp"] = created
    return made


def composed(xr: Manifest, *there: Manifest) -> Result:
    return settle(registry.compose, Request(xr=xr), [xr, *there])


def after(xr: Manifest, result: Result) -> Manifest:
    """The XR as it is after a pass."""
    conditions = conditions_after([], result, (), None, later=None)
    return {**xr, "status": {**plain(result.status), "conditions": conditions}}


def edited(xr: Manifest, *keys: str) -> Manifest:
    return {**xr, "spec": caller("any", *keys)["spec"]}


def asked(xr: Manifest) -> set[str]:
    """The Secrets that a valid spec names."""
    return {item["secretRef"]["name"] for item in xr["spec"]["keys"]}


def names(xr: Manifest) -> set[str]:
    """The Secrets that are published."""
    found = callers.of_manifest(xr)
    return {key.secret for key in found.keys} if found else set()


# Limits


@pytest.fixture
def _with_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RATELIMIT", "ratelimit.infra.svc:8081")


@pytest.mark.usefixtures("_with_server")
def test_limits_are_published_as_whole_numbers_where_a_server_counts() -> None:
    got = composed(caller("eval", "a", limits=LIMITS))

    [condition] = got.conditions
    assert got.ready
    assert condition.message == "1 key, at most 1500 tokens per Minute and 2000000 tokens per Day"
    assert got.status["limits"] == [{"tokens": 1500, "per": "Minute"}, {"tokens": 2000000, "per": "Day"}]


@pytest.mark.usefixtures("_with_server")
def test_limits_that_are_removed_are_published_no_more() -> None:
    limited = caller("eval", "a", limits=LIMITS)
    got = composed(edited(after(limited, composed(limited)), "a"))
    assert (got.ready, got.status["limits"]) == (True, [])


def test_limits_are_kept_when_the_server_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = caller("eval", "a", limits=LIMITS)
    with monkeypatch.context() as patched:
        patched.setattr(settings, "RATELIMIT", "192.0.2.1:8081")
        before = composed(limited)
    got = composed(after(limited, before))

    assert [(c.status, c.reason) for c in got.conditions] == [("False", "NoRateLimitServer")]
    assert not got.ready
    assert (got.status["keys"], got.status["limits"]) == (before.status["keys"], before.status["limits"])


# Keys


def test_the_order_of_composing_does_not_matter_for_new_callers() -> None:
    fleet = [caller("b", "k", "b"), caller("a", "k", "a"), caller("c", "k", created="2025-12-31T23:59:59Z")]
    for order in itertools.permutations(fleet):
        assert [names(xr) for xr in _settled(order)] == [
            {"k"} if xr["metadata"]["name"] == "c" else set() for xr in order
        ]


def test_a_key_goes_to_the_next_when_its_caller_leaves_it() -> None:
    older, younger = _settled([caller("a", "k"), caller("b", "k", created="2026-01-02T00:00:00Z")])
    assert (names(older), names(younger)) == ({"k"}, set())

    older, younger = _settled([edited(older, "other"), younger])
    assert (names(older), names(younger)) == ({"other"}, {"k"})


def test_a_caller_that_is_refused_gives_no_key_up() -> None:
    mine = after(caller("a", "k"), composed(caller("a", "k")))
    refused = {**mine, "spec": {"keys": 7}}
    [held, other] = _settled([refused, caller("b", "k", created="2025-01-01T00:00:00Z")])
    assert (names(held), names(other)) == ({"k"}, set())


@pytest.mark.parametrize("junk", [7, "keys", [], {}, [7], [{}], [{"secretRef": 7}], [{"secretRef": {"name": 7}}]])
def test_what_another_caller_holds_may_be_anything(junk: Any) -> None:
    other = {**caller("b"), "spec": {"keys": junk}, "status": {"keys": junk, "limits": junk}}
    assert composed(caller("a", "k"), other).ready


def test_another_callers_key_has_the_default_name_if_it_has_none() -> None:
    theirs = caller("a", "k")
    mine = {**caller("b"), "spec": {"keys": [{"secretRef": {"name": "k", "key": "api-key"}}]}}
    assert [c.reason for c in composed(mine, theirs).conditions] == ["KeyTaken"]


def test_callers_of_other_namespaces_are_left_out_even_if_they_are_found() -> None:
    """Crossplane before 2.0 ignores the namespace of a requirement."""
    mine, theirs = caller("b", "k"), caller("a", "k")
    theirs["metadata"]["namespace"] = "other-team"
    required = {r.name: (mine, theirs) for r in registry.compose(Request(xr=mine)).requirements}
    assert registry.compose(Request(xr=mine, required=required)).ready


def test_two_that_published_a_key_at_once_end_with_one() -> None:
    """Each was composed before the other's edit was seen."""
    fleet = [caller("a", "own"), caller("b", "b", created="2026-01-02T00:00:00Z")]
    alone = [after(xr, composed(xr)) for xr in (edited(fleet[0], "own", "k"), edited(fleet[1], "b", "k"))]
    assert [names(xr) for xr in alone] == [{"own", "k"}, {"b", "k"}]

    assert [names(xr) for xr in _settled(alone)] == [{"own", "k"}, {"b"}]


@given(st.data())
def test_a_key_that_works_works_while_its_own_caller_names_it_and_for_one_caller(data: st.DataObject) -> None:
    fleet = [caller(name, name, created=f"2026-01-0{data.draw(st.integers(1, 3))}T00:00:00Z") for name in "abc"]
    some = st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=3, unique=True)
    for _ in range(data.draw(st.integers(1, 4))):
        before = [names(xr) for xr in fleet]
        chosen = data.draw(st.integers(0, 2))
        fleet[chosen] = edited(fleet[chosen], *data.draw(some))
        fleet = _settled(fleet)
        for had, xr in zip(before, fleet, strict=True):
            assert had & asked(xr) <= names(xr)
        assert sum(map(len, map(names, fleet))) == len(set().union(*map(names, fleet)))


def _settled(fleet: Sequence[Manifest]) -> list[Manifest]:
    """Callers after each was composed, one after the other, until nothing changes."""
    now = list(fleet)
    for _ in range(_MOST_PASSES):
        before, now = now, _composed_in_turn(now)
        if now == before:
            return now
    raise AssertionError("the callers do not settle")


def _composed_in_turn(fleet: Sequence[Manifest]) -> list[Manifest]:
    now = list(fleet)
    for index, xr in enumerate(now):
        required = {callers.required("ml-team").name: tuple(now)}
        now[index] = after(xr, registry.compose(Request(xr=xr, required=required)))
    return now
