"""Device selectors as the scheduler uses them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import cast

from function import cel
from function.core import Tally

Spend = Callable[[int], None]
"""Charges units of a budget before some work, and raises if they are not left."""


EVALUATIONS = Tally("match", "no match", "error")
"""Evaluations of selectors so far, by outcome. Verdicts that are remembered are not counted."""


def compiled(text: str, spend: Spend = lambda _: None) -> Compiled:
    """Return a compiled selector. Raises cel.InvalidSelector, and what `spend` raises."""
    return Compiled(text, cel.facts(text, spend), spend)


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A selector as the scheduler uses it (`scheduling.Selector`). Compares by its text.

    Its program is made when the first device is judged. If all verdicts are known, nothing is compiled.
    """

    text: str
    facts: cel.Facts
    _spend: Spend

    @property
    def price(self) -> int:
        """The most that one evaluation costs, in units of a budget."""
        return self.facts.price

    def judge(self, published: Hashable, /) -> bool | str:
        """Return whether a device satisfies the selector, or the error of the evaluation."""
        outcome = cel.admitted(self.text, self._spend).evaluate(cast("cel.Device", published))
        EVALUATIONS.add("error" if isinstance(outcome, cel.EvaluationError) else str(outcome))
        return str(outcome) if isinstance(outcome, cel.EvaluationError) else outcome is cel.MATCH

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compiled) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)
