"""What the API server does with an object on its way in."""

from __future__ import annotations

from typing import Any

import pytest

from function.planning.control_plane import kinds
from function.sandbox import admission, schemas
from function.sandbox.admission import Admission
from function.sandbox.errors import Refused

SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "x-kubernetes-validations": [{"rule": "self.name == oldSelf.name", "message": "name is immutable"}],
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
        "count": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1},
        "mode": {"type": "string", "enum": ["A", "B"]},
        "items": {
            "type": "array",
            "maxItems": 2,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["key"],
            "items": {
                "type": "object",
                "properties": {"key": {"type": "string"}, "on": {"type": "boolean", "default": True}},
            },
        },
        "more": {"type": "object", "additionalProperties": {"type": "string"}},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"name": "ab"}, []),
        ({}, ["spec.name: is required"]),
        ({"name": 5}, ["spec.name: must be a string, not 5"]),
        ({"name": None}, ["spec.name: must be a string, not null"]),
        ({"name": "a"}, ["spec.name: must be at least 2 characters long, not 'a'"]),
        ({"name": "ABC"}, ["spec.name: must match ^[a-z]+$, which 'ABC' does not"]),
        ({"name": "ab", "count": 4}, ["spec.count: must be at most 3, not 4"]),
        ({"name": "ab", "count": 2.0}, []),
        ({"name": "ab", "count": True}, ["spec.count: must be an integer, not True"]),
        ({"name": "ab", "mode": "C"}, ["spec.mode: must be one of 'A', 'B', not 'C'"]),
        ({"name": "ab", "items": [{}, {}, {}]}, [
            "spec.items: must be at most 2 items long, not '3 items'",
            "spec.items[1]: there is another item with the same key",
            "spec.items[2]: there is another item with the same key",
        ]),
        ({"name": "ab", "more": {"x": 1}}, ["spec.more.x: must be a string, not 1"]),
    ],
)  # fmt: skip
def test_a_structural_schema_names_field_value_and_what_is_accepted(spec: dict[str, Any], want: list[str]) -> None:
    schema = {"type": "object", "properties": {"spec": SPEC}}

    assert [str(fault) for fault in admission.violations_of({"spec": spec}, schema)] == want


def test_defaults_are_filled_in_below_what_is_there() -> None:
    value = {"name": "ab", "items": [{"key": "x"}, {"key": "y", "on": False}]}

    admission.fill(value, SPEC)

    want = {"name": "ab", "count": 1, "items": [{"key": "x", "on": True}, {"key": "y", "on": False}]}
    assert value == want


def test_what_the_schema_does_not_know_is_dropped() -> None:
    value = {"name": "ab", "typo": 1, "any": {"x": 1}, "more": {"y": "z"}, "items": [{"key": "x", "typo": 1}]}

    admission.prune(value, SPEC)

    assert value == {"name": "ab", "any": {"x": 1}, "more": {"y": "z"}, "items": [{"key": "x"}]}


def test_rules_see_what_stood_there_before() -> None:
    """A transition rule has no say over what is new."""
    kind = schemas.ServedKind("x/v1", "X", True, {"type": "object", "properties": {"spec": SPEC}}, composition="x")
    admit = Admission()
    old = {"metadata": {"name": "x"}, "spec": {"name": "ab"}}

    admit(kind, {**old, "spec": {"name": "cd"}}, None)
    admit(kind, {**old, "spec": {"name": "ab"}}, old)
    with pytest.raises(Refused, match=r"^X x: spec: name is immutable$"):
        admit(kind, {**old, "spec": {"name": "cd"}}, old)


def test_our_own_kinds_are_known() -> None:
    got = {kind.kind: kind.namespaced for kind in kinds().composites()}

    assert (got["ModelDeployment"], got["InferenceCluster"], got["ServingStack"]) == (True, False, True)


def test_plain_values_of_a_secret_are_stored_encoded_as_the_api_server_does() -> None:
    served = kinds()
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "keys", "namespace": "ml-team"},
        "data": {"kept": "a2VwdA==", "token": "b2xk"},
        "stringData": {"token": "new"},
    }

    Admission()(served.of("v1", "Secret"), secret, None)

    assert secret["data"] == {"kept": "a2VwdA==", "token": "bmV3"}
    assert "stringData" not in secret


@pytest.mark.parametrize("value", [{"token": 5}, ["hidden"], {"token": ["hidden"]}])
def test_plain_values_that_are_no_strings_are_refused_and_not_repeated(value: Any) -> None:
    served = kinds()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": value}

    with pytest.raises(Refused, match="stringData") as refused:
        Admission()(served.of("v1", "Secret"), secret, None)

    assert "hidden" not in str(refused.value)
