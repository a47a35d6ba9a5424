"""Validation rules and readiness queries over plain JSON data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from function.cel.checking.check import check
from function.cel.checking.environment import QUERY, RULE, Environment
from function.cel.checking.explain import wrong_result
from function.cel.effort import counted
from function.cel.problem import Abort, EvaluationFailed, Failure, Fault, InvalidSelector
from function.cel.program.bounded import bounded
from function.cel.program.code import Run
from function.cel.program.compiler import Compiler
from function.cel.program.room import room, roomy
from function.cel.syntax.parse import parse

MOST_COMPILED = 1024


@dataclass(frozen=True, slots=True)
class Rule:
    """Compiled; true or false of what its variables hold."""

    text: str
    variables: tuple[str, ...]
    _run: Run = field(repr=False, compare=False)
    _width: int = field(repr=False, compare=False)

    def evaluate(self, /, **variables: Any) -> bool:
        """EvaluationFailed where it cannot be evaluated. A variable that is left out is null."""
        frame = [_value(variables.get(name)) for name in self.variables]
        try:
            found = self._run(frame + [None] * (self._width - len(frame)))
        except (Failure, Abort) as failure:
            raise EvaluationFailed(str(failure)) from None
        if found is True or found is False:
            return bool(found)
        raise EvaluationFailed("it is neither true nor false")


@lru_cache(maxsize=MOST_COMPILED)
def rule(text: str) -> Rule:
    """A rule of a definition, over `self` and `oldSelf`. InvalidSelector when it does not compile."""
    return _compiled(text, RULE)


@lru_cache(maxsize=MOST_COMPILED)
def query(text: str) -> Rule:
    """A readiness query, over `object`. InvalidSelector when it does not compile."""
    return _compiled(text, QUERY)


def _compiled(text: str, environment: Environment) -> Rule:
    try:
        with room(), counted():
            return _checked(text, environment)
    except Fault as fault:
        raise InvalidSelector(fault.problem, fault.at, text, fault.suggestion) from None


def _checked(text: str, environment: Environment) -> Rule:
    root = parse(text)
    checked = check(root, environment)
    if checked.type(root).kind not in environment.results:
        raise wrong_result(checked.type(root), environment.name, root.at)
    compiler = Compiler(checked, environment.variables)
    run = roomy(bounded(compiler.run(root), checked), checked)
    return Rule(text, tuple(environment.variables), run, compiler.width)


def _value(data: Any) -> Any:
    """Plain data as an expression sees it."""
    if isinstance(data, Mapping):
        return {key: _value(value) for key, value in data.items()}
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return [_value(item) for item in data]
    return data
