"""Fresh selectors at random, answered by us and by Kubernetes' own library; a difference is made small, then shown.

CONFORMANCE_SEED repeats a run, CONFORMANCE_CASES says how many cases each of the parts compares.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

import pytest

from tests.conformance import oracle
from tests.conformance.expressions import Tree, described, device, expression
from tests.conformance.ours import BOUNDS, DEVIATIONS, answer, cost, most
from tests.conformance.seeds import seed

pytestmark = pytest.mark.slow

_PARTS = 4
_CASES = int(os.environ.get("CONFORMANCE_CASES", "1000"))
_WIDEST = 60
_STEPS = 40
_DEEPEST = 4
_TIMES = 300
"""How often a case is asked again to see whether it has one answer."""

Case = tuple[Tree, dict[str, Any]]


@pytest.mark.parametrize("part", range(_PARTS))
def test_fresh_random_selectors_have_the_answer_and_the_price_that_the_library_gives_them(part, record_property):
    oracle.wanted()
    chosen = seed(str(part))
    random = Random(chosen)
    cases = [(expression(random, depth=random.randint(1, _DEEPEST)), device(random)) for _ in range(_CASES)]
    differences = [_smallest(case) for case in _differing(cases)[:5]]
    record_property("fresh random selectors compared", len(cases))
    assert not differences, "\n".join(f"seed {chosen}: {_shown(case)}" for case in differences)


def _differing(cases: Iterable[Case]) -> list[Case]:
    cases = list(cases)
    wanted = oracle.answers((str(tree), given) for tree, given in cases)
    differing = [case for case, want in zip(cases, wanted, strict=True) if _ours(case, want) != _theirs(want)]
    return [case for case in differing if _is_settled(case)]


def _theirs(want: Mapping[str, Any]) -> tuple[str, int | None, int | None]:
    """The outcome, what it could cost, and what it did, where it has not failed, maybe for that."""
    if want["outcome"] == "compile_error":
        return want["outcome"], None, None
    return want["outcome"], want["maxCost"], want["cost"] if want["outcome"] in ("match", "nomatch") else None


def _ours(case: Case, want: Mapping[str, Any]) -> tuple[str, int | None, int | None]:
    tree, given = case
    outcome, is_known = answer(str(tree), given), _theirs(want)[2] is not None
    if outcome == "compile_error":
        return outcome, None, None
    return outcome, most(str(tree)), cost(str(tree), given) if is_known else None


def _is_settled(case: Case) -> bool:
    """Whether the library says the same each time: a map has no order there, and some expressions show it."""
    tree, given = case
    return len({_theirs(want) for want in oracle.answers([(str(tree), given)] * _TIMES)}) == 1


def _smallest(case: Case) -> Case:
    """The case with ever smaller expressions, as long as the answers differ."""
    for _ in range(_STEPS):
        tree, given = case
        smaller = [(less, given) for less in tree.smaller() if len(str(less)) < len(str(tree))][:_WIDEST]
        differing = _differing(smaller) if smaller else []
        if not differing:
            break
        case = differing[0]
    return case


def _shown(case: Case) -> str:
    tree, given = case
    [want] = oracle.answers([(str(tree), given)])
    said = f"want {_theirs(want)} ({want.get('detail', '')}), got {_ours(case, want)}"
    return f"{said}\n{described(str(tree), given)}"


@pytest.mark.parametrize("expression", BOUNDS, ids=lambda text: text[:40])
def test_what_would_hold_the_server_ends_here_and_not_in_kubernetes(expression):
    plain = {"driver": "d", "attributes": {}, "capacity": {}}
    assert answer(expression, plain) == "runtime_error"
    if oracle.is_buildable():
        [want] = oracle.answers([(expression, plain)])
        assert want["outcome"] == "match"


@pytest.mark.parametrize("expression", DEVIATIONS, ids=lambda text: text[:40])
def test_a_deviation_is_a_compile_error_here_and_none_in_kubernetes(expression):
    """Where it has gone, the list must lose it too."""
    plain = {"driver": "d", "attributes": {}, "capacity": {}}
    assert answer(expression, plain) == "compile_error"
    if oracle.is_buildable():
        [want] = oracle.answers([(expression, plain)])
        assert want["outcome"] != "compile_error"
