"""What a part of an expression becomes: a function of the variables' values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from function.cel.language.errors import Failure

Frame: TypeAlias = list[Any]
"""The values of the variables, each at its place."""
Run: TypeAlias = Callable[[Frame], Any]

OPEN: Any = object()
"""No value: it is known only when the expression is evaluated."""


class Code(NamedTuple):
    """How a part is evaluated; and its value, where that is always the same."""

    run: Run
    value: Any = OPEN
    is_literal: bool = False
    """Whether Kubernetes knows it as well when it compiles: what fails then is a compile error."""

    @property
    def is_constant(self) -> bool:
        return self.value is not OPEN


def constant(value: Any, *, is_literal: bool = True) -> Code:
    return Code(lambda _: value, value, is_literal)


def placed(run: Run, at: int) -> Run:
    """A failure in it knows where it happened."""

    def call(frame: Frame) -> Any:
        try:
            return run(frame)
        except Failure as failure:
            if failure.at < 0:
                failure.at = at
            raise

    return call
