"""The device selectors of a deployment: whether each is sound, and whether all together are cheap enough.

The spec alone tells: by the length of the texts, and what each selector may cost at most. So every process says the
same of a spec, whatever the fleet is and whatever was compiled before. Selectors within these bounds are evaluated in
the end, in as many calls as it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from function import cel
from function.api.modeldeployment import Spec
from function.core import InvalidSpec
from function.vocabulary import conditions as c

MOST_BYTES = 20_480
"""Of all distinct selectors of a deployment together: as much as two of the longest that Kubernetes takes."""
MOST_COST = 100_000
"""Of all distinct selectors of a deployment together, each counted as `cel.Facts.price` says. Ordinary ones count 200;
evaluating all of them on one device takes some 30 ms at worst."""

_LESS = "use fewer selectors, or shorten their texts, loops and patterns"

Spend = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Written:
    """A selector, and where it is written."""

    field: str
    who: str
    """Engine, member and request."""
    text: str


@dataclass(slots=True)
class Together:
    """Adds up distinct selectors, and says where they become too much."""

    _texts: dict[str, int] = field(default_factory=dict)
    """With the bytes that each counts."""
    _cost: int = 0

    def added(self, text: str) -> str | None:
        """What is wrong with one more text, before anything is known of it."""
        return self._put(text, len(text.encode(errors="replace")), 0)

    def known(self, text: str, facts: cel.Facts) -> str | None:
        """What is wrong with one more selector."""
        return self._put(text, facts.size, facts.price)

    def _put(self, text: str, size: int, price: int) -> str | None:
        if text in self._texts:
            return None
        self._texts[text] = size
        self._cost += price
        counted = f"with it, the {len(self._texts)} distinct selectors of the deployment"
        total = sum(self._texts.values())
        if total > MOST_BYTES:
            return f"{counted} are {total:,} bytes long, and {MOST_BYTES:,} is the most; {_LESS}"
        if self._cost > MOST_COST:
            return f"{counted} may cost {self._cost:,} units on a device, and {MOST_COST:,} is the most; {_LESS}"
        return None


def admitted(spec: Spec, spend: Spend) -> Mapping[str, Compiled]:
    """Every distinct selector of a deployment, by its text. Raises InvalidSpec, and what `spend` raises."""
    written = list(_written(spec))
    lengths, together = Together(), Together()
    for one in written:
        _check(one, lengths.added(one.text))
    found: dict[str, Compiled] = {}
    for one in written:
        if one.text not in found:
            found[one.text] = _compiled(one, spend)
            _check(one, together.known(one.text, found[one.text].facts))
    return found


def texts(spec: Spec) -> set[str]:
    return {one.text for one in _written(spec)}


def _written(spec: Spec) -> Iterator[Written]:
    for i, engine in enumerate(spec.engines):
        for j, member in enumerate(engine.members):
            for k, asked in enumerate(member.nodeSelector.devices if member.nodeSelector else ()):
                for n, selector in enumerate(asked.selectors):
                    field = f"spec.engines[{i}].members[{j}].nodeSelector.devices[{k}].selectors[{n}].cel"
                    yield Written(field, f"engine {engine.name}, {member.role}, request {asked.name}", selector.cel)


def _check(one: Written, problem: str | None) -> None:
    if problem:
        raise _invalid(one, problem)


def _compiled(one: Written, spend: Spend) -> Compiled:
    try:
        return compiled(one.text, spend)
    except cel.InvalidSelector as error:
        raise _invalid(one, str(error)) from error


def _invalid(one: Written, problem: str) -> InvalidSpec:
    return InvalidSpec(c.INVALID_NODE_SELECTOR(field=one.field, problem=f"({one.who}) {problem}"))


def compiled(text: str, spend: Spend = lambda _: None) -> Compiled:
    """Raises cel.InvalidSelector."""
    return Compiled(text, cel.facts(text, spend), spend)


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A selector as the scheduler asks it. Equal by its text.

    Its program is looked for only when a device is judged: where all verdicts are known, nothing is compiled.
    """

    text: str
    facts: cel.Facts
    _spend: Spend

    @property
    def price(self) -> int:
        return self.facts.price

    def judge(self, published: Hashable, /) -> bool | str:
        outcome = cel.admitted(self.text, self._spend).evaluate(cast("cel.Device", published))
        return str(outcome) if isinstance(outcome, cel.EvaluationError) else outcome is cel.MATCH

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compiled) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)
