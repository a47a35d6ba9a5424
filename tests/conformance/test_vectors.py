"""Selectors mean here what they mean to Kubernetes: the stored cases, all of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.ours import answer

_DATA = Path(__file__).parents[1] / "data" / "cel"
_PARTS = 4


def _vectors() -> list[dict[str, Any]]:
    return json.loads((_DATA / "vectors.json").read_text())


@pytest.mark.parametrize("case", _vectors(), ids=lambda case: case["name"])
def test_a_vector_is_answered_as_the_library_answers_it(case, record_property):
    record_property("vectors compared", 1)
    assert answer(case["expression"], case["device"]) == case["expect"], case["why"]


@pytest.mark.parametrize("part", range(_PARTS))
def test_the_stored_random_selectors_are_answered_as_the_library_answers_them(part, record_property):
    stored = json.loads(gzip.decompress((_DATA / "fuzz.json.gz").read_bytes()))
    cases = stored["cases"][part::_PARTS]
    got = {expression: answer(expression, stored["device"]) for expression, _ in cases}
    record_property("stored random selectors compared", len(cases))
    assert got == dict(cases)
