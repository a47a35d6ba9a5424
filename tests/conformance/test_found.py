"""What was answered differently once is answered as Kubernetes does."""

from __future__ import annotations

import pytest

from tests.conformance import oracle
from tests.conformance.found import FOUND
from tests.conformance.ours import answer

_DEVICE = {
    "driver": "gpu.nvidia.com",
    "attributes": {"model": {"string": "H100"}, "n": {"int": 1}, "cc": {"version": "9.0.0"}, "ecc": {"bool": True}},
    "capacity": {"memory": {"value": "80Gi"}},
}


@pytest.mark.parametrize("kind", FOUND)
def test_a_difference_that_was_found_has_gone(kind, record_property):
    want = FOUND[kind]
    record_property("differences found once", len(want))
    assert {expression: answer(expression, _DEVICE) for expression in want} == want


def test_the_answers_kept_are_those_of_the_library():
    oracle.wanted()
    want = {expression: answer for kind in FOUND.values() for expression, answer in kind.items()}
    got = oracle.answers((expression, _DEVICE) for expression in want)
    assert {expression: said["outcome"] for expression, said in zip(want, got, strict=True)} == want
