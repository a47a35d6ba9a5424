"""Expressions nest as deep as Kubernetes allows, and no deeper; the interpreter's stack has room for them."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from function import cel

DEEPEST = {
    "parentheses": lambda n: "(" * n + "true" + ")" * n,
    "lists": lambda n: "[" * (n - 1) + "]" * (n - 1) + " != [[]]",
    "negations in parentheses": lambda n: "!(" * (n - 1) + "true" + ")" * (n - 1) + " || true",
    "conditionals": lambda n: "true ? true : " * (n - 1) + "true",
    "loops": lambda n: "[1].all(x, " * n + "true" + ")" * n,
    "calls": lambda n: "dyn(" * (n - 1) + "true" + ")" * (n - 1) + " == true",
}


@pytest.mark.slow
@pytest.mark.parametrize("nested", DEEPEST.values(), ids=list(DEEPEST))
def test_an_expression_of_the_deepest_kind_is_evaluated_and_a_deeper_one_refused(nested):
    assert cel.compiled(nested(249)).evaluate(cel.Device("d")) is cel.MATCH
    with pytest.raises(cel.InvalidSelector, match="deep"):
        cel.compiled(nested(252))


def test_a_long_expression_that_does_not_nest_is_no_deep_one():
    text = " && ".join(["true"] * 600)
    assert cel.compiled(text).evaluate(cel.Device("d")) is cel.MATCH


def test_the_recursion_limit_is_what_it_was_however_many_compile_at_once():
    before = sys.getrecursionlimit()
    texts = [DEEPEST["parentheses"](n) for n in range(100, 140)]
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda text: cel.compiled(text).evaluate(cel.Device("d")), texts))
    assert set(got) == {cel.MATCH}
    assert sys.getrecursionlimit() == before
