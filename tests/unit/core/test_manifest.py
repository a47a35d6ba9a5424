"""Readiness is of the generation that stands; nothing in another's object is taken for granted."""

import pytest

from function.core import dig, is_ready


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
