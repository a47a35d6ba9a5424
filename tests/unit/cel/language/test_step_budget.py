"""Whatever a selector is, it ends: what it compares and builds is counted, and so is what it costs."""

import pytest

from function import cel
from function.cel import selector
from tests.bench.worst import SELECTORS, nested

DEVICE = cel.Device("d", capacity=(("memory", "1Gi"),))


def _sums(times: int, then: str) -> str:
    """A list that is added to itself again and again."""
    for i in reversed(range(times)):
        then = f"cel.bind(b{i + 1}, b{i} + b{i}, {then})"
    return f"cel.bind(b0, lists.range(100), {then})"


@pytest.mark.parametrize("text", SELECTORS.values(), ids=list(SELECTORS))
def test_a_selector_that_is_made_to_take_long_is_refused_or_ends(text):
    try:
        selector = cel.admitted(text)
    except cel.InvalidSelector:
        return
    assert selector.cost <= cel.COST_LIMIT
    assert selector.evaluate(DEVICE) is not None


def test_a_sum_of_lists_is_not_written_out():
    text = _sums(40, "b40.size() == 109951162777600 && b40[109951162777599] == 99")
    assert cel.admitted(text).evaluate(DEVICE) is cel.MATCH


def test_what_is_too_much_to_compare_or_to_build_ends_the_evaluation():
    """Nothing absorbs that, as nothing absorbs that an evaluation costs too much."""
    texts = (
        _sums(15, "b15 == b15 || true"),
        "cel.bind(a, '" + "a" * 4000 + "', a.replace('', a).replace('', a).size() >= 0 || true)",
        'lists.range(90).all(x, quantity("1e99999").add(quantity("1")).isInteger() || true)',
    )
    got = [str(cel.compiled(text).evaluate(DEVICE)) for text in texts]
    assert got == ["the evaluation builds or compares more than a selector may here"] * len(texts)


def test_steps_are_counted_for_each_evaluation_anew():
    selector = cel.compiled("cel.bind(a, lists.range(20000), a + a == a + a)")
    assert [selector.evaluate(DEVICE) for _ in range(9)] == [cel.MATCH] * 9


def test_an_evaluation_may_cost_a_fiftieth_of_what_kubernetes_allows():
    """What it could cost at most does not matter: what it does cost is counted."""
    text = "lists.range({}).all(x, x >= 0) || device.driver == 'd'"
    costly = cel.admitted(text.format(100_000))
    assert "more than the 20,000 units that this server allows" in str(costly.evaluate(DEVICE))
    assert cel.compiled(text.format(100_000)).evaluate(DEVICE) is cel.MATCH


def test_a_cheap_selector_takes_few_steps():
    """So that the costs of selectors together bound what they take together."""
    text = nested(5, "b5 == b5")
    assert cel.admitted(text).price == 529
    assert str(cel.admitted(text).evaluate(DEVICE)) == "the evaluation builds or compares more than a selector may here"
    assert cel.admitted("'a-b-c-d'.replace('-', '+') == 'a+b+c+d'").evaluate(DEVICE) is cel.MATCH


def test_what_could_cost_much_and_does_not_is_evaluated():
    text = "true || lists.range(100000).all(x, x >= 0)"
    assert cel.admitted(text).cost > 20_000
    assert cel.admitted(text).evaluate(DEVICE) is cel.MATCH


def test_what_was_bound_and_failed_is_not_tried_again():
    text = "b40"
    for i in reversed(range(40)):
        text = f"cel.bind(b{i + 1}, b{i} || b{i}, {text})"
    selector = cel.compiled(f"cel.bind(b0, 1 / 0 == 1, {text})")
    assert str(selector.evaluate(DEVICE)) == "division by zero"


def test_a_text_that_is_wrong_is_judged_once():
    before = selector._PROGRAMS.insertions
    for _ in range(3):
        with pytest.raises(cel.InvalidSelector):
            cel.compiled("device.drivers == 'a text that no other test judges'")
    assert selector._PROGRAMS.insertions == before + 1
