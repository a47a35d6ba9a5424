"""The fields in which two objects differ."""

from __future__ import annotations

from typing import Any

import pytest

from function.planning.field_changes import FieldChange, changes


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [FieldChange("changed", "a", 1, 2)]),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": [2]}}, [FieldChange("added", "a.c", after=[2])]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, [FieldChange("removed", "a.c", before=2)]),
        ({"a": {"x/y": 1}}, {"a": {"x/y": 2}}, [FieldChange("changed", 'a["x/y"]', 1, 2)]),
        ({"a": {"b": 1}}, {"a": None}, [FieldChange("changed", "a", {"b": 1}, None)]),
        ({"a": [1, 2]}, {"a": [1, 3]}, [FieldChange("changed", "a[1]", 2, 3)]),
        ({"a": [1, 2]}, {"a": [1]}, [FieldChange("removed", "a[1]", before=2)]),
        ({"a": [1]}, {"a": [1, 2]}, [FieldChange("added", "a[1]", after=2)]),
    ],
)
def test_values_are_compared_by_their_paths(before: Any, after: Any, want: list[FieldChange]) -> None:
    assert list(changes(before, after)) == want


def named(**values: int) -> dict[str, Any]:
    return {"env": [{"name": name, "value": value} for name, value in values.items()]}


def test_items_with_names_are_matched_by_them() -> None:
    """An item that is put before the others is one change."""
    got = list(changes(named(b=1, c=2), named(a=0, b=1, c=3)))

    assert got == [FieldChange("added", "env[0]", after={"name": "a", "value": 0}),
                   FieldChange("changed", "env[2].value", 2, 3)]  # fmt: skip


def test_another_order_of_items_with_names_is_a_change() -> None:
    assert list(changes(named(a=1, b=2), named(b=2, a=1))) == [
        FieldChange("reordered", "env", ["a", "b"], ["b", "a"])
    ]  # fmt: skip


def test_items_of_which_two_have_one_name_are_matched_by_position() -> None:
    twice = {"env": [{"name": "a", "value": 1}, {"name": "a", "value": 2}]}
    other = {"env": [{"name": "a", "value": 1}, {"name": "a", "value": 3}]}

    assert list(changes(twice, other)) == [FieldChange("changed", "env[1].value", 2, 3)]
