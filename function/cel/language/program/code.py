"""Programs: what the parts of an expression are compiled to, functions of the variables' values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from function.cel.language.errors import Failure

Frame: TypeAlias = list[Any]
"""The values of the variables, each at its place."""
Run: TypeAlias = Callable[[Frame], Any]

OPEN: Any = object()
"""In place of a value that is known only when the expression is evaluated."""


class Code(NamedTuple):
    """The compiled form of a part of an expression, with its value if that is constant."""

    run: Run
    value: Any = OPEN
    is_literal: bool = False
    """Whether cel-go knows the value as well when it compiles: a failure with it is a compile error then."""

    @property
    def is_constant(self) -> bool:
        return self.value is not OPEN


def constant(value: Any, *, is_literal: bool = True) -> Code:
    return Code(lambda _: value, value, is_literal)


def located(run: Run, at: int) -> Run:
    """A program whose failures have a position in the text."""

    def call(frame: Frame) -> Any:
        try:
            return run(frame)
        except Failure as failure:
            if failure.at < 0:
                failure.at = at
            raise

    return call
