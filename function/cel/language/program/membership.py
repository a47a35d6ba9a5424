"""`x in [...]` of a list literal: a lookup in a set, with the results that cel-go's same optimization has.

Source: github.com/google/cel-go v0.26, interpreter/decorators.go (maybeOptimizeSetMembership).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.cel.language.errors import Abort, Failure
from function.cel.language.program.code import Code, Frame, Run, constant
from function.cel.language.values import arithmetic
from function.cel.language.values.kinds import INT_MAX, Uint
from function.cel.language.values.opaque import PANICKING
from function.cel.language.values.type_names import type_name

_PRIMITIVE = (bool, int, Uint, float, str)


def member_of(item: Run, items: list[Any]) -> Code | None:
    """The test for membership; None where cel-go looks through the list instead."""
    if not items:
        return constant(value=False)
    if not all(type(i) in _PRIMITIVE for i in items):
        return None
    known = frozenset((type(v), v) for i in items for v in _likes(i))

    def test(frame: Frame) -> bool:
        value = item(frame)
        if type(value) in PANICKING:
            raise Abort(f"{type_name(value)} in a list that is written out ends the evaluation in Kubernetes")
        return type(value) in _PRIMITIVE and (type(value), value) in known

    return Code(test)


def _likes(item: Any) -> Iterator[Any]:
    """The value, and what it is as another number."""
    yield item
    if type(item) is float:
        yield from _whole(item)
    elif type(item) is int:
        yield float(item)
        if item >= 0:
            yield Uint(item)
    elif type(item) is Uint:
        yield float(item)
        if item <= INT_MAX:
            yield int(item)


def _whole(number: float) -> Iterator[Any]:
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124  (not a number)
        return
    whole = int(number)
    for convert in (arithmetic.integer, arithmetic.unsigned):
        try:
            like = convert(whole)
        except Failure:
            continue
        if like == number:
            yield like
