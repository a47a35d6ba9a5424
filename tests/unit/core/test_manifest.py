"""Readiness is of the generation that stands; nothing in another's object is taken for granted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import get_type_hints

import pytest

from function.core import (
    condition,
    controller,
    dig,
    dig_fields,
    dig_list,
    dig_objects,
    is_controlled_by,
    is_ready,
)


@pytest.mark.parametrize(
    ("generation", "condition", "want"),
    [
        (2, {"type": "Ready", "status": "True", "observedGeneration": 2}, True),
        (2, {"type": "Ready", "status": "True", "observedGeneration": 1}, False),
        (2, {"type": "Ready", "status": "True"}, True),
        (2, {"type": "Ready", "status": "Unknown", "observedGeneration": 2}, False),
        (2, {"type": "Synced", "status": "True", "observedGeneration": 2}, False),
    ],
)
def test_is_ready(generation, condition, want):
    manifest = {"metadata": {"generation": generation}, "status": {"conditions": [condition]}}
    assert is_ready(manifest) is want


@pytest.mark.parametrize("status", [None, {}, {"conditions": None}, {"conditions": "x"}, {"conditions": ["x"]}])
def test_nonsense_in_status_is_not_ready(status):
    assert not is_ready({"metadata": {"name": "new"}, "status": status})


@pytest.mark.parametrize(
    ("path", "want"),
    [(("a", "b"), 1), (("a", "c"), None), (("a", "b", "c"), None), (("l", 0), 2), (("l", 1), None), (("s", 0), None)],
)
def test_dig_ends_where_the_path_ends(path, want):
    assert dig({"a": {"b": 1}, "l": [2], "s": "text"}, *path) == want


def test_what_is_dug_has_no_type_before_a_test():
    """A type checker then refuses a use of a foreign value that may have another type."""
    got = {read: get_type_hints(read)["return"] for read in (dig, dig_list, dig_fields, dig_objects, condition)}
    anything = Mapping[str, object]
    assert got == {
        dig: object,
        dig_list: Sequence[object],
        dig_fields: anything,
        dig_objects: Iterable[anything],
        condition: anything | None,
    }


@pytest.mark.parametrize("value", [None, 7, "x", {"a": 1}, [], ["x", 7, None, [1]]])
def test_objects_are_only_those_that_are_some(value):
    found = {"objects": value}
    assert list(dig_objects(found, "objects")) == []
    assert list(dig_objects({"objects": [value, {"b": 2}]}, "objects")) == [
        *([value] if isinstance(value, dict) else []),
        {"b": 2},
    ]


OWNER = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "name": "qwen", "uid": "1"}


@pytest.mark.parametrize(
    ("references", "want"),
    [
        ([OWNER | {"controller": True}], True),
        ([OWNER, OWNER | {"controller": True}], True),
        ([OWNER | {"controller": True, "apiVersion": "modelplane.ai/v1beta1"}], True),
        ([OWNER | {"controller": True, "apiVersion": "example.org/v1alpha1"}], False),
        ([OWNER | {"controller": True, "apiVersion": "modelplane.ai.example.org/v1alpha1"}], False),
        ([OWNER | {"controller": True, "kind": "ModelService"}], False),
        ([OWNER | {"controller": False}], False),
        ([OWNER | {"controller": "true"}], False),
        ([OWNER], False),
        ([], False),
        (None, False),
        ("ModelDeployment", False),
        ([None, "x"], False),
    ],
)
def test_only_a_controller_of_the_kind_controls(references, want):
    metadata = {"name": "a"} if references is None else {"name": "a", "ownerReferences": references}
    assert is_controlled_by(metadata, "modelplane.ai/v1alpha1", "ModelDeployment") is want


def test_an_object_has_one_controller():
    metadata = {"ownerReferences": [OWNER, OWNER | {"name": "b", "controller": True}]}
    assert controller(metadata)["name"] == "b"
