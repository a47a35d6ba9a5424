"""JSON pointers name a field, whatever is in its name."""

from __future__ import annotations

from typing import Any

import pytest

from function.planning.simulation import pointer


@pytest.mark.parametrize(
    ("path", "value", "want"),
    [
        (("spec", "replicas"), 3, {"spec": {"replicas": 3, "list": [{"a": 1}, 2]}}),
        (("spec", "list", 0, "a"), 5, {"spec": {"list": [{"a": 5}, 2]}}),
        (("spec", "list", 1), {"b": 1}, {"spec": {"list": [{"a": 1}, {"b": 1}]}}),
        (("spec", "list"), None, {"spec": {}}),
        (("spec", "labels", "a.b/c~d"), "x", {"spec": {"list": [{"a": 1}, 2], "labels": {"a.b/c~d": "x"}}}),
        (("spec", "list", 7, "a"), 5, {"spec": {"list": [{"a": 1}, 2]}}),
        (("spec", "list", "a"), 5, {"spec": {"list": [{"a": 1}, 2]}}),
        (("spec", "list", 1, "a"), 5, {"spec": {"list": [{"a": 1}, 2]}}),
    ],
)  # fmt: skip
def test_a_field_is_set(path: tuple[str | int, ...], value: Any, want: dict[str, Any]) -> None:
    got: dict[str, Any] = {"spec": {"list": [{"a": 1}, 2]}}

    pointer.put(got, pointer.spelled(*path), value)

    assert got == want
