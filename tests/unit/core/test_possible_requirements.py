"""A look-up that an API server refuses is never asked for: Crossplane would give up the reconcile."""

from __future__ import annotations

import pytest

from function.core import Requirement


@pytest.mark.parametrize("name", ["a", "a.b", "system:controller", "A_b", "a" * 253])
def test_a_name_that_a_path_can_hold_is_looked_up(name: str) -> None:
    assert Requirement("r", "v1", "Secret", match_name=name, namespace="ns").is_possible


@pytest.mark.parametrize("name", ["", ".", "..", "../..", "a/b", "a%2f", "a b", "a\x00", "\u00e4", "a" * 254, "a\n"])
def test_a_name_that_no_path_can_hold_is_not(name: str) -> None:
    assert not Requirement("r", "v1", "Secret", match_name=name).is_possible
    assert not Requirement("r", "v1", "Secret", match_name="a", namespace=name).is_possible


@pytest.mark.parametrize(
    ("key", "value", "want"),
    [
        ("a", "", True),
        ("example.org/a", "A.b_c-1", True),
        ("a", "a@b", False),
        ("a", "a" * 64, False),
        ("a", "-a", False),
        ("/a", "a", False),
        ("a/b/c", "a", False),
        ("a", "a\n", False),
    ],
)
def test_labels_that_no_object_can_have_are_not_looked_up(key: str, value: str, want: bool) -> None:
    assert Requirement("r", "v1", "Secret", match_labels={key: value}).is_possible is want
