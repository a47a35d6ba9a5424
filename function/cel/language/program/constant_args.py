"""Arguments that are judged when an expression is compiled, as cel-go judges them.

Source: github.com/google/cel-go v0.26, interpreter/attributes.go and interpreter/decorators.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.cel.language.declarations.overload import NOT_LITERAL, Overload, Required
from function.cel.language.errors import Abort, Failure, Fault
from function.cel.language.program.code import Code, Frame, Run
from function.cel.language.syntax.tree import Node


def check_key(key: Code, node: Node) -> None:
    """Fault where a literal cannot be a key or an index."""
    if key.is_literal and not isinstance(key.value, str | bool | int | float):
        raise Fault("nothing is read by such a key", node.at)


def literals(codes: Sequence[Code]) -> list[Any]:
    """The values of the arguments, as an overload's `prepare` takes them."""
    return [code.value if code.is_literal else NOT_LITERAL for code in codes]


def with_required(function: str, fitting: Sequence[Overload], codes: list[Code]) -> list[Code]:
    """The arguments of a call, where one ends the evaluation if it fails or is of another class.

    Kubernetes works out the price of such a call without a look at the argument's type, and panics: nothing in the
    expression absorbs that. Source: github.com/google/cel-go v0.26, ext/lists.go (trackListSelfCompare,
    trackListFlatten).
    """
    required = fitting[0].required if len(fitting) == 1 else None
    if required is None:
        return codes
    at, kind = required
    if codes[at].is_constant and isinstance(codes[at].value, kind):
        return codes
    return [*codes[:at], Code(_or_abort(function, codes[at].run, required)), *codes[at + 1 :]]


def _or_abort(function: str, run: Run, required: Required) -> Run:
    def read(frame: Frame) -> Any:
        try:
            value = run(frame)
        except Failure as failure:
            raise Abort(f"{failure}, and {function}() of that ends the evaluation in Kubernetes") from None
        if not isinstance(value, required.kind) or type(value) is bool:
            raise Abort(f"{function}() of something else ends the evaluation in Kubernetes")
        return value

    return read
