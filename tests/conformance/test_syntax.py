"""Texts that are nearly expressions: read, or refused at the same place, as Kubernetes' parser does."""

from __future__ import annotations

import os
import re
from random import Random

import pytest

from function import cel
from tests.conformance import oracle
from tests.conformance.found import PLACES
from tests.conformance.seeds import seed
from tests.conformance.texts import broken, deep

_CASES = int(os.environ.get("CONFORMANCE_CASES", "1000"))
_MISTAKES = r"Syntax error|reserved identifier|unsupported syntax|invalid (?:\w+ literal|unicode)|unable to unescape"
_PLACE = re.compile(rf"<input>:(\d+):(\d+): (?:{_MISTAKES})")
_DEVICE = {"driver": "d", "attributes": {}, "capacity": {}}


@pytest.fixture(autouse=True)
def _go() -> None:
    oracle.wanted()


def test_a_broken_text_is_refused_where_kubernetes_refuses_it(record_property):
    random = Random(seed("broken texts"))
    texts = [text for text in (broken(random) for _ in range(_CASES)) if text.strip()]
    wanted = dict(zip(texts, oracle.answers((text, _DEVICE) for text in texts), strict=True))
    want = {text: (_place(said.get("detail", ""))) for text, said in wanted.items() if "Syntax error" in str(said)}
    record_property("broken texts compared", len(want))
    assert {text: _refused(text) for text in want} == want


def test_a_text_of_which_the_place_was_found_wrong_once_is_refused_where_kubernetes_refuses_it():
    details = [said["detail"] for said in oracle.answers((text, _DEVICE) for text in PLACES)]
    assert dict(zip(PLACES, map(_place, details), strict=True)) == PLACES
    assert {text: _refused(text) for text in PLACES} == PLACES


def test_an_expression_nests_as_deep_as_in_kubernetes(record_property):
    random = Random(seed("deep texts"))
    texts = [deep(random) for _ in range(_CASES // 10)]
    wanted = oracle.answers((text, _DEVICE) for text in texts)
    want = {text: "recursion" in said.get("detail", "") for text, said in zip(texts, wanted, strict=True)}
    record_property("deep texts compared", len(want))
    got = {text: _is_too_deep(text) for text in want}
    assert not [(text[:80], len(text)) for text in want if got[text] != want[text]]


def _place(detail: str) -> tuple[int, int]:
    """Line and column of the first that Kubernetes finds; those that follow from it may stand before it."""
    return min((int(line), int(column)) for line, column in _PLACE.findall(detail))


def _refused(text: str) -> tuple[int, int] | None:
    try:
        cel.compiled(text)
    except cel.InvalidSelector as invalid:
        return invalid.place.line, invalid.place.column
    return None


def _is_too_deep(text: str) -> bool:
    try:
        cel.compiled(text)
    except cel.InvalidSelector as invalid:
        return "deep" in invalid.problem
    return False
