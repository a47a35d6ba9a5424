"""Validation rules and readiness queries over plain JSON data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from function.cel.environments import QUERY, RULE
from function.cel.language.checking.checker import check
from function.cel.language.checking.explain import wrong_result
from function.cel.language.declarations.environment import Environment
from function.cel.language.errors import Abort, EvaluationFailed, Failure, Fault, InvalidSelector
from function.cel.language.limits import COMPILED_RULES, STEPS
from function.cel.language.limits.recursion_limit import raised
from function.cel.language.limits.step_budget import limited
from function.cel.language.program.code import Run
from function.cel.language.program.compiler import Compiler, program
from function.cel.language.syntax.parser import parse


@dataclass(frozen=True, slots=True)
class Rule:
    """A compiled rule or query: true or false of the values of its variables."""

    text: str
    variables: tuple[str, ...]
    _run: Run = field(repr=False, compare=False)
    _width: int = field(repr=False, compare=False)

    def evaluate(self, /, **variables: Any) -> bool:
        """Whether it holds. A variable that is left out is null.

        Raises: EvaluationFailed where it cannot be evaluated, or is neither true nor false.
        """
        frame = [_value(variables.get(name)) for name in self.variables]
        try:
            found = self._run(frame + [None] * (self._width - len(frame)))
        except (Failure, Abort) as failure:
            raise EvaluationFailed(str(failure)) from None
        if found is True or found is False:
            return bool(found)
        raise EvaluationFailed("it is neither true nor false")


@lru_cache(maxsize=COMPILED_RULES)
def rule(text: str) -> Rule:
    """Compile a rule of a definition, over `self` and `oldSelf`. InvalidSelector where it does not compile."""
    return _compiled(text, RULE)


@lru_cache(maxsize=COMPILED_RULES)
def query(text: str) -> Rule:
    """Compile a readiness query, over `object`. InvalidSelector where it does not compile."""
    return _compiled(text, QUERY)


def _compiled(text: str, environment: Environment) -> Rule:
    try:
        with raised(), limited():
            return _checked(text, environment)
    except Fault as fault:
        raise InvalidSelector(fault.problem, fault.at, text, fault.suggestion) from None


def _checked(text: str, environment: Environment) -> Rule:
    root = parse(text)
    checked = check(root, environment)
    if checked.type(root).kind not in environment.results:
        raise wrong_result(checked.type(root), environment.name, root.at)
    compiler = Compiler(checked, environment)
    run = program(compiler, STEPS)
    return Rule(text, tuple(environment.variables), run, compiler.width)


def _value(data: Any) -> Any:
    """JSON data as a CEL value."""
    if isinstance(data, Mapping):
        return {key: _value(value) for key, value in data.items()}
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return [_value(item) for item in data]
    return data
