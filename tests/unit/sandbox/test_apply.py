"""Server-side apply: whose silence takes what away."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.core import restate
from function.sandbox import apply, schemas
from function.sandbox.store import Ref, Store

PORTS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object"},
}
SET = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
ATOMIC = {"type": "object", "x-kubernetes-map-type": "atomic"}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"ports": PORTS, "tags": SET, "selector": ATOMIC}}


@pytest.mark.parametrize(
    ("live", "applied", "want"),
    [
        ({"a": 1, "b": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
        ({"list": [1, 2]}, {"list": [3]}, {"list": [3]}),
        (
            {"ports": [{"name": "a", "v": 1}]},
            {"ports": [{"name": "b"}]},
            {"ports": [{"name": "a", "v": 1}, {"name": "b"}]},
        ),
        ({"ports": [{"name": "a", "v": 1}]}, {"ports": [{"name": "a", "v": 2}]}, {"ports": [{"name": "a", "v": 2}]}),
        ({"tags": ["x"]}, {"tags": ["y", "x"]}, {"tags": ["x", "y"]}),
        ({"selector": {"a": 1}}, {"selector": {"b": 2}}, {"selector": {"b": 2}}),
    ],
)
def test_what_is_applied_merges_by_the_schema(live: Any, applied: Any, want: Any) -> None:
    assert apply.merge(live, applied, SCHEMA) == want


def test_fields_are_written_as_managed_fields_write_them() -> None:
    value = {"a": {"b": 1}, "ports": [{"name": "x", "v": 1}], "tags": ["t"], "selector": {"k": 1}, "list": [1]}

    want = {
        "f:a": {"f:b": {}},
        "f:ports": {'k:{"name":"x"}': {".": {}, "f:name": {}, "f:v": {}}},
        "f:tags": {'v:"t"': {}},
        "f:selector": {},
        "f:list": {},
    }
    assert apply.fields(value, SCHEMA) == want


CONFIG = Ref("v1", "ConfigMap", "team", "c")


def config(**data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "team"}, "data": data}


def test_a_field_of_two_owners_goes_with_the_last() -> None:
    store = Store(schemas.load([]))
    store.apply(config(a="1", b="1"), "one")
    store.apply(config(a="1"), "two")
    store.apply(config(b="1"), "one")
    shared = dict((store.get(CONFIG) or {})["data"])

    store.apply(config(), "two")

    assert (shared, (store.get(CONFIG) or {})["data"]) == ({"a": "1", "b": "1"}, {"b": "1"})


def test_the_same_intent_again_writes_nothing() -> None:
    store = Store(schemas.load([]))
    store.apply(config(a="1"), "one")
    version = store.version

    store.apply(config(a="1"), "one")

    assert store.version == version


def test_only_the_spec_counts_generations() -> None:
    store = Store(schemas.load([]))
    store.apply(config(a="1"), "one")
    store.update(CONFIG, lambda m: m["metadata"].update(labels={"x": "y"}))
    store.update(CONFIG, lambda m: m.update(status={"ok": True}), status=True)
    before = (store.get(CONFIG) or {})["metadata"]["generation"]

    store.apply(config(a="2"), "one")

    assert (before, (store.get(CONFIG) or {})["metadata"]["generation"]) == (1, 2)


def test_what_was_applied_can_be_said_again() -> None:
    """Managed fields are good enough for `restate`: it says what we own, and nothing that others added."""
    store = Store(schemas.load([]))
    ours = config(a="1")
    ours["metadata"]["labels"] = {"team": "x"}
    store.apply(ours, "apiextensions.crossplane.io/composed/1")
    store.apply(config(b="2"), "someone")

    assert restate(store.get(CONFIG) or {}) == ours


def test_an_object_with_finalizers_waits_for_them() -> None:
    store = Store(schemas.load([]))
    store.apply(config(a="1"), "one")
    store.add_finalizer(CONFIG, "wait")

    store.delete(CONFIG)
    waiting = (store.get(CONFIG) or {})["metadata"]["deletionTimestamp"]
    store.remove_finalizer(CONFIG, "wait")

    assert (bool(waiting), store.get(CONFIG)) == (True, None)


LEAVES = st.one_of(st.integers(0, 3), st.sampled_from(["x", "y"]))
OBJECTS = st.recursive(
    st.dictionaries(st.sampled_from("abc"), LEAVES, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), st.one_of(LEAVES, inner), min_size=1, max_size=3),
    max_leaves=8,
)


@given(live=OBJECTS, applied=OBJECTS)
def test_what_covers_changes_nothing(live: Any, applied: Any) -> None:
    assert apply.covers(live, applied, {}) == (apply.merge(live, applied, {}) == live)


@given(first=OBJECTS, second=OBJECTS)
def test_an_owner_that_is_alone_has_exactly_what_it_last_said(first: Any, second: Any) -> None:
    """Apply one thing, then another: the first is gone without a trace."""
    store = Store(schemas.load([]))
    store.apply({**config(), "data": first}, "one")
    store.apply({**config(), "data": second}, "one")

    alone = Store(schemas.load([]))
    alone.apply({**config(), "data": second}, "one")

    assert (store.get(CONFIG) or {})["data"] == (alone.get(CONFIG) or {})["data"]
