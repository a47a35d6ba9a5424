"""Attributes as a driver may publish them, with the library's answers: a device that it cannot read matches nothing."""

from __future__ import annotations

from typing import Any

import pytest

from function import cel
from tests.conformance import oracle
from tests.conformance.ours import answer, device

_UNREADABLE = ("runtime_error", "runtime_error", "runtime_error")
SELECTORS = ("true", 'device.attributes["d"].x == 1', 'device.attributes["d"].x == "a"')
CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "no value": ({}, _UNREADABLE),
    "null": (None, _UNREADABLE),
    "a null value": ({"string": None}, _UNREADABLE),
    "a kind that there is not": ({"float": 1.5}, _UNREADABLE),
    "an empty version": ({"version": ""}, _UNREADABLE),
    "an empty string": ({"string": ""}, ("match", "nomatch", "nomatch")),
    "a null beside a value": ({"int": None, "string": "a"}, ("match", "nomatch", "match")),
    "an int and a string": ({"string": "a", "int": 1}, ("match", "match", "nomatch")),
    "a bool and a version": ({"version": "1.0.0", "bool": True}, ("match", "nomatch", "nomatch")),
}


def published(attribute: Any) -> dict[str, Any]:
    return {"driver": "d", "attributes": {"x": attribute}, "capacity": {}}


@pytest.mark.parametrize("case", CASES)
def test_an_attribute_is_read_as_the_library_reads_it(case):
    attribute, want = CASES[case]
    assert tuple(answer(selector, published(attribute)) for selector in SELECTORS) == want


def test_the_answers_kept_are_those_of_the_library():
    oracle.wanted()
    questions = [(selector, published(attribute)) for attribute, _ in CASES.values() for selector in SELECTORS]
    want = [outcome for _, outcomes in CASES.values() for outcome in outcomes]
    assert [said["outcome"] for said in oracle.answers(questions)] == want


@pytest.mark.parametrize(
    ("attribute", "problem"),
    [
        ({}, "attribute x: it has no value: one of int, bool, string, version is needed"),
        ("Hopper", "attribute x: it has no value: one of int, bool, string, version is needed"),
        ({"int": "1"}, "attribute x: int is '1', which is no int"),
        ({"int": True}, "attribute x: int is True, which is no int"),
        ({"bool": 1}, "attribute x: bool is 1, which is no bool"),
        ({"string": ["a"]}, "attribute x: string is ['a'], which is no string"),
        ({"int": 2**63}, "attribute x: 9223372036854775808 does not fit in 64 bits"),
    ],
)
def test_what_is_wrong_with_an_attribute_is_told(attribute, problem):
    """No library is asked: the API server refuses such a device, or drops what it does not know."""
    assert cel.device_fault(device(published(attribute))) == problem
