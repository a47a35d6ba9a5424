"""And, or, conditional: the operators that may go on after a failure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.cel.language.errors import Failure
from function.cel.language.program.code import Frame, Run
from function.cel.language.values.type_names import no_overload


def all_of(terms: Sequence[Run], at: int) -> Run:
    """False where any term is false; else the first failure; else true."""
    return _until(decisive=False, terms=terms, operator="&&", at=at)


def any_of(terms: Sequence[Run], at: int) -> Run:
    """True where any term is true; else the first failure; else false."""
    return _until(decisive=True, terms=terms, operator="||", at=at)


def _until(*, decisive: bool, terms: Sequence[Run], operator: str, at: int) -> Run:
    otherwise = not decisive

    def decide(frame: Frame) -> Any:
        for i, term in enumerate(terms):
            try:
                value = term(frame)
            except Failure as failure:
                return _after(frame, terms[i + 1 :], decisive, failure)
            if value is decisive:
                return decisive
            if value is not otherwise:
                return _after(frame, terms[i + 1 :], decisive, _wrong(operator, value, at))
        return otherwise

    return decide


def _after(frame: Frame, terms: Sequence[Run], decisive: Any, first: Failure) -> Any:
    """The terms after one that failed: only the deciding value counts."""
    for term in terms:
        try:
            if term(frame) is decisive:
                return decisive
        except Failure:
            continue
    raise first


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
