"""And, or, conditional: operators that may go on after a failure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.cel.code import Frame, Run
from function.cel.operators import no_overload
from function.cel.problem import Failure


def all_of(terms: Sequence[Run], at: int) -> Run:
    """False where any is false; else the first failure; else true."""
    return _until(False, terms, "&&", at)  # noqa: FBT003  (the deciding value)


def any_of(terms: Sequence[Run], at: int) -> Run:
    """True where any is true; else the first failure; else false."""
    return _until(True, terms, "||", at)  # noqa: FBT003  (the deciding value)


def _until(decisive: bool, terms: Sequence[Run], operator: str, at: int) -> Run:  # noqa: FBT001  (the deciding value)
    otherwise = not decisive

    def decide(frame: Frame) -> bool:
        for i, term in enumerate(terms):
            try:
                value = term(frame)
            except Failure as failure:
                return rest(frame, i + 1, failure)
            if value is decisive:
                return decisive
            if value is not otherwise:
                return rest(frame, i + 1, _wrong(operator, value, at))
        return otherwise

    def rest(frame: Frame, start: int, first: Failure) -> bool:
        for term in terms[start:]:
            try:
                if term(frame) is decisive:
                    return decisive
            except Failure:
                continue
        raise first

    return decide


def _wrong(operator: str, value: Any, at: int) -> Failure:
    failure = no_overload(operator, value)
    failure.at = at
    return failure


def conditional(condition: Run, yes: Run, no: Run, at: int) -> Run:
    def choose(frame: Frame) -> Any:
        chosen = condition(frame)
        if chosen is True:
            return yes(frame)
        if chosen is False:
            return no(frame)
        raise _wrong("? :", chosen, at)

    return choose
