"""What services read of a ModelCaller: what was accepted, whatever else is stored."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.core import LazyDict
from function.fleet import callers
from function.fleet.callers import Caller, Limit, SecretKey

NAMED = {"metadata": {"name": "eval", "namespace": "ml-team"}}
KEY = {"secretName": "eval-key", "key": "api-key"}
FIELDS = ("keys", "limits", "secretName", "key", "tokens", "per", "name", "metadata", "status")
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=8,
)


def read(**status: Any) -> Caller | None:
    return callers.of_manifest({**NAMED, "status": status})


def test_keys_and_limits_are_read_from_the_status() -> None:
    limits = [{"tokens": 1500.0, "per": "Hour"}, {"tokens": 4294967295, "per": "Day"}]
    got = read(keys=[{"secretName": "next", "key": "k"}, KEY], limits=limits)

    keys = (SecretKey("next", "k"), SecretKey("eval-key", "api-key"))
    assert got == Caller("eval", keys, (Limit(1500, "Hour"), Limit(4294967295, "Day")))
    assert got is not None
    assert isinstance(got.limits[0].tokens, int)


def test_the_spec_does_not_count() -> None:
    spec = {"keys": [{"secretRef": {"name": "other"}}], "limits": [{"tokens": 1, "per": "Hour"}]}
    assert callers.of_manifest({**NAMED, "spec": spec}) is None
    assert callers.of_manifest({**NAMED, "spec": spec, "status": {"keys": [KEY]}}) == read(keys=[KEY])


@pytest.mark.parametrize(
    "keys", [None, [], {}, "eval-key", 7, [7], [{}], [{"secretName": "", "key": "k"}], [{"key": "k"}]]
)
def test_a_caller_without_an_accepted_key_is_none(keys: Any) -> None:
    assert read(keys=keys) is None


@pytest.mark.parametrize("item", [None, 7, [], {}, {"secretName": "a"}, {"secretName": 1, "key": "k"}, KEY])
def test_what_is_no_key_or_is_one_twice_is_left_out(item: Any) -> None:
    assert read(keys=[KEY, item]) == read(keys=[KEY])


@pytest.mark.parametrize("tokens", [None, 0, -1, 1.5, 4294967296, True, "1k", float("nan"), float("inf"), [1]])
def test_what_is_no_limit_is_left_out(tokens: Any) -> None:
    assert read(keys=[KEY], limits=[{"tokens": tokens, "per": "Hour"}]) == read(keys=[KEY])


@pytest.mark.parametrize("per", [None, "", "hour", "Week", 7, [], {}, ["Hour"]])
def test_a_limit_of_another_unit_is_left_out(per: Any) -> None:
    assert read(keys=[KEY], limits=[{"tokens": 1, "per": per}]) == read(keys=[KEY])


def test_a_manifest_may_be_read_lazily() -> None:
    lazy = LazyDict(["keys"], lambda _: [LazyDict(KEY, KEY.__getitem__)])
    assert callers.of_manifest({**NAMED, "status": lazy}) == read(keys=[KEY])


@given(junk)
def test_anything_may_be_stored(stored: Any) -> None:
    for manifest in ({**NAMED, "status": stored}, {"metadata": stored, "status": {"keys": [KEY]}}):
        got = callers.of_manifest(manifest)
        assert got is None or (got.keys and isinstance(got.name, str))
        assert all(isinstance(text, str) for text in callers.age(manifest))


def test_the_oldest_sorts_first_and_names_decide_between_equals() -> None:
    def made(name: str, created: str) -> dict[str, Any]:
        return {"metadata": {"name": name, "creationTimestamp": created}}

    fleet = [made("a", "2026-01-02T00:00:00Z"), made("c", "2026-01-01T00:00:00Z"), made("b", "2026-01-01T00:00:00Z")]
    assert [m["metadata"]["name"] for m in sorted(fleet, key=callers.age)] == ["b", "c", "a"]


def test_all_callers_of_the_namespace_are_required() -> None:
    assert str(callers.required("ml-team")) == "all ModelCallers"
    assert callers.required("ml-team").namespace == "ml-team"
