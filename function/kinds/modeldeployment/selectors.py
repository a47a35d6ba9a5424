"""Checks the device selectors of a deployment: each must compile, and all together must be short and cheap enough.

The check depends on the spec alone: on the length of the texts, and on the most that each selector may cost. So it
gives the same answer on every fleet and in every process. Selectors that pass are always evaluated in the end, in as
many calls as it takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from function import cel
from function.api.modeldeployment import Spec
from function.core import InvalidSpec
from function.fleet.selectors import Compiled, Spend, compiled
from function.vocabulary import conditions as c

MOST_BYTES = 20_480
"""Bytes of all distinct selectors of a deployment together: two of the longest that Kubernetes accepts."""
MOST_COST = 100_000
"""Cost of all distinct selectors of a deployment together, each counted by `cel.Facts.price`. An ordinary selector
counts 200. Evaluating all of them on one device takes about 30 ms at worst."""

_LESS = "use fewer selectors, or shorten their texts, loops and patterns"


@dataclass(frozen=True, slots=True)
class Written:
    """A selector, and where the spec has it."""

    field: str
    """The path of the field."""
    who: str
    """Engine, member and request, in words."""
    text: str


@dataclass(slots=True)
class Together:
    """Adds up the bytes and the cost of distinct selectors."""

    _texts: dict[str, int] = field(default_factory=dict)
    """The bytes of each text."""
    _cost: int = 0

    def added(self, text: str) -> str | None:
        """Add a text that is not compiled yet. Return a problem if all texts are too long together, else None."""
        return self._put(text, len(text.encode(errors="replace")), 0)

    def known(self, text: str, facts: cel.Facts) -> str | None:
        """Add a compiled selector. Return a problem if all are too long or cost too much together, else None."""
        return self._put(text, facts.size, facts.price)

    def _put(self, text: str, size: int, price: int) -> str | None:
        if text in self._texts:
            return None
        self._texts[text] = size
        self._cost += price
        counted = f"with it, the {len(self._texts)} distinct selectors of the deployment"
        total = sum(self._texts.values())
        if total > MOST_BYTES:
            return f"{counted} have {total:,} bytes, and the limit is {MOST_BYTES:,}; {_LESS}"
        if self._cost > MOST_COST:
            return f"{counted} can cost {self._cost:,} units per device, and the limit is {MOST_COST:,}; {_LESS}"
        return None


def admitted(spec: Spec, spend: Spend) -> Mapping[str, Compiled]:
    """Return every distinct selector of a deployment, compiled, by its text.

    Raises InvalidSpec if one does not compile or all are too much together, and what `spend` raises.
    """
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
    """Return the texts of all distinct selectors of a deployment."""
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
